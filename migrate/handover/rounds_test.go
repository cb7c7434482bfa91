package handover

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A guest is one that dirties its memory at an even pace, and the network that
// carries it.
type guest struct {
	whole   float64       // bytes
	working float64       // of them, that it writes over and over
	dirties float64       // a second at full speed
	rate    float64       // bytes a second
	delay   time.Duration // one way
	making  time.Duration // of a checkpoint
	floor   float64       // bytes that change between any two checkpoints: the pages of its stack
	names   float64       // bytes of a manifest

	share float64
	at    time.Time
	dirt  float64 // since the newest checkpoint
	slow  []float64
}

// run lets the guest run until now.
func (u *guest) run(now time.Time) {
	u.dirt = min(u.dirt+u.dirties*u.share*now.Sub(u.at).Seconds(), u.working)
	u.at = now
}

// handOver runs a Giver over that network and returns its Finish.
func (u *guest) handOver(t interface{ Fatalf(string, ...any) }) Finish {
	g, now := NewGiver(Default(), someOrder), start
	u.share, u.at, u.dirt, u.slow = 1, now, u.whole, nil
	bytes := 0.0 // of the newest checkpoint
	hash := sha256.Sum256(nil)
	queue := g.Step(now, Begin{})
	after := func(d time.Duration, ev Event) {
		now = now.Add(d)
		u.run(now)
		queue = append(queue, g.Step(now, ev)...)
	}
	carry := func(bytes float64) time.Duration { return time.Duration(bytes / u.rate * float64(time.Second)) }
	first := true
	for range 1000 {
		e := queue[0]
		queue = queue[1:]
		switch e := e.(type) {
		case Dial:
			after(2*u.delay, Dialled{e.Stream})
			after(2*u.delay, Received{e.Stream, Welcome{}})
		case Checkpoint:
			if bytes, u.dirt = max(u.dirt, u.floor), 0; first {
				bytes, first = u.whole, false
			}
			after(u.making, Saved{int64(bytes)})
		case SendRound:
			for left := carry(bytes + u.names); left > 0; left -= 5 * time.Second {
				after(min(left, 5*time.Second), Moved{1})
			}
			after(u.delay, Sent{Stream: e.Stream, N: e.N, Blocks: 1, Bytes: int64(bytes + u.names)})
			after(u.delay, Received{e.Stream, Got{e.N}})
		case Slow:
			if e.Share <= 0 || e.Share > 1 || e.Share < Default().Slowest {
				t.Fatalf("%+v", e)
			}
			u.run(now)
			u.share, u.slow = e.Share, append(u.slow, e.Share)
		case Freeze:
			bytes = u.dirt
			u.share = 0
			after(u.making, Frozen{hash})
		case SendFinal:
			for left := carry(bytes + u.names); left > 0; left -= 5 * time.Second {
				after(min(left, 5*time.Second), Moved{1})
			}
			after(u.delay, Sent{Stream: e.Stream, N: e.N, Blocks: 1, Bytes: int64(bytes + u.names)})
			after(u.delay, Received{e.Stream, Resumed{hash}})
		case Finish:
			return e
		}
	}
	t.Fatalf("it never ends")
	return Finish{}
}

// slowLink is a guest of 512 MiB that dirties ratio times what 50 Mbit/s and 20 ms
// each way carry.
func slowLink(ratio float64) *guest {
	const rate = 50e6 / 8
	return &guest{whole: 512 << 20, working: 512 << 20, dirties: ratio * rate, rate: rate, delay: 20 * time.Millisecond,
		making: 50 * time.Millisecond}
}

