package handover

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// How many rounds there are, and why they end.
func TestRounds(t *testing.T) {
	for name, c := range map[string]struct {
		urgent bool
		dirty  func(n int) int64
		rounds int
		why    string
	}{
		"a small state":          {false, func(int) int64 { return 1 << 10 }, 1, "takes about"},
		"little changes":         {false, func(n int) int64 { return 64 << 20 >> (8 * (n - 1)) }, 2, "takes about"},
		"it shrinks by quarters": {false, func(n int) int64 { return 256 << 20 >> (2 * (n - 1)) }, 5, "takes about"},
		"all changes at once":    {false, func(int) int64 { return 64 << 20 }, 3, "enough was carried"},
		"slowing changes nothing": {false, func(n int) int64 { return int64(1 << 30 * pow(0.74, n-1)) }, 5,
			"enough was carried"},
		"urgent": {true, func(int) int64 { return 64 << 20 }, 0, "urgent"},
	} {
		t.Run(name, func(t *testing.T) {
			o := someOrder
			o.Urgent = c.urgent
			p := newPair(t, o)
			p.dirty = c.dirty
			p.begin(0, 0)
			p.run()
			p.wantOutcomes(t, Handed, Arrived)
			f := p.finished[atGiver]
			if len(f.Stats.Rounds) != c.rounds+1 || !strings.Contains(f.Reason, c.why) {
				t.Errorf("%d rounds before the last, want %d: %s", len(f.Stats.Rounds)-1, c.rounds, f.Reason)
			}
			var sum int64
			for i, r := range f.Stats.Rounds {
				sum += r.Bytes
				if r.Took <= 0 || r.Bytes != c.dirty(i+1) {
					t.Errorf("round %d: %+v", i+1, r)
				}
			}
			if f.Stats.Bytes != sum || f.Stats.Downtime <= 0 || f.Stats.Downtime > f.Stats.Total {
				t.Errorf("%+v, sum %d", f.Stats, sum)
			}
		})
	}
}

func pow(x float64, n int) float64 {
	y := 1.0
	for range n {
		y *= x
	}
	return y
}

// Hurry freezes in the middle of a round, and does not wait for its answer.
func TestHurry(t *testing.T) {
	p := newPair(t, someOrder)
	p.dirty = func(int) int64 { return 160 << 20 } // 10 s
	p.begin(0, 0)
	p.post(atGiver, 3*time.Second, Hurry{"the owner is back"})
	froze := time.Duration(0)
	p.hook = func(_ int, e Effect) {
		if _, ok := e.(Freeze); ok {
			froze = p.now.Sub(start)
		}
	}
	p.run()
	p.wantOutcomes(t, Handed, Arrived)
	if froze != 3*time.Second || len(p.finished[atGiver].Stats.Rounds) != 2 {
		t.Errorf("frozen after %v: %+v", froze, p.finished[atGiver])
	}
}

// A stream that comes before the leader's offer waits there, is refused when it
// does not come, and is opened again; a refusal for good is not.
func TestOpening(t *testing.T) {
	for _, c := range []struct {
		offerAt time.Duration
		giver   Outcome
		taker   Outcome
		dials   int
	}{
		{3 * time.Second, Handed, Arrived, 1},
		{time.Hour, Stays, NotOffered, 1}, // the next stream would begin another Taker: here nobody answers
	} {
		p := newPair(t, someOrder)
		p.begin(c.offerAt, 0)
		p.run()
		p.wantOutcomes(t, c.giver, c.taker)
		if p.dials < c.dials {
			t.Errorf("%d dials", p.dials)
		}
	}
	g := NewGiver(Default(), someOrder)
	now := start
	g.Step(now, Begin{})
	dials := 1
	for now.Sub(start) < time.Minute {
		g.Step(now, Dialled{dials})
		out := g.Step(now, Received{dials, Refuse{Reason: "not yet", Later: true}})
		if !reflect.DeepEqual(out, []Effect{Hang{dials, ""}}) {
			t.Fatalf("%+v", out)
		}
		now, _ = g.NextWake()
		switch e := g.Step(now, Wake{})[0].(type) {
		case Dial:
			dials++
		case Finish:
			if e.Outcome != Stays || !strings.Contains(e.Reason, "not yet") || now.Sub(start) != Default().DialTime ||
				dials < 10 {
				t.Errorf("after %d dials and %v: %+v", dials, now.Sub(start), e)
			}
			now = now.Add(time.Hour)
		}
	}
	g = NewGiver(Default(), someOrder)
	g.Step(start, Begin{})
	g.Step(start, Dialled{1})
	if out := g.Step(start, Received{1, Refuse{Reason: "no room"}}); out[len(out)-1].(Finish).Outcome != Stays {
		t.Errorf("%+v", out)
	}
}

// While bytes move a slow side is waited for; when none do, it is given up.
func TestSlowAndStuck(t *testing.T) {
	p := newPair(t, someOrder)
	p.dirty = func(n int) int64 { return 3 << 30 >> (6 * (n - 1)) } // 192 s
	p.begin(0, 0)
	p.run()
	p.wantOutcomes(t, Handed, Arrived)

	g := NewGiver(Default(), someOrder)
	g.Step(start, Begin{})
	g.Step(start, Dialled{1})
	g.Step(start, Received{1, Welcome{}})
	g.Step(start, Saved{})
	at, _ := g.NextWake()
	if at.Sub(start) != Default().StallTime {
		t.Errorf("the stall is noticed after %v", at.Sub(start))
	}
	out := g.Step(at, Wake{})
	if f, ok := out[len(out)-1].(Finish); !ok || f.Outcome != Stays || !strings.Contains(f.Reason, "nothing moved") {
		t.Errorf("%+v", out)
	}
	if g.Step(at, Saved{}) != nil {
		t.Error("something after Finish")
	}
}

// A hand-over that never stops moving ends all the same.
func TestTotal(t *testing.T) {
	p := newPair(t, someOrder)
	p.dirty = func(int) int64 { return 64 << 30 }
	p.begin(0, 0)
	p.run()
	p.wantOutcomes(t, Stays, NotArrived)
	if d := p.now.Sub(start); d > Default().Total+time.Minute &&
		p.finished[atGiver].Stats.Total > Default().Total+time.Second {
		t.Errorf("it took %v", d)
	}
}

// The destination that resumes another state has not taken this one.
func TestResumedAnotherState(t *testing.T) {
	g := NewGiver(Default(), Order{Overlay: "o", Task: someTask, Urgent: true})
	for _, ev := range []Event{Begin{}, Dialled{1}, Received{1, Welcome{}}, Frozen{Hash{1}}, Sent{1, 1, 1, 1}} {
		g.Step(start, ev)
	}
	if at, _ := g.NextWake(); at.Sub(start) != Default().ConfirmTime {
		t.Errorf("it waits %v for Resumed", at.Sub(start))
	}
	out := g.Step(start, Received{1, Resumed{Hash{2}}})
	if f, ok := out[len(out)-1].(Finish); !ok || f.Outcome != Stopped {
		t.Errorf("%+v", out)
	}
}
