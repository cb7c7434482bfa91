package owner

import (
	"fmt"
	"time"

	"godwit/trace"
)

// A Preview is what other rules would have made of a time that is past, beside what was. The record has states,
// not what the sensors saw: where that leaves open what other rules would have done, it says so.
type Preview struct {
	From, To  time.Time
	Was, Then Tally
	Unknown   time.Duration // of Then, of which nobody can tell: it counts as what was
	Spells    []trace.Spell // as it would have been, in order
	Notes     []string      // what it rests on
}

// A Tally says how long a machine ran tasks or could have, and how often that was broken off.
type Tally struct {
	Available time.Duration
	Stops     int
}

// Foresee replays a history since from under other rules. Hours are by the clock of loc.
func Foresee(h *trace.History, from time.Time, was, then *Rules, loc *time.Location) Preview {
	p := Preview{To: h.Until(), From: from}
	if s := h.Since(); p.From.Before(s) {
		p.From = s
	}
	f := foreseer{was: was, then: then, loc: loc, out: &p}
	for i := range h.Len() {
		s := h.Spell(i)
		if s.Start.Before(p.From) {
			s.Start = p.From
		}
		if s.End.After(s.Start) {
			p.Was.count(s, lastState(h, i, p.From))
			f.spell(s)
		}
	}
	f.finish()
	return p
}

// lastState is the state before spell i, if there is one since from.
func lastState(h *trace.History, i int, from time.Time) trace.State {
	if i == 0 || !h.Spell(i-1).End.After(from) {
		return trace.Unobserved
	}
	return h.Spell(i - 1).State
}

// count takes in a spell that came after a state.
func (t *Tally) count(s trace.Spell, before trace.State) {
	switch {
	case s.State == trace.Available:
		t.Available += s.Length()
	case before == trace.Available:
		t.Stops++
	}
}

// A foreseer goes through a history.
type foreseer struct {
	was, then *Rules
	loc       *time.Location
	out       *Preview
	pieces    []trace.Spell
}

// spell takes in a spell as it was, and cuts it where hours begin or end.
func (f *foreseer) spell(s trace.Spell) {
	for at := s.Start; at.Before(s.End); {
		end := s.End
		for _, h := range []Hours{f.was.Hours, f.then.Hours} {
			if next := h.Next(at.In(f.loc)); !next.IsZero() && next.Before(end) {
				end = next
			}
		}
		state, known := f.state(s.State, at)
		if !known {
			f.out.Unknown += end.Sub(at)
		}
		cpu := s.CPU
		if state == trace.Available && cpu == 0 {
			cpu = 1
		}
		f.add(trace.Spell{State: state, Start: at, End: end.UTC(), CPU: cpu})
		at = end.UTC()
	}
}

// state is what a machine that was in a state at a time would have been in. known is false where it may have
// been otherwise.
func (f *foreseer) state(s trace.State, at time.Time) (state trace.State, known bool) {
	inWas, inThen := f.was.Hours.Open(at.In(f.loc)), f.then.Hours.Open(at.In(f.loc))
	switch {
	case s == trace.Unobserved:
		return s, true
	case !inThen && s != trace.Leaving:
		return trace.Unavailable, true
	case s == trace.Unavailable && !inWas && inThen:
		return s, false // whether its owner was there, or it was on, nobody noted
	}
	w, t := f.was, f.then
	switch s {
	case trace.UserPresent:
		if !w.RunIfUserActive && t.RunIfUserActive {
			return trace.Available, true
		}
	case trace.CPUBusy:
		if w.SuspendCPUUsage > 0 && t.SuspendCPUUsage == 0 && t.SuspendMemoryPressure == 0 {
			return trace.Available, true
		}
		return s, w.SuspendCPUUsage == t.SuspendCPUUsage && w.SuspendMemoryPressure == t.SuspendMemoryPressure
	case trace.Available:
		return s, !(w.RunIfUserActive && !t.RunIfUserActive || w.RunIfFullScreen && !t.RunIfFullScreen ||
			w.RunOnBatteries && !t.RunOnBatteries || stricter(w.SuspendCPUUsage, t.SuspendCPUUsage) ||
			stricter(w.SuspendMemoryPressure, t.SuspendMemoryPressure) ||
			stricter(100-w.MinBatteryCharge, 100-t.MinBatteryCharge))
	case trace.Unavailable:
		return s, w.RunOnBatteries == t.RunOnBatteries && w.MinBatteryCharge == t.MinBatteryCharge
	}
	return s, true
}

// stricter reports whether a limit, of which 0 is none, stops more than it did.
func stricter(was, then float64) bool { return then > 0 && (was == 0 || then < was) }

// add puts a piece behind the others.
func (f *foreseer) add(s trace.Spell) {
	if n := len(f.pieces); n > 0 && f.pieces[n-1].State == s.State && f.pieces[n-1].CPU == s.CPU {
		f.pieces[n-1].End = s.End
		return
	}
	f.pieces = append(f.pieces, s)
}

// finish moves the ends of the owner's visits where idle_time_to_run says, and counts.
func (f *foreseer) finish() {
	later := f.then.IdleTimeToRun - f.was.IdleTimeToRun
	out := f.pieces
	if f.then.RunIfUserActive && !f.was.RunIfUserActive {
		f.out.Notes = append(f.out.Notes, "a pause, and a program that filled the screen, count as a visit: the record does "+
			"not tell them apart")
	}
	if later != 0 && !f.then.RunIfUserActive {
		out = shifted(f.pieces, later)
		f.out.Notes = append(f.out.Notes, "a visit ends so long after the last input as idle_time_to_run says")
	}
	before := trace.Unobserved
	for _, s := range out {
		f.out.Then.count(s, before)
		before = s.State
	}
	f.out.Spells = out
	if f.out.Unknown > 0 {
		f.out.Notes = append(f.out.Notes, fmt.Sprintf("the record has states, and not all that the sensors saw: of %v "+
			"nobody can tell", f.out.Unknown.Round(time.Minute)))
	}
	if !same(findKey("max_cores"), f.was, f.then) || !same(findKey("max_memory"), f.was, f.then) {
		f.out.Notes = append(f.out.Notes, "cores and memory change how much runs, not when")
	}
}

// shifted has each of the owner's visits that tasks waited for end later, or earlier: at most where the next of
// another kind begins, and not before it begins.
func shifted(pieces []trace.Spell, later time.Duration) (out []trace.Spell) {
	add := func(s trace.Spell) {
		if s.End.After(s.Start) {
			out = append(out, s)
		}
	}
	var at time.Time // where the next begins; zero for where it did
	for i, s := range pieces {
		if !at.IsZero() {
			s.Start, at = at, time.Time{}
		}
		if s.State != trace.UserPresent || i+1 == len(pieces) || pieces[i+1].State != trace.Available {
			add(s)
			continue
		}
		end := s.End.Add(later)
		if end.Before(s.Start) {
			end = s.Start
		}
		if next := pieces[i+1].End; end.After(next) {
			end = next
		}
		s.End, at = end, end
		add(s)
	}
	return out
}
