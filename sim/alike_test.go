package sim

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// A run in which hosts that are alike are given tasks without the policy comes to what one comes to in which it is
// asked each time.
func TestAlikeDecidesNothing(outer *testing.T) {
	many, alike := unsettled(outer, 30, 2, 5), 0
	rapid.Check(outer, func(t *rapid.T) {
		s := drawScenario(t)
		if rapid.Bool().Draw(t, "many hosts") {
			s.Trace, s.Start = many, day0
		}
		s.Placement = "fcfs"
		if rapid.IntRange(0, 3).Draw(t, "alike") > 0 {
			s.Hosts.Slots, s.Hosts.Ahead, s.Hosts.Speeds = 1, 0, Uniform
		}
		if err := s.Validate(); err != nil {
			t.Skip(err)
		}
		run := func(short bool) []byte {
			w, err := newWorld(s)
			if err != nil {
				t.Fatal(err)
			}
			if w.alike = w.alike && short; w.alike {
				alike++
			}
			w.run()
			r, err := w.finish()
			if err != nil {
				t.Fatal(err)
			}
			return encode(outer, r)
		}
		if with, without := run(true), run(false); !bytes.Equal(with, without) {
			t.Fatalf("without the policy:\n%s\nwith it:\n%s", with, without)
		}
	})
	if alike == 0 {
		outer.Error("no run had hosts that are alike")
	}
}
