package handover

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Two machines over any interleaving, with cuts, deaths, cancels, hurry and
// answers that never come, at any moment: the guest never runs at both sides, nor
// at the destination before it was frozen; each side that lives comes to its
// Finish in bounded time; the best round is told. See pair, which checks.
func TestAnyHandOverEndsWell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := someOrder
		o.Urgent = rapid.Bool().Draw(t, "urgent")
		p := newPair(t, o)
		p.delay = func() time.Duration {
			return rapid.SampledFrom([]time.Duration{0, time.Millisecond, 30 * time.Millisecond, time.Second,
				7 * time.Second}).Draw(t, "delay")
		}
		shrink := rapid.IntRange(0, 8).Draw(t, "shrink")
		size := rapid.Int64Range(0, 256<<20).Draw(t, "size")
		p.dirty = func(n int) int64 { return size >> (shrink * (n - 1)) }
		for _, what := range rapid.SliceOfN(rapid.SampledFrom([]string{"Dial", "Checkpoint", "Freeze", "SendRound",
			"SendFinal",
			"Inspect", "Place", "Thaw", "Welcome", "Got", "Resumed", "Final", "Round", "Failed"}), 0, 1).Draw(t, "silent") {
			p.silent["handover."+what] = true
		}
		plan(t, p)
		p.begin(someDelay(t), someDelay(t))
		p.run()
		for side, f := range p.finished {
			if f == nil && !p.dead[side] {
				t.Fatalf("side %d never finished:\n%s", side, p.history())
			}
		}
		if p.finished[atGiver] != nil && p.finished[atGiver].Outcome == Handed && p.finished[atTaker] != nil &&
			p.finished[atTaker].Outcome != Arrived {
			t.Fatalf("handed, not arrived:\n%s", p.history())
		}
		if most := 2*Default().Total + time.Hour; p.now.Sub(start) > most {
			t.Fatalf("it took %v", p.now.Sub(start))
		}
	})
}

func someDelay(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 40000).Draw(t, "at")) * time.Millisecond
}

// plan has up to three things go wrong, each before some effect.
func plan(t *rapid.T, p *pair) {
	at := map[int]string{}
	for range rapid.IntRange(0, 3).Draw(t, "troubles") {
		at[rapid.IntRange(1, 40).Draw(t, "effect")] = rapid.SampledFrom([]string{"cut", "giver dies", "taker dies",
			"cancel 0", "cancel 1", "hurry", "ended", "missing", "not frozen", "refuse"}).Draw(t, "trouble")
	}
	n := 0
	p.hook = func(int, Effect) {
		n++
		switch at[n] {
		case "cut":
			p.cutNow()
		case "giver dies":
			p.die(atGiver)
		case "taker dies":
			p.die(atTaker)
		case "cancel 0", "cancel 1":
			p.post(int(at[n][7]-'0'), p.delay(), Cancel{"cancelled"})
		case "hurry":
			p.post(atGiver, p.delay(), Hurry{"the owner is back"})
		case "ended":
			if !p.frozen {
				p.post(atGiver, 0, Ended{"completed"})
				p.silent["handover.Freeze"] = true
				p.sourceRuns = false
			}
		case "missing":
			p.post(atTaker, 0, Inspected{N: p.taker.inspecting, Missing: 1})
		case "refuse":
			p.post(atGiver, 0, Received{p.stream, Refuse{Reason: "no", Later: n%2 == 0}})
		}
	}
}

// Each step of a hand-over, with each side dying, the stream cut, or the side
// that is asked stuck: what each side says then.
func TestEveryStep(t *testing.T) {
	type want struct{ giver, taker Outcome }
	before := map[string]want{"giver": {0, NotArrived}, "taker": {Stays, 0}, "cut": {Stays, NotArrived},
		"stuck": {Stays, NotArrived}}
	opening := map[string]want{"giver": {0, NotArrived}, "taker": {Stays, 0}, "cut": {Handed, Arrived},
		"stuck": {Stays, NotArrived}}
	frozen := map[string]want{"giver": {0, NotArrived}, "taker": {Stopped, 0}, "cut": {Stopped, NotArrived},
		"stuck": {Stopped, NotArrived}}
	final := map[string]want{"giver": {0, Arrived}, "taker": {Stopped, 0}, "cut": {Stopped, Arrived},
		"stuck": {Stopped, NotArrived}}
	for _, step := range []struct {
		name string // the effect before which it happens
		side int
		best int // the round that the destination has
		want map[string]want
	}{
		{"Dial", atGiver, 0, map[string]want{"giver": {0, NotArrived}, "taker": {Stays, 0}, "cut": {Handed, Arrived},
			"stuck": {Stays, NotArrived}}},
		{"Open", atGiver, 0, opening}, {"Welcome", atTaker, 0, opening},
		{"Checkpoint", atGiver, 0, map[string]want{"giver": {0, NotArrived}, "taker": {Stays, 0},
			"cut": {Stays, NotArrived}, "stuck": {Stays, NotArrived}}},
		{"SendRound", atGiver, 0, before}, {"Inspect", atTaker, 0, before}, {"Place", atTaker, 1, before},
		{"Got", atTaker, 1, before},
		{"Freeze", atGiver, 2, frozen}, {"SendFinal", atGiver, 2, frozen},
		{"Thaw", atTaker, 3, final},
		{"Resumed", atTaker, 3, map[string]want{"giver": {0, Arrived}, "taker": {Stopped, 0}, "cut": {Stopped, Arrived},
			"stuck": {Stopped, Arrived}}},
	} {
		for trouble, want := range step.want {
			t.Run(fmt.Sprintf("%s/%s", step.name, trouble), func(t *testing.T) {
				p := newPair(t, someOrder)
				if trouble == "stuck" {
					p.silent["handover."+step.name] = true
				}
				done := false
				p.hook = func(side int, e Effect) {
					if done || !named(e, step.name) {
						return
					}
					done = true
					switch trouble {
					case "giver":
						p.die(atGiver)
					case "taker":
						p.die(atTaker)
					case "cut":
						p.cutNow()
					}
				}
				p.begin(0, 100*time.Millisecond)
				p.run()
				if !done {
					t.Fatalf("the step never came:\n%s", p.history())
				}
				p.wantOutcomes(t, want.giver, want.taker)
				if f := p.finished[atTaker]; f != nil && f.Outcome == NotArrived && (f.Best == nil) != (step.best == 0) {
					t.Errorf("the best is %+v, want round %d", f.Best, step.best)
				}
			})
		}
	}
}

// named says whether an effect is of this type, or sends such a frame.
func named(e Effect, name string) bool {
	if s, ok := e.(Send); ok {
		return fmt.Sprintf("%T", s.Frame) == "handover."+name
	}
	return fmt.Sprintf("%T", e) == "handover."+name
}
