package migrate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Lives of hosts that are there now, as survival functions.

func exponential(mean time.Duration) func(time.Duration) float64 {
	return func(d time.Duration) float64 { return math.Exp(-float64(d) / float64(mean)) }
}

// weibull is the residual life at an age of a Weibull law.
func weibull(shape float64, scale, age time.Duration) func(time.Duration) float64 {
	h := func(d time.Duration) float64 { return math.Pow(float64(d)/float64(scale), shape) }
	return func(d time.Duration) float64 { return math.Exp(h(age) - h(age+d)) }
}

// cutOff is a host that goes at a time that is known, and may go before it.
func cutOff(at, mean time.Duration) func(time.Duration) float64 {
	even := exponential(mean)
	return func(d time.Duration) float64 {
		if d >= at {
			return 0
		}
		return even(d)
	}
}

// lossOf is the expected running time that comes to nothing, by stepping through
// the run in small steps: no formula of the package is in it.
func lossOf(every, left, pause, transfer time.Duration, stay func(time.Duration) float64) float64 {
	step, end := max(time.Second, left/2000), left
	if every > 0 {
		end += time.Duration((left-1)/every) * pause
	}
	loss, was := 0.0, 1.0
	for at := time.Duration(0); at < end; at += step {
		now := stay(at + step)
		safe := time.Duration(0)
		if every > 0 {
			safe = max(0, (at-transfer)/(every+pause)) * every
		}
		loss += (was - now) * (at + step/2 - safe).Seconds()
		was = now
	}
	if every > 0 {
		loss += was * (end - left).Seconds()
	}
	return loss
}

// bestOf tries every interval, the finer the shorter, and none.
func bestOf(left, pause, transfer time.Duration, stay func(time.Duration) float64) (every time.Duration, loss float64) {
	loss = lossOf(0, left, pause, transfer, stay)
	for e := max(transfer, 5*time.Second); e < left; e += max(5*time.Second, e/10) {
		if l := lossOf(e, left, pause, transfer, stay); l < loss {
			every, loss = e, l
		}
	}
	return every, loss
}

// TestIntervalIsNearTheBest compares with what trying all intervals finds. Where
// the life is cut off the best is one checkpoint just before, which no formula
// for a rate finds; it must still be much better than none.
func TestIntervalIsNearTheBest(t *testing.T) {
	const hour = time.Hour
	for _, tt := range []struct {
		name                  string
		left, pause, transfer time.Duration
		stay                  func(time.Duration) float64
		within                float64 // of the least loss, as a factor
	}{
		{"exponential, short life", hour, time.Second, 54 * time.Second, exponential(hour / 2), 1.02},
		{"exponential, long task", 6 * hour, time.Second, 54 * time.Second, exponential(5 * hour), 1.02},
		{"exponential, long life", hour, time.Second, 54 * time.Second, exponential(100 * hour), 1.05},
		{"exponential, dear pause", 6 * hour, time.Minute, 0, exponential(2 * hour), 1.05},
		{"weibull, just come", hour, time.Second, 54 * time.Second, weibull(.5, 12*hour, 0), 1.15},
		{"weibull, a day old", 6 * hour, time.Second, 54 * time.Second, weibull(.5, 12*hour, 24*hour), 1.05},
		{"weibull, young, cheap", 6 * hour, time.Second, time.Second, weibull(.4, hour, time.Minute), 1.3},
		{"cut off", 6 * hour, time.Second, 54 * time.Second, cutOff(2*hour, 20*hour), 2},
		{"cut off, near", hour, time.Second, 54 * time.Second, cutOff(30*time.Minute, 5*hour), 1.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Interval(tt.left, tt.pause, tt.transfer, tt.stay)
			loss, none := lossOf(got, tt.left, tt.pause, tt.transfer, tt.stay),
				lossOf(0, tt.left, tt.pause, tt.transfer, tt.stay)
			every, least := bestOf(tt.left, tt.pause, tt.transfer, tt.stay)
			if loss > tt.within*least || loss > none {
				t.Errorf("every %v loses %.1f s; the best, every %v, %.1f s; never %.1f s", got, loss, every, least, none)
			}
		})
	}
}

