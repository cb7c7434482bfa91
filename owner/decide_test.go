package owner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/owner/sensor"
	"godwit/trace"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday

// idle is a machine of nobody: the base of the cases.
func idle(now time.Time) []sensor.Reading {
	return []sensor.Reading{{Sensor: "x11", Kind: sensor.Input, At: now, Touched: now.Add(-time.Hour)}}
}

// onBattery is a machine of nobody that runs on a battery with some charge.
func onBattery(now time.Time, charge float64) []sensor.Reading {
	return append(idle(now), sensor.Reading{Sensor: "power", Kind: sensor.Power, At: now, On: true, Gauged: true,
		Value: charge})
}

func TestDecide(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	input := func(r sensor.Reading) sensor.Reading { r.Kind, r.At = sensor.Input, noon; return r }
	rules := func(text string) Rules {
		r, err := Parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	def := Default()
	for _, c := range []struct {
		name     string
		rules    Rules
		readings []sensor.Reading
		pause    Pause
		state    trace.State
		stop     bool
		cores    int
		rule     string
		sensor   string
		reason   string
		next     time.Duration // from now; 0 for none
	}{
		{"nobody there", def, idle(noon), Pause{}, trace.Available, false, 8, "", "", "no rule stops it", 0},
		{"no reading yet", def, nil, Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "", "not reported yet",
			10 * time.Minute},
		{"all blind", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Blind: "no X"})}, Pause{},
			trace.UserPresent, true, 0, "run_if_user_active", "", "godwit doctor", 10 * time.Minute},
		{"all blind, owner does not mind", rules("run_if_user_active: true"),
			[]sensor.Reading{input(sensor.Reading{Blind: "no X"})}, Pause{}, trace.Available, false, 4, "", "", "no rule", 0},
		{"a touch a minute ago", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: ago(time.Minute)}),
			input(sensor.Reading{Sensor: "ttys", Touched: ago(time.Hour)})},
			Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "x11", "after 3m without input", 2 * time.Minute},
		{"exactly idle", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: ago(3 * time.Minute)})},
			Pause{}, trace.Available, false, 8, "", "", "", 0},
		{"a touch in the future", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: noon.Add(time.Hour)})},
			Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "x11", "", 3 * time.Minute},
		{"never touched", def, []sensor.Reading{input(sensor.Reading{Sensor: "ttys"})}, Pause{}, trace.Available, false, 8,
			"", "", "", 0},
		{"present", def, append(idle(noon), input(sensor.Reading{Sensor: "wayland", Present: true})), Pause{},
			trace.UserPresent, true, 0, "run_if_user_active", "wayland", "", 10 * time.Minute},
		{"coarse beside a sensor that sees all", def,
			append(idle(noon), input(sensor.Reading{Sensor: "logind", Present: true, Coarse: true})), Pause{}, trace.Available,
			false, 8, "", "", "", 0},
		{"coarse beside terminals", def, []sensor.Reading{input(sensor.Reading{Sensor: "ttys", Partial: true}),
			input(sensor.Reading{Sensor: "logind", Present: true, Coarse: true})},
			Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "logind", "", 10 * time.Minute},
		{"coarse, but its moment counts", def,
			append(idle(noon), input(sensor.Reading{Sensor: "logind", Present: true, Coarse: true, Touched: noon})),
			Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "logind", "", 3 * time.Minute},
		{"just woken", def, append(idle(noon), sensor.Reading{Sensor: "clock", Kind: sensor.Wake, At: noon, Touched: noon}),
			Pause{}, trace.UserPresent, true, 0, "run_if_user_active", "clock", "", 3 * time.Minute},
		{"busy caps", rules("run_if_user_active: true\nmax_cores_busy: 3"),
			[]sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: noon})}, Pause{}, trace.Available, false, 3, "", "",
			"", 3 * time.Minute},
		{"no cores", rules("max_cores: 0"), idle(noon), Pause{}, trace.Available, false, 0, "max_cores", "", "allows none",
			0},
		{"a film", def, append(idle(noon), sensor.Reading{Sensor: "logind", Kind: sensor.Screen, At: noon, On: true}),
			Pause{}, trace.UserPresent, true, 0, "run_if_full_screen", "logind", "screen", 10 * time.Minute},
		{"batteries", def, append(idle(noon), sensor.Reading{Sensor: "power", Kind: sensor.Power, At: noon, On: true}),
			Pause{}, trace.Unavailable, true, 0, "run_on_batteries", "power", "batteries", 10 * time.Minute},
		{"batteries allowed", rules("run_on_batteries: true"),
			append(idle(noon), sensor.Reading{Kind: sensor.Power, At: noon, On: true}), Pause{}, trace.Available, false, 8, "",
			"", "", 0},
		{"a battery below the least", rules("run_on_batteries: true"), onBattery(noon, 0.23), Pause{}, trace.Unavailable,
			true, 0, "min_battery_charge", "power", "down to 23%, and 40% is to be left; work goes on at 45%", 10 * time.Minute},
		{"a battery at the least", rules("run_on_batteries: true"), onBattery(noon, 0.4), Pause{}, trace.Unavailable, true,
			0, "min_battery_charge", "power", "down to 40%", 10 * time.Minute},
		{"a battery above the least", rules("run_on_batteries: true"), onBattery(noon, 0.41), Pause{}, trace.Available,
			false, 8, "", "", "", 0},
		{"an empty battery that may be", rules("run_on_batteries: true\nmin_battery_charge: 0"), onBattery(noon, 0),
			Pause{}, trace.Available, false, 8, "", "", "", 0},
		{"an empty battery on mains", rules("run_on_batteries: true"),
			append(idle(noon), sensor.Reading{Sensor: "power", Kind: sensor.Power, At: noon, Gauged: true}), Pause{},
			trace.Available, false, 8, "", "", "", 0},
		{"no battery will do", rules("run_on_batteries: true\nmin_battery_charge: 100"), onBattery(noon, 1), Pause{},
			trace.Unavailable, true, 0, "min_battery_charge", "power", "down to 100%", 10 * time.Minute},
		{"any battery is too low before its charge is asked", def, onBattery(noon, 0.1), Pause{}, trace.Unavailable, true,
			0, "run_on_batteries", "power", "", 10 * time.Minute},
		{"a low battery and outside hours", rules("run_on_batteries: true\nhours: {monday: '13-15'}"), onBattery(noon, 0.1),
			Pause{}, trace.Unavailable, true, 0, "min_battery_charge", "power", "", 10 * time.Minute},
		{"the emptiest of two counts, and one that is not gauged does not", rules("run_on_batteries: true"),
			append(onBattery(noon, 0.9), sensor.Reading{Sensor: "a", Kind: sensor.Power, At: noon, On: true},
				sensor.Reading{Sensor: "ups", Kind: sensor.Power, At: noon, On: true, Gauged: true, Value: 0.3}),
			Pause{}, trace.Unavailable, true, 0, "min_battery_charge", "ups", "30%", 10 * time.Minute},
		{"metered, and the hours end", rules("hours: {monday: '11-15'}"),
			append(idle(noon), sensor.Reading{Sensor: "networkmanager", Kind: sensor.Network, At: noon, On: true}), Pause{},
			trace.Available, false, 0, "use_metered_network", "networkmanager", "metered", 3 * time.Hour},
		{"metered", def, append(idle(noon), sensor.Reading{Sensor: "networkmanager", Kind: sensor.Network, At: noon,
			On: true}), Pause{}, trace.Available, false, 0, "use_metered_network", "networkmanager", "metered", 0},
		{"disk full", rules("max_disk: 1GiB"),
			append(idle(noon), sensor.Reading{Sensor: "disk", Kind: sensor.Disk, At: noon, Value: 1 << 30}), Pause{},
			trace.Available, false, 0, "max_disk", "disk", "1GiB", 0},
		{"outside hours", rules("hours: {monday: '13-15'}"), idle(noon), Pause{}, trace.Unavailable, true, 0, "hours", "",
			"until 13:00", 10 * time.Minute},
		{"inside hours", rules("hours: {monday: '11-15'}"), idle(noon), Pause{}, trace.Available, false, 8, "", "", "",
			3 * time.Hour},
		{"paused", def, idle(noon), Pause{On: true, Until: noon.Add(time.Minute)}, trace.UserPresent, true, 0, "pause", "",
			"until 12:01", time.Minute},
		{"pause is over", def, idle(noon), Pause{On: true, Until: noon}, trace.Available, false, 8, "", "", "", 0},
		{"pause names it before the user", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: noon})},
			Pause{On: true}, trace.UserPresent, true, 0, "pause", "", "by its owner", 3 * time.Minute},
		{"going to sleep", def, append(idle(noon),
			sensor.Reading{Sensor: "logind", Kind: sensor.Going, At: noon, On: true, Until: noon.Add(5 * time.Second),
				Detail: "about to sleep"}),
			Pause{}, trace.Leaving, false, 0, "going", "logind", "about to sleep", 5 * time.Second},
		{"going, owner present", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: noon}),
			{Sensor: "logind", Kind: sensor.Going, At: noon, On: true, Until: noon.Add(5 * time.Second)}},
			Pause{}, trace.Leaving, true, 0, "going", "logind", "", 5 * time.Second},
		{"drained", def, idle(noon), Pause{Drain: true}, trace.Leaving, false, 0, "drain", "", "by its owner", 0},
		{"drained, owner present", def, []sensor.Reading{input(sensor.Reading{Sensor: "x11", Touched: noon})},
			Pause{Drain: true}, trace.Leaving, true, 0, "drain", "", "by its owner", 3 * time.Minute},
		{"drained and paused", def, idle(noon), Pause{On: true, Drain: true}, trace.Leaving, true, 0, "drain", "",
			"by its owner", 0},
		{"shutdown planned", def, append(idle(noon),
			sensor.Reading{Sensor: "logind", Kind: sensor.Going, At: noon, Until: noon.Add(time.Hour)}), Pause{},
			trace.Available, false, 8, "", "", "", time.Hour},
	} {
		d := Decider{Machine: Machine{Cores: 8, Memory: 16 << 30, Disk: 1 << 40}}
		got := d.Decide(noon, c.rules, c.readings, c.pause)
		next := time.Duration(0)
		if !got.Next.IsZero() {
			next = got.Next.Sub(noon)
		}
		if got.State != c.state || got.Stop != c.stop || got.Cores != c.cores || got.Rule != c.rule ||
			got.Sensor != c.sensor || !strings.Contains(got.Reason, c.reason) || next != c.next {
			t.Errorf("%s: got %v stop=%v cores=%d %q %q %q next %v", c.name, got.State, got.Stop, got.Cores, got.Rule,
				got.Sensor, got.Reason, next)
		}
	}
}

