package predictor

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuizAgreesWithAList: whatever a host does, a quiz answers each question that had room
// once its time is over, and as it came true.
func TestQuizAgreesWithAList(t *testing.T) {
	type asked struct {
		until int64
		class uint8
		left  bool
	}
	pool := &Pool{}
	rapid.Check(t, func(t *rapid.T) {
		var z quiz
		var list []asked
		want, got := [classes][2]int{}, [classes][2]int{}
		n := NewReader(&Record{Up: true, Since: uint32(start.Unix())}, pool)
		now := start.UnixMilli()
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			now += rapid.Int64Range(0, 5*msPerHour).Draw(t, "time")
			z.ripen(now)
			list = slices.DeleteFunc(list, func(q asked) bool {
				if q.until > now {
					return false
				}
				stayed := 1
				if q.left {
					stayed = 0
				}
				want[q.class][stayed]++
				return true
			})
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				z.leave()
				for i := range list {
					list[i].left = true
				}
			case 1:
				upTo := now + rapid.Int64Range(0, 9*msPerHour).Draw(t, "over by")
				z.drop(upTo)
				list = slices.DeleteFunc(list, func(q asked) bool { return !q.left && q.until <= upTo })
			default:
				before := z.open
				z.put(&n, now)
				for i := range z.open {
					if q := &z.open[i]; before[i].until == 0 && q.until != 0 {
						list = append(list, asked{now + anchors[q.class], q.class, false})
					}
				}
			}
			if len(list) > mostOpen || z.waits() != (len(list) > 0) {
				t.Fatalf("%d questions are open", len(list))
			}
			for _, a := range z.take() {
				stayed := 0
				if a.stayed {
					stayed = 1
				}
				got[a.class][stayed]++
			}
		}
		if got != want {
			t.Fatalf("answers by class, left and stayed: %v, want %v", got, want)
		}
	})
}

// TestDeclaredDepartureBindsPools: what a pool learnt does not reach beyond a departure that
// was declared, and neither does what is told of a record.
func TestDeclaredDepartureBindsPools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leave := rapid.IntRange(2, 2000).Draw(t, "minutes until it leaves")
		r := Record{Up: true, Since: uint32(start.Unix()), Leave: uint32(start.Unix()) + uint32(60*leave)}
		n := NewReader(&r, learned(t))
		for _, c := range []struct {
			d    time.Duration
			over bool
		}{{0, false}, {minutes(float64(leave - 1)), false}, {minutes(float64(leave + 1)), true}} {
			p, _ := n.Stay(start, c.d)
			told := n.Told(start, c.d)
			if c.over != (p == 0) || c.over != (told == 0) || c.d == 0 && (p != 1 || told != 1) {
				t.Fatalf("it leaves in %d minutes; a stay of %v has %v, told %v", leave, c.d, p, told)
			}
		}
	})
}
