package message

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// What a Step gathered stays as it is, whatever later Steps gather, and whatever is appended to it.
func TestRoomGivesOutOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Room
		var given [][]Effect
		var want [][]string
		for step := range rapid.IntRange(0, 40).Draw(t, "steps") {
			effects := r.Begin()
			var names []string
			for k := range rapid.IntRange(0, 20).Draw(t, "effects") {
				names = append(names, fmt.Sprint(step, ".", k))
				effects = append(effects, Persist{Key: names[k]})
			}
			out := r.End(effects)
			if (out == nil) != (len(names) == 0) {
				t.Fatalf("%d effects came as %v", len(names), out)
			}
			if rapid.Bool().Draw(t, "appended to") {
				_ = append(out, Persist{Key: "another's"})
			}
			given, want = append(given, out), append(want, names)
		}
		for step, effects := range given {
			if len(effects) != len(want[step]) {
				t.Fatalf("step %d had %d effects, not %d", step, len(effects), len(want[step]))
			}
			for k, e := range effects {
				if p := e.(Persist); p.Key != want[step][k] {
					t.Fatalf("step %d has %s where it had %s", step, p.Key, want[step][k])
				}
			}
		}
	})
}

// Many Steps of one effect share a piece of memory.
func TestRoomIsShared(t *testing.T) {
	var r Room
	e := Effect(Persist{Key: "k"})
	if n := testing.AllocsPerRun(10*roomPiece, func() { r.End(append(r.Begin(), e)) }); n > .25 {
		t.Errorf("a Step of one effect takes %v pieces of memory", n)
	}
}