// A load is averaged, stops work within seconds, and must fall clearly below
// the limit before work goes on.
func TestLoadHysteresis(t *testing.T) {
	d := Decider{Machine: Machine{Cores: 4}}
	now := noon
	tick := func(load float64) Decision {
		now = now.Add(time.Second)
		return d.Decide(now, Default(), append(idle(now),
			sensor.Reading{Sensor: "cpu", Kind: sensor.Load, At: now, Value: load}), Pause{})
	}
	if tick(1).Stop {
		t.Error("one second of load stops work")
	}
	seconds := 1
	for ; !d.last.Stop; seconds++ {
		tick(1)
	}
	if seconds > 5 {
		t.Errorf("full load stops work only after %d s", seconds)
	}
	if got := d.last; got.State != trace.CPUBusy || got.Rule != "suspend_cpu_usage" || got.Sensor != "cpu" ||
		!strings.Contains(got.Reason, "25%") {
		t.Errorf("got %+v", got)
	}
	since := d.last.Since
	for range 100 {
		if got := tick(0.24); !got.Stop || got.Since != since {
			t.Fatalf("a load just below the limit lets work go on")
		}
	}
	for seconds = 0; d.last.Stop; seconds++ {
		tick(0)
	}
	if seconds == 0 || seconds > 20 {
		t.Errorf("work goes on after %d s", seconds)
	}
}

