package timer

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// A queue gives what a sorted list would: by time, equal times in the order in which they
// were set, nothing before its time, and each entry as often as it was set.
func TestQueueIsASortedList(t *testing.T) {
	type entry struct {
		at  time.Time
		key int
	}
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var model []entry
		set := func(t *rapid.T) {
			e := entry{start.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "at"))), rapid.IntRange(0, 3).Draw(t, "key")}
			q.Set(e.at, e.key)
			after, _ := slices.BinarySearchFunc(model, e.at, func(m entry, at time.Time) int {
				if m.at.After(at) {
					return 1
				}
				return -1 // those of the same time stay ahead
			})
			model = slices.Insert(model, after, e)
		}
		due := func(t *rapid.T) {
			now := start.Add(time.Duration(rapid.IntRange(-1, 10).Draw(t, "now")))
			key, ok := q.Due(now)
			if want := len(model) > 0 && !model[0].at.After(now); ok != want {
				t.Fatalf("something is due: %v, want %v", ok, want)
			}
			if !ok {
				return
			}
			if key != model[0].key {
				t.Fatalf("%d is due, want %d", key, model[0].key)
			}
			model = model[1:]
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": set, "due": due,
			"": func(t *rapid.T) {
				at, ok := q.Next()
				if q.Len() != len(model) || ok != (len(model) > 0) || ok && !at.Equal(model[0].at) {
					t.Fatalf("%d wait, the next at %v (%v); want %v", q.Len(), at, ok, model)
				}
			},
		})
	})
}

// The earlier of two times is the one that is there, where only one is.
func TestEarlier(t *testing.T) {
	a, b := start, start.Add(time.Second)
	for _, tt := range []struct {
		name     string
		x, y     time.Time
		okX, okY bool
		want     time.Time
		ok       bool
	}{
		{"both, the first", a, b, true, true, a, true},
		{"both, the second", b, a, true, true, a, true},
		{"equal", a, a, true, true, a, true},
		{"only the first", b, a, true, false, b, true},
		{"only the second", a, b, false, true, b, true},
		{"none", a, b, false, false, b, false},
	} {
		if got, ok := Earlier(tt.x, tt.okX, tt.y, tt.okY); ok != tt.ok || ok && !got.Equal(tt.want) {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
