package trace

import (
	"fmt"
	"time"
)

// A Trace is the record of a set of hosts.
type Trace struct {
	// Name says what was recorded, such as "relays"; a set that a generator
	// made in the likeness of another is "UCB-like", never "UCB".
	Name string
	// Synthetic says which generator made the set, with its seed; "" for a set
	// that was measured. It goes wherever the trace goes.
	Synthetic string
	// Start and End bound the recording. Times of day and days are counted in
	// UTC; the zero of a file whose calendar is unknown is 1970-01-01.
	Start, End time.Time
	// Window is when, each day, the hosts were watched. Outside it their
	// histories are Unobserved.
	Window Window
	// Sample is the time between two looks at a host: changes shorter than that
	// are mostly missing. 0 where every change was noted.
	Sample time.Duration
	// Samples are the times of those looks, in order, where they are known.
	Samples []time.Time
	// Hosts are in the order of the file.
	Hosts []Host
}

// A Host is one machine of a trace.
type Host struct {
	History *History // never nil; its Host field is the machine's name
	GHz     float64  // clock rate; 0 where it is not known
}

// A Window is a part of the day, From <= t < To after midnight. The zero Window
// is the whole day.
type Window struct{ From, To time.Duration }

const day = 24 * time.Hour

// Whole says whether w is the whole day.
func (w Window) Whole() bool { return w == Window{} || w == Window{0, day} }

// Length is how long the window is open each day.
func (w Window) Length() time.Duration {
	if w.Whole() {
		return day
	}
	return w.To - w.From
}

// Check fails unless w is the zero Window or lies within one day.
func (w Window) Check() error {
	if w != (Window{}) && (w.From < 0 || w.From >= w.To || w.To > day) {
		return fmt.Errorf("window %s is not a part of one day", w)
	}
	return nil
}

// String returns the window as in "10h0m0s-17h0m0s", or "all".
func (w Window) String() string {
	if w.Whole() {
		return "all"
	}
	return w.From.String() + "-" + w.To.String()
}

// Days is how many days, the first and last perhaps in part, the trace spans.
func (t *Trace) Days() int {
	if !t.End.After(t.Start) {
		return 0
	}
	return int((t.End.Add(-1).Unix()-midnight(t.Start).Unix())/int64(day/time.Second)) + 1
}

// midnight is the last UTC midnight at or before at.
func midnight(at time.Time) time.Time {
	y, m, d := at.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Assume returns a copy of the trace in which every host was in state s
// whenever nobody looked, around the clock from Start to the last Window's end:
// see History.Assume. The hosts' clock rates and the labels stay.
func (t *Trace) Assume(s State) *Trace {
	out := *t
	out.Window = Window{}
	out.Hosts = make([]Host, len(t.Hosts))
	for i, h := range t.Hosts {
		out.Hosts[i] = Host{History: h.History.Assume(s), GHz: h.GHz}
	}
	return &out
}