// While one rule decides, its first sensor and moment stand, and tasks are to
// move once the grace has passed since they stopped.
func TestSettled(t *testing.T) {
	var d Decider
	touch := func(now time.Time, who string) Decision {
		return d.Decide(now, Default(), []sensor.Reading{{Sensor: who, Kind: sensor.Input, At: now, Touched: now}}, Pause{})
	}
	first := touch(noon, "x11")
	second := touch(noon.Add(time.Second), "evdev")
	if second.Sensor != "x11" || second.Since != noon || second.MoveAt != noon.Add(10*time.Minute) ||
		first.MoveAt != second.MoveAt {
		t.Errorf("got %+v", second)
	}
	paused := d.Decide(noon.Add(2*time.Second), Default(), idle(noon), Pause{On: true})
	if paused.Since != noon.Add(2*time.Second) || paused.MoveAt != noon.Add(10*time.Minute) {
		t.Errorf("got %+v", paused)
	}
	if free := d.Decide(noon.Add(time.Hour), Default(), idle(noon), Pause{}); free.Stop || !free.MoveAt.IsZero() {
		t.Errorf("got %+v", free)
	}
}

// drawReadings makes any set of readings.
func drawReadings(t *rapid.T, now time.Time) []sensor.Reading {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sensor.Reading {
		r := sensor.Reading{
			Sensor: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "sensor"),
			Kind:   sensor.Kind(rapid.IntRange(0, int(sensor.Disk)).Draw(t, "kind")), At: now,
			Present: rapid.Bool().Draw(t, "present"), Coarse: rapid.Bool().Draw(t, "coarse"),
			Partial: rapid.Bool().Draw(t, "partial"),
			On:      rapid.Bool().Draw(t, "on"), Gauged: rapid.Bool().Draw(t, "gauged"),
			Value: rapid.Float64Range(0, 1).Draw(t, "value"),
		}
		if rapid.Bool().Draw(t, "blind") {
			r.Blind = "blind"
		}
		r.Touched = now.Add(-time.Duration(rapid.IntRange(-100, 1000).Draw(t, "ago")) * time.Second)
		return r
	}), 0, 8).Draw(t, "readings")
}

