package sim

// warm reads what the next events are about, so that the processor fetches it
// into its cache many pieces at a time: as the events come it would wait for one
// after the other. It changes nothing; what it returns means nothing.
func (w *world) warm() int64 {
	read := int64(0)
	next := w.agenda.near.events
	if len(next) < warmLeast || len(w.hosts) < warmHosts {
		return 0
	}
	for k := range next {
		if e := &next[k]; e.kind() <= onChange && e.kind() != onDay {
			h := &w.hosts[e.index()]
			read += h.last + int64(h.root)
		}
	}
	for k := range next {
		e := &next[k]
		switch e.kind() {
		case onTimer:
			if r := w.hosts[e.index()].root; r != none {
				t := &w.tasks.slots[r]
				read += t.arrived + t.saved + int64(t.prev)
			}
		case onChange:
			history := w.records[e.index()].history
			if n := int(w.hosts[e.index()].spell) + 1; n < history.Len() {
				at, _ := history.Begin(n)
				read += at
			}
		}
	}
	return read
}

// warmLeast is from how many events on it is worth it, and warmHosts from how many
// hosts: fewer stay in the second cache.
const (
	warmLeast = 8
	warmHosts = 2048
)
