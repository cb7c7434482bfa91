package share

import "godwit/internal/spec"

// A guard keeps the whole from being filled entirely, so that work of higher
// priority finds some slots at once (Grundeken 2009, sections 3.6.1 and 3.7.1).
type guard struct {
	mode int
	load int // percent of slots in use
}

// Modes of a guard. Volunteers' own rules say what may be used of each machine,
// and guard it better than a part of all: none is the default.
const (
	noGuard   = iota
	gateGuard // nothing is granted at that load or above it
	capGuard  // nothing is granted that would exceed that load
)

// thesisLoad is the load in percent of Grundeken 2009, section 3.7.1.
const thesisLoad = 80

func (g *guard) read(ps *spec.Params) {
	g.mode = ps.Choice("guard", "none", "gate", "cap")
	g.load = ps.Integer("load", thesisLoad, 1, 100)
}

// room returns how many of idle slots may be granted, and whether the guard takes
// some away. The test is of whole numbers: 68 of 85 are 80 percent exactly.
func (g *guard) room(used, total, idle int) (n int, guarded bool) {
	switch g.mode {
	case gateGuard:
		if 100*used >= g.load*total {
			return 0, idle > 0
		}
	case capGuard:
		n = min(idle, max(0, g.load*total/100-used))
		return n, n < idle
	}
	return idle, false
}
