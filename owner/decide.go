package owner

import (
	"cmp"
	"fmt"
	"time"

	"godwit/owner/sensor"
	"godwit/task"
	"godwit/trace"
)

// A Decider decides. It remembers what hysteresis needs: averages, how the
// battery fell, and since when what holds. Its zero value has decided nothing yet; it is not safe for
// concurrent use.
type Decider struct {
	Machine Machine

	load, pressure average
	gauge          gauge
	last           Decision
	stopped        time.Time // since when tasks stand still; zero while they do not
}

// Decide says what the machine may do at now, which never decreases. It is a
// function of its arguments and of what it was told before; readings are the
// newest of each sensor and kind, in any order.
//
// The first rule of this list that holds names the decision; tasks stand still
// if any of those marked * holds:
//
//  1. going: the machine is about to sleep or to shut down (nothing new)
//  2. drain: the owner's word that all leaves (nothing new)
//  3. pause*: the owner's word
//  4. run_if_user_active*: somebody uses the machine, or none of the sensors can tell
//  5. run_if_full_screen*: a program fills the screen
//  6. suspend_cpu_usage*: others need the CPU
//  7. suspend_memory_pressure*: others need the memory
//  8. run_on_batteries*
//  9. min_battery_charge*: the battery is low; or it should be by now (nothing new)
//  10. hours*
//  11. use_metered_network (nothing new)
//  12. max_disk: the node keeps as much as it may (nothing new)
//  13. max_cores or max_memory is 0 (nothing new)
func (d *Decider) Decide(now time.Time, rules Rules, readings []sensor.Reading, pause Pause) Decision {
	s := &situation{now: now, rules: rules, readings: sorted(readings), pause: pause}
	user := s.user()
	d.load.take(s.newest(sensor.Load), rules.SuspendCPUUsage/100)
	d.pressure.take(s.newest(sensor.Pressure), rules.SuspendMemoryPressure/100)
	d.gauge.take(now, s.battery(), s.woke(), rules.MinBatteryCharge/100)
	checks := []verdict{
		s.going(), s.drained(), s.paused(), s.forUser(user), s.fullScreen(),
		s.busy(&d.load, "suspend_cpu_usage", "others use more than %s of the CPU", rules.SuspendCPUUsage),
		s.busy(&d.pressure, "suspend_memory_pressure", "memory is short: programs wait for it more than %s of the time",
			rules.SuspendMemoryPressure),
		s.batteries(), s.charge(&d.gauge), s.hours(), s.metered(), s.full(rules.MaxDisk.Of(d.Machine.Disk)),
	}
	until, ends := s.leave(&d.gauge)
	out := Decision{State: trace.Available, Reason: "no rule stops it", Until: until, Ends: ends, Drained: pause.Drain,
		Disk:   rules.MaxDisk.Of(d.Machine.Disk),
		Upload: rules.MaxUploadRate, Download: rules.MaxDownloadRate, Relay: rules.RelayPerDay}
	held := false
	for _, v := range checks {
		if !v.holds {
			continue
		}
		out.Stop = out.Stop || v.stop
		if !held {
			held = true
			out.State, out.Rule, out.Sensor, out.Reason = v.state, v.rule, v.sensor, v.reason
			if v.state != trace.Available { // what runs goes on where nothing new is taken
				out.Until, out.Ends = v.until, ""
			}
		}
	}
	d.caps(&out, rules, user.active, held)
	d.settle(now, &out, rules)
	for _, at := range []time.Time{user.until, out.Until, out.MoveAt, s.pauseEnd(), rules.Hours.Next(now)} {
		if at.After(now) && (out.Next.IsZero() || at.Before(out.Next)) {
			out.Next = at
		}
	}
	return out
}

// caps fills in what may be used while nobody is there, or while somebody is.
func (d *Decider) caps(out *Decision, rules Rules, active, held bool) {
	cores, memory := rules.MaxCores, rules.MaxMemory
	coresRule, memoryRule := "max_cores", "max_memory"
	if active {
		cores, memory = rules.MaxCoresBusy, rules.MaxMemoryBusy
		coresRule, memoryRule = "max_cores_busy", "max_memory_busy"
	}
	out.Memory = memory.Of(d.Machine.Memory)
	if d.Machine.Lent > 0 {
		out.Memory = min(out.Memory, d.Machine.Lent)
	}
	if !held {
		out.Cores = int(cores.Of(int64(d.Machine.Cores)))
		switch {
		case out.Cores == 0:
			out.Rule, out.Reason = coresRule, coresRule+" allows none"
		case out.Memory == 0 && d.Machine.Memory > 0:
			out.Cores, out.Rule, out.Reason = 0, memoryRule, memoryRule+" allows none"
		}
	}
}