// TestIntervalIsYoungs is the formula itself, where its conditions hold.
func TestIntervalIsYoungs(t *testing.T) {
	got := Interval(100*time.Hour, time.Second, time.Second, exponential(10*time.Hour))
	if want := time.Duration(math.Sqrt(2*36000) * float64(time.Second)); got < want*9/10 || got > want*11/10 {
		t.Errorf("got %v, want about %v", got, want)
	}
}

// TestNoInterval is where no checkpoint pays.
func TestNoInterval(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		left, pause, transfer time.Duration
		stay                  func(time.Duration) float64
	}{
		{"no work", 0, time.Second, 0, exponential(time.Hour)},
		{"a host that stays", time.Hour, time.Second, 0, func(time.Duration) float64 { return 1 }},
		{"a task shorter than it pays", time.Minute, time.Second, 0, exponential(100 * time.Hour)},
		{"a task shorter than a transfer", time.Minute, 0, time.Minute, exponential(time.Minute)},
		{"a host gone before anything is safe", time.Hour, time.Second, time.Minute, cutOff(30*time.Second, time.Hour)},
	} {
		if got := Interval(tt.left, tt.pause, tt.transfer, tt.stay); got != 0 {
			t.Errorf("%s: every %v", tt.name, got)
		}
	}
}

// TestFirstCheckpointPays is where the first checkpoint begins to pay, in first order:
// pause = (left/2 - transfer)^2 / mean.
func TestFirstCheckpointPays(t *testing.T) {
	for _, tt := range []struct{ left, pause, transfer time.Duration }{
		{time.Hour, time.Second, 0},
		{time.Hour, time.Second, 54 * time.Second},
		{time.Hour, 30 * time.Millisecond, 10 * time.Minute},
		{6 * time.Hour, time.Second, 54 * time.Second},
		{10 * time.Minute, time.Second, 54 * time.Second},
		{10 * time.Minute, time.Second, 4 * time.Minute},
	} {
		half := tt.left.Seconds() / 2
		mean := math.Pow(half-tt.transfer.Seconds(), 2) / tt.pause.Seconds()
		life := func(factor float64) func(time.Duration) float64 {
			return exponential(time.Duration(factor * mean * float64(time.Second)))
		}
		if every := Interval(tt.left, tt.pause, tt.transfer, life(1.05)); every != 0 {
			t.Errorf("%+v: every %v on a host that lives too long for one", tt, every)
		}
		if every := Interval(tt.left, tt.pause, tt.transfer, life(.95)); every == 0 {
			t.Errorf("%+v: never, on a host that lives too short for none", tt)
		}
	}
}

// TestIntervalOfAnything is for any forecast, also one that is none: 0, or within
// what the uplink carries and the task's length, and never a loss in expectation
// beside no checkpoint.
func TestIntervalOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := func(name string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most*60).Draw(t, name)) * time.Second
		}
		left, pause, transfer := minutes("left", 2000), minutes("pause", 10), minutes("transfer", 60)
		odd := map[time.Duration]float64{}
		stay := func(d time.Duration) float64 {
			p, ok := odd[d]
			if !ok {
				p = rapid.Float64Range(-.5, 1.5).Draw(t, fmt.Sprint("stay ", d))
				odd[d] = p
			}
			return p
		}
		every := Interval(left, pause, transfer, stay)
		if every != 0 && (every < transfer || every > left) {
			t.Fatalf("every %v of a task of %v with transfers of %v", every, left, transfer)
		}
		l := newLife(left, stay)
		for d := time.Duration(0); d <= left && every > 0; d += left / 7 {
			if p := l.survival(float64(d)); !(p >= 0 && p <= 1) {
				t.Fatalf("survival %v after %v", p, d)
			}
		}
	})
}

func TestIntervalAllocatesNothing(t *testing.T) {
	stay := exponential(time.Hour)
	if n := testing.AllocsPerRun(100, func() { Interval(6*time.Hour, time.Second, time.Minute, stay) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
