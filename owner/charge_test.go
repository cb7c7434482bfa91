package owner

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A laptop is a machine on its battery whose owner lends it down to 40 %.
type laptop struct {
	Decider
	rules Rules
	now   time.Time
	last  sensor.Reading // of its power, reported when it changes
	woke  time.Time
}

func newLaptop() *laptop {
	l := &laptop{rules: Default(), now: noon}
	l.Machine, l.rules.RunOnBatteries = Machine{Cores: 2, Memory: 1 << 30}, true
	return l
}

// sees passes d and returns the decision where the battery then has some charge.
func (l *laptop) sees(d time.Duration, charge float64) Decision {
	return l.reads(d, sensor.Reading{On: true, Gauged: true, Value: charge})
}

func (l *laptop) reads(d time.Duration, r sensor.Reading) Decision {
	l.now = l.now.Add(d)
	r.Sensor, r.Kind, r.At = "power", sensor.Power, l.last.At
	if r != l.last {
		r.At = l.now
		l.last = r
	}
	readings := append(idle(l.now), l.last)
	if !l.woke.IsZero() {
		readings = append(readings, sensor.Reading{Sensor: "clock", Kind: sensor.Wake, At: l.woke, Touched: l.woke})
	}
	return l.Decide(l.now, l.rules, readings, Pause{})
}

// falls passes d in steps of ten seconds in which a gauge of whole points falls
// by so many an hour.
func (l *laptop) falls(d time.Duration, exact *float64, perHour float64) (got Decision) {
	const step = 10 * time.Second
	for ; d > 0; d -= step {
		*exact -= perHour / 100 * step.Hours()
		got = l.sees(step, math.Ceil(*exact*100)/100)
	}
	return got
}

// The end is told from the rate that was measured, and is not told before.
func TestBatteryForetold(t *testing.T) {
	l, exact := newLaptop(), 0.60
	if got := l.falls(7*time.Minute, &exact, 12); !got.Until.IsZero() {
		t.Errorf("one point has been seen to pass at most, and the end is told for %v", got.Until)
	}
	got := l.falls(8*time.Minute, &exact, 12)
	want := noon.Add(100 * time.Minute) // 20 points at 12 an hour
	if got.State != trace.Available || got.Stop || got.Cores != 2 || got.Ends != "the battery falls to 40%" ||
		got.Until.Sub(want).Abs() > 2*time.Minute {
		t.Errorf("after a quarter of an hour: got %+v, want its end at %v", got, want)
	}
	told := got.Until
	got = l.falls(84*time.Minute, &exact, 12)
	if got.Until != told || got.Stop {
		t.Errorf("a steady battery: %+v, and it was told for %v", got, told)
	}
	got = l.falls(4*time.Minute, &exact, 12)
	if !got.Stop || got.State != trace.Unavailable || got.Rule != ruleCharge || got.Sensor != "power" ||
		!strings.Contains(got.Reason, "40%") || !got.Until.IsZero() {
		t.Errorf("at the least: got %+v", got)
	}
}

// An end that was told shortly before stands: a battery that lasts longer once the
// work has left does not fetch it back, and mains do.
func TestBatteryStaysLow(t *testing.T) {
	l, exact := newLaptop(), 0.46
	got := l.falls(12*time.Minute, &exact, 24) // 15 minutes in all
	told := got.Until
	if told.IsZero() || told.Sub(l.now) > 5*time.Minute {
		t.Fatalf("got %+v", got)
	}
	before := l.falls(told.Sub(l.now).Truncate(10*time.Second)-10*time.Second, &exact, 3)
	if before.Until != told || before.Ends == "" {
		t.Errorf("the end moved: %+v, told for %v", before, told)
	}
	for range 10 {
		if got = l.falls(time.Minute, &exact, 3); got.State != trace.Leaving || got.Stop || got.Cores != 0 ||
			got.MoveAt.IsZero() || !strings.Contains(got.Reason, "about to fall to 40%") {
			t.Fatalf("the end has come and the gauge does not show it: got %+v", got)
		}
	}
	for exact > 0.395 {
		got = l.falls(time.Minute, &exact, 12)
	}
	if !got.Stop {
		t.Errorf("at %.3f: got %+v", exact, got)
	}
	for _, c := range []struct {
		charge float64
		stop   bool
	}{{0.39, true}, {0.42, true}, {0.38, true}, {0.449, true}, {0.45, false}, {0.41, false}, {0.40, true}} {
		if got = l.sees(time.Second, c.charge); got.Stop != c.stop {
			t.Errorf("at %v: got %+v", c.charge, got)
		}
	}
	if got = l.reads(time.Second, sensor.Reading{On: true}); !got.Stop {
		t.Errorf("a low battery that tells no charge any more: got %+v", got)
	}
	if got = l.reads(time.Second, sensor.Reading{Gauged: true, Value: 0.38}); got.Stop || got.Ends != "" {
		t.Errorf("on mains: got %+v", got)
	}
}