// Rounds converge whatever share of the network's rate the guest dirties, up to
// twice that: it stands still for no more than what it dirties in three seconds
// takes, and 200 ms; and no more than Most states are carried before.
func TestRoundsConverge(t *testing.T) {
	for ratio := .1; ratio < 2.01; ratio += .05 {
		u := slowLink(ratio)
		f := u.handOver(t)
		most := 200*time.Millisecond + time.Duration(3*ratio*float64(time.Second))
		if f.Outcome != Handed || f.Stats.Downtime > most {
			t.Errorf("%.2f: %v, still for %v, at most %v: %s", ratio, f.Outcome, f.Stats.Downtime, most, f.Reason)
		}
		if c := float64(f.Stats.Bytes) / u.whole; c > Default().Most+ratio/10 {
			t.Errorf("%.2f: %.2f states were carried", ratio, c)
		}
		if slowed := len(u.slow) > 0; slowed != (ratio > Default().Shrink+.01) && (ratio < .45 || ratio > .55) {
			t.Errorf("%.2f: slowed to %v", ratio, u.slow)
		}
		// Slowed, it loses no more than the second round takes, at twice the rate some more.
		if second := min(ratio, 1) * 90; f.Stats.Slowed.Seconds() > second*max(1, ratio) {
			t.Errorf("%.2f: it lost %v by being slowed", ratio, f.Stats.Slowed)
		}
		t.Logf("%.2f: %d rounds, x %.2f carried, %6.1f s, still for %4.0f ms, %5.1f s lost, at %.3g: %s", ratio,
			len(f.Stats.Rounds)-1,
			float64(f.Stats.Bytes)/u.whole, f.Stats.Total.Seconds(), f.Stats.Downtime.Seconds()*1e3, f.Stats.Slowed.Seconds(),
			u.share, f.Reason)
	}
}

// Short rounds in which always the same pages change are not repeated.
func TestFloor(t *testing.T) {
	for _, ratio := range []float64{.1, .9} {
		u := slowLink(ratio)
		u.floor, u.names, u.making, u.delay = 16*64<<10, 311<<10, 10*time.Millisecond, 5*time.Millisecond
		f := u.handOver(t)
		if n := len(f.Stats.Rounds) - 1; n > 9 || f.Outcome != Handed || f.Stats.Downtime > 300*time.Millisecond {
			t.Errorf("%v: %d rounds, still for %v: %s", ratio, n, f.Stats.Downtime, f.Reason)
		}
	}
}

// What a guest does that is never let run fast enough to gain from it.
func TestRoundsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		change func(u *guest)
		slowed bool
		most   float64 // states
		why    string
	}{
		"a hot tenth of it":     {func(u *guest) { u.dirties, u.working = 10*u.rate, u.whole/10 }, true, 2, ""},
		"all of it at any pace": {func(u *guest) { u.dirties = 1e3 * u.rate }, true, 4.1, "enough was carried"},
		"far faster than it can be slowed": {func(u *guest) { u.dirties, u.working = 1e3*u.rate, u.whole/2 }, true, 3.6,
			""},
		"nothing": {func(u *guest) { u.dirties = 0 }, false, 1.01, "takes about 0s"},
		"less than a round trip would carry": {func(u *guest) { u.delay, u.dirties = 300*time.Millisecond, u.rate*.2 },
			false, 1.3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := slowLink(0)
			c.change(u)
			f := u.handOver(t)
			if f.Outcome != Handed || (len(u.slow) > 0) != c.slowed || !strings.Contains(f.Reason, c.why) {
				t.Errorf("%v, slowed to %v: %s", f.Outcome, u.slow, f.Reason)
			}
			if got := float64(f.Stats.Bytes) / u.whole; got > c.most {
				t.Errorf("%.2f states carried, at most %v", got, c.most)
			}
			t.Logf("%d rounds, %.2f states, still for %v: %s", len(f.Stats.Rounds)-1, float64(f.Stats.Bytes)/u.whole,
				f.Stats.Downtime, f.Reason)
		})
	}
}