func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := Default()
		rules.RunIfUserActive = rapid.Bool().Draw(t, "active")
		rules.RunIfFullScreen = rapid.Bool().Draw(t, "full")
		rules.RunOnBatteries = rapid.Bool().Draw(t, "batteries")
		rules.MinBatteryCharge = rapid.SampledFrom([]float64{0, 20, 40, 100}).Draw(t, "charge")
		rules.MaxCores = Percent(rapid.Float64Range(0, 100).Draw(t, "cores"))
		pause := Pause{On: rapid.Bool().Draw(t, "pause")}
		machine := Machine{Cores: rapid.IntRange(1, 64).Draw(t, "cores"), Memory: 1 << 34}
		d, twin := Decider{Machine: machine}, Decider{Machine: machine}
		now := noon
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pass")) * time.Second)
			readings := drawReadings(t, now)
			// The newest of each seat, as the monitor keeps them.
			seats := map[seat]sensor.Reading{}
			for _, r := range readings {
				seats[seat{r.Sensor, r.Kind}] = r
			}
			readings = readings[:0]
			for _, r := range seats {
				readings = append(readings, r)
			}
			got := d.Decide(now, rules, readings, pause)
			slices.Reverse(readings)
			if again := twin.Decide(now, rules, readings, pause); again != got {
				t.Fatalf("the order of readings counts: %+v, %+v", got, again)
			}
			check(t, now, rules, readings, pause, machine, got)
		}
	})
}

func check(t *rapid.T, now time.Time, rules Rules, readings []sensor.Reading, pause Pause, machine Machine,
	got Decision) {
	for _, r := range readings {
		touched := r.Kind == sensor.Input && (r.Present && !r.Coarse || now.Sub(r.Touched) < rules.IdleTimeToRun)
		if r.Blind == "" && touched && !rules.RunIfUserActive && !got.Stop {
			t.Fatalf("the owner is there (%+v) and work goes on: %+v", r, got)
		}
		if r.Blind == "" && r.Kind == sensor.Power && r.On && !rules.RunOnBatteries && !got.Stop {
			t.Fatalf("work on batteries: %+v", got)
		}
		if r.Blind == "" && r.Kind == sensor.Power && r.On && r.Gauged && rules.MinBatteryCharge > 0 &&
			r.Value*100 <= rules.MinBatteryCharge && !got.Stop {
			t.Fatalf("work on a low battery: %+v", got)
		}
	}
	switch {
	case got.Rule == ruleCharge && !slices.ContainsFunc(readings,
		func(r sensor.Reading) bool { return r.Kind == sensor.Power && r.On && r.Blind == "" }):
		t.Fatalf("a low battery on mains: %+v", got)
	case got.State == trace.Available && !got.Until.IsZero() && !got.Until.After(now),
		(got.Ends != "") != (got.State == trace.Available && !got.Until.IsZero()):
		t.Fatalf("an end that is over, or that nobody names: %+v", got)
	case pause.Holds(now) && !got.Stop:
		t.Fatalf("paused and works: %+v", got)
	case got.Stop && got.Cores != 0:
		t.Fatalf("stopped, with cores: %+v", got)
	case got.Cores < 0 || got.Cores > machine.Cores || got.Memory < 0 || got.Memory > machine.Memory:
		t.Fatalf("more than the machine has: %+v", got)
	case got.Stop && (got.State == trace.Available || got.Rule == "" || got.MoveAt.IsZero()):
		t.Fatalf("stopped without a reason: %+v", got)
	case got.Reason == "" || got.Since.IsZero() || got.Since.After(now):
		t.Fatalf("no reason or moment: %+v", got)
	case !got.Next.IsZero() && !got.Next.After(now):
		t.Fatalf("to look again in the past: %+v", got)
	}
}