// What makes the past tell nothing: mains, another battery, sleep, a clock that
// was set back, no charge told, another rule.
func TestBatteryForgets(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(*laptop)
		knows bool
	}{
		"nothing":     {func(*laptop) {}, true},
		"mains":       {func(l *laptop) { l.reads(time.Second, sensor.Reading{Gauged: true, Value: 0.7}) }, false},
		"a swap":      {func(l *laptop) { l.sees(time.Second, 0.95) }, false},
		"sleep":       {func(l *laptop) { l.now = l.now.Add(time.Hour); l.woke = l.now }, false},
		"a clock":     {func(l *laptop) { l.now = l.now.Add(-time.Hour); l.sees(time.Second, 0.5) }, false},
		"a blind eye": {func(l *laptop) { l.reads(time.Second, sensor.Reading{On: true}) }, false},
		"no rule":     {func(l *laptop) { l.rules.MinBatteryCharge = 0 }, false},
		"a new rule":  {func(l *laptop) { l.rules.MinBatteryCharge = 30 }, true},
	} {
		l, exact := newLaptop(), 0.80
		if got := l.falls(time.Hour, &exact, 12); got.Until.IsZero() {
			t.Fatalf("%s: nothing is told: %+v", name, got)
		}
		c.do(l)
		if got := l.sees(2*time.Second, l.last.Value); !got.Until.IsZero() != c.knows {
			t.Errorf("after %s: got %+v", name, got)
		}
	}
}

// Whatever the rate and the gauge: the end told last before the battery is low is
// five minutes too early at the most, or half of a point of the charge too late,
// which a gauge of whole points cannot show; it is revised a few times at most, and
// a gauge that errs about the least stops work once.
func TestBatteryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perHour := rapid.Float64Range(6, 60).Draw(t, "points an hour")
		grain := rapid.SampledFrom([]float64{100, 1000}).Draw(t, "grain")
		noise := rapid.SliceOfN(rapid.IntRange(-1, 1), 50, 50).Draw(t, "noise")
		l, exact := newLaptop(), rapid.Float64Range(0.48, 0.7).Draw(t, "charge")
		const step = 10 * time.Second
		var told, low time.Time
		revised, stops := 0, 0
		stopped := false
		for i := 0; exact > 0.36; i++ {
			exact -= perHour / 100 * step.Hours()
			value := exact + float64(noise[i%len(noise)])/1000 // a tenth of a point of noise
			got := l.sees(step, math.Round(value*grain)/grain)
			if got.Stop != stopped {
				stopped, low = got.Stop, l.now
				stops++
			}
			if got.State == trace.Available && got.Until != told {
				told = got.Until
				revised++
			}
		}
		if revised > 6 || stops != 1 {
			t.Fatalf("revised %d times, stopped or not %d times, in %v", revised, stops, l.now.Sub(noon))
		}
		late := max(time.Minute, time.Duration(float64(time.Hour)/perHour/2))
		if early := low.Sub(told); early > 5*time.Minute || early < -late {
			t.Fatalf("told last for %v, at %v it was low, want at most %v before", told, low, late)
		}
	})
}