// Of any guest over any network: rounds end, what is carried is bounded, a guest is
// only ever slowed further, and it stands still no longer than were it frozen after
// its first round.
func TestRoundsOfAnyGuest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1e5, 1e9).Draw(t, "rate")
		whole := rapid.Float64Range(1<<16, min(4<<30, rate*300)).Draw(t, "whole")
		u := &guest{
			whole: whole, working: whole * rapid.Float64Range(0, 1).Draw(t, "working"), rate: rate,
			dirties: rate * rapid.Float64Range(0, 20).Draw(t, "ratio"),
			delay:   time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Millisecond,
			making:  time.Duration(rapid.IntRange(0, 2000).Draw(t, "making")) * time.Millisecond,
		}
		f := u.handOver(t)
		if f.Outcome != Handed {
			t.Fatalf("%v: %s", f.Outcome, f.Reason)
		}
		for i := 1; i < len(u.slow); i++ {
			if u.slow[i] >= u.slow[i-1] {
				t.Fatalf("slowed to %v", u.slow)
			}
		}
		if c := float64(f.Stats.Bytes); c > (Default().Most+2)*u.whole {
			t.Fatalf("%.2f states carried", c/u.whole)
		}
		if len(f.Stats.Rounds) > Default().Rounds+1 {
			t.Fatalf("%d rounds", len(f.Stats.Rounds))
		}
		still := time.Duration(u.working/u.rate*float64(time.Second)) + 2*u.delay + u.making + time.Millisecond
		if f.Stats.Downtime > still {
			t.Fatalf("still for %v, and all that it writes takes %v", f.Stats.Downtime, still)
		}
	})
}

// A guest that stays after all runs as fast as before.
func TestSlowedStays(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   Event
	}{{"cut", Broken{1, "cut"}}, {"cancelled", Cancel{"the owner"}}, {"refused", Received{1, Failed{"full"}}}} {
		g := NewGiver(Default(), someOrder)
		var out []Effect
		now := start
		for i, ev := range []Event{Begin{}, Dialled{1}, Received{1, Welcome{}}, Saved{64 << 20}, Sent{1, 1, 1, 64 << 20},
			Received{1, Got{1}}, Saved{64 << 20}} {
			if i > 3 { // each 5 s later: all is dirtied as fast as it is sent
				now = now.Add(5 * time.Second)
			}
			out = g.Step(now, ev)
		}
		if s, ok := out[0].(Slow); !ok || s.Share >= 1 {
			t.Fatalf("%+v", out)
		}
		out = g.Step(now, c.ev)
		said := fmt.Sprintf("%T", out)
		if len(out) < 2 || out[len(out)-2] != (Slow{1}) || out[len(out)-1].(Finish).Outcome != Stays {
			t.Errorf("%s: %s %+v", c.name, said, out)
		}
	}
}

// A checkpoint that nobody asked for does not hide what changed.
func TestUnaskedCheckpoints(t *testing.T) {
	share := func(unasked ...Event) float64 {
		g, now := NewGiver(Default(), someOrder), start
		var out []Effect
		step := func(after time.Duration, ev Event) {
			now = now.Add(after)
			out = g.Step(now, ev)
		}
		for _, ev := range []Event{Begin{}, Dialled{1}, Received{1, Welcome{}}, Saved{64 << 20}} {
			step(0, ev)
		}
		last := int64(64 << 20)
		for _, ev := range unasked {
			step(time.Second, ev)
			last -= ev.(Saved).Bytes
		}
		step(10*time.Second-now.Sub(start), Sent{1, 1, 1, 64 << 20})
		step(0, Received{1, Got{1}})
		step(0, Saved{last})
		return out[0].(Slow).Share
	}
	if got, want := share(Saved{20 << 20}, Saved{20 << 20}), share(); got != want {
		t.Errorf("slowed to %v, without them to %v", got, want)
	}
}

// Bytes that leave show that a checkpoint is being made, however long it takes.
func TestSavingLives(t *testing.T) {
	g := NewGiver(Default(), someOrder)
	now := start
	for _, ev := range []Event{Begin{}, Dialled{1}, Received{1, Welcome{}}} {
		g.Step(now, ev)
	}
	for range 10 {
		now = now.Add(Default().SaveTime - time.Second)
		if out := g.Step(now, Moved{1}); out != nil {
			t.Fatalf("%+v", out)
		}
	}
	if at, _ := g.NextWake(); at.Sub(now) != Default().SaveTime {
		t.Errorf("it waits %v more", at.Sub(now))
	}
}