// settle keeps what must not flicker: while one rule decides, its first sensor
// and moment stand.
func (d *Decider) settle(now time.Time, out *Decision, rules Rules) {
	if out.Rule == d.last.Rule && out.State == d.last.State && !d.last.Since.IsZero() {
		out.Since = d.last.Since
		if d.last.Sensor != "" && out.Sensor != "" {
			out.Sensor = d.last.Sensor
		}
	} else {
		out.Since = now
	}
	switch {
	case !out.Stop:
		d.stopped = time.Time{}
	case d.stopped.IsZero():
		d.stopped = now
	}
	switch {
	case out.State == trace.Leaving:
		out.MoveAt = out.Since
	case out.Stop:
		out.MoveAt = d.stopped.Add(rules.Grace)
	}
	d.last = *out
}

func (s *situation) going() verdict {
	r, on := s.on(sensor.Going)
	return verdict{holds: on, state: trace.Leaving, rule: RuleGoing, sensor: r.Sensor,
		reason: cmp.Or(r.Detail, "the machine is going"), until: r.Until}
}

// leave is when work is known to have to end: a planned shutdown, the end of the
// hours, or a battery that falls.
func (s *situation) leave(g *gauge) (out time.Time, ends string) {
	if s.rules.Hours.Open(s.now) {
		if out = s.rules.Hours.Next(s.now); !out.IsZero() {
			ends = "the hours to work end"
		}
	}
	if g.end.After(s.now) && (out.IsZero() || g.end.Before(out)) {
		out, ends = g.end, "the battery falls to "+formatPercent(s.rules.MinBatteryCharge)
	}
	for _, r := range s.readings {
		if r.Kind == sensor.Going && r.Blind == "" && !r.On && r.Until.After(s.now) && (out.IsZero() || r.Until.Before(out)) {
			out, ends = r.Until, "the machine shuts down"
		}
	}
	return out, ends
}

func (s *situation) drained() verdict {
	return verdict{holds: s.pause.Drain, state: trace.Leaving, rule: RuleDrain,
		reason: "drained by its owner: what runs moves to others"}
}

func (s *situation) paused() verdict {
	v := verdict{holds: s.pause.Holds(s.now), stop: true, state: trace.UserPresent, rule: RulePause,
		reason: "paused by its owner", until: s.pause.Until}
	if !v.until.IsZero() {
		v.reason += " until " + clock(s.now, v.until)
	}
	return v
}

func (s *situation) pauseEnd() time.Time {
	if s.pause.Holds(s.now) {
		return s.pause.Until
	}
	return time.Time{}
}

// clock writes t as briefly as a person needs it.
func clock(now, t time.Time) string {
	t = t.In(now.Location())
	if t.Sub(now) < 20*time.Hour { // the time of day names one moment
		return t.Format("15:04")
	}
	return t.Format("Mon 15:04")
}

func (s *situation) forUser(u user) verdict {
	return verdict{holds: u.active && !s.rules.RunIfUserActive, stop: true, state: trace.UserPresent,
		rule: "run_if_user_active", sensor: u.sensor, reason: u.reason}
}

func (s *situation) fullScreen() verdict {
	r, on := s.on(sensor.Screen)
	return verdict{holds: on && !s.rules.RunIfFullScreen, stop: true, state: trace.UserPresent,
		rule: "run_if_full_screen", sensor: r.Sensor, reason: "a program fills the screen or keeps it on"}
}

func (s *situation) busy(a *average, rule, reason string, limit float64) verdict {
	return verdict{holds: a.over, stop: true, state: trace.CPUBusy, rule: rule, sensor: a.sensor,
		reason: fmt.Sprintf(reason, formatPercent(limit))}
}

func (s *situation) batteries() verdict {
	r, on := s.on(sensor.Power)
	return verdict{holds: on && !s.rules.RunOnBatteries, stop: true, state: trace.Unavailable,
		rule: "run_on_batteries", sensor: r.Sensor, reason: "the machine runs on batteries"}
}

func (s *situation) hours() verdict {
	v := verdict{holds: !s.rules.Hours.Open(s.now), stop: true, state: trace.Unavailable, rule: "hours",
		reason: "outside the hours to work"}
	if v.holds {
		if v.until = s.rules.Hours.Next(s.now); !v.until.IsZero() {
			v.reason += ", until " + clock(s.now, v.until)
		}
	}
	return v
}

func (s *situation) metered() verdict {
	r, on := s.on(sensor.Network)
	return verdict{holds: on && !s.rules.UseMeteredNetwork, state: trace.Available,
		rule: "use_metered_network", sensor: r.Sensor, reason: "the network is metered: nothing new is taken"}
}

// full says that the data directory has reached its cap; 0 for an unknown one.
func (s *situation) full(most int64) verdict {
	r := s.newest(sensor.Disk)
	if r == nil || most == 0 || r.Value < float64(most) {
		return verdict{}
	}
	return verdict{holds: true, state: trace.Available, rule: "max_disk", sensor: r.Sensor,
		reason: fmt.Sprintf("the node keeps the %s that it may: nothing new is taken", task.FormatSize(most))}
}
