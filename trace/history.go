package trace

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// A Spell is a time through which a host's state did not change.
type Spell struct {
	State State // one of the five, or Unobserved
	Start time.Time
	End   time.Time // after Start
	// CPU is the share of the host's processors, 0 to 1, that tasks may have;
	// 0 in every state but Available.
	CPU float64
}

// Length is End minus Start.
func (s Spell) Length() time.Duration { return s.End.Sub(s.Start) }

// A History is one host's states over time, append-only: spells that touch, the
// last of them still running at Until. Before its first change nothing is known
// of the host; later times of which nothing is known are spells too, Unobserved.
// Times are kept to the millisecond and CPU shares to a two
// hundredth, 16 bytes a spell. The zero History is empty and ready. It is for
// one goroutine at a time.
type History struct {
	// Host names the host in its trace: a number, an address, a peer ID.
	Host string

	changes []change // at increases strictly; neighbours differ in state or CPU
	until   int64    // Unix milliseconds, at least the last change's; unused while changes is empty
}

// A change is when a state began.
type change struct {
	at    int64 // Unix milliseconds
	state State
	cpu   uint8 // two hundredths
}

const cpuUnit = 200

// Append notes that the host has been in a state since at, giving tasks cpu of
// its processors (ignored unless s is Available). A change to what already
// holds only extends what is known. It fails, changing nothing, when at is
// before Until, s is no state or cpu is outside 0 to 1.
func (h *History) Append(at time.Time, s State, cpu float64) error {
	if !s.Valid() {
		return fmt.Errorf("%d is not a state", uint8(s))
	}
	if s != Available {
		cpu = 0
	}
	if !(cpu >= 0 && cpu <= 1) {
		return fmt.Errorf("CPU share %v is outside 0 to 1", cpu)
	}
	return h.change(change{at: at.UnixMilli(), state: s, cpu: uint8(math.Round(cpu * cpuUnit))})
}

// Gap notes that from at on nobody looked, until the next Append: the time
// between is an Unobserved spell. An empty history stays empty. It fails,
// changing nothing, when at is before Until.
func (h *History) Gap(at time.Time) error {
	if len(h.changes) == 0 {
		return nil
	}
	return h.change(change{at: at.UnixMilli(), state: Unobserved})
}

func (h *History) change(c change) error {
	n := len(h.changes)
	if n > 0 && c.at < h.until {
		return fmt.Errorf("%s is before %s, up to where this history is known", stamp(c.at), stamp(h.until))
	}
	h.until = c.at
	if n > 0 && h.changes[n-1].at == c.at {
		h.changes = h.changes[:n-1] // a spell of no length
		n--
	}
	if n > 0 && h.changes[n-1].state == c.state && h.changes[n-1].cpu == c.cpu {
		return nil
	}
	if n == 0 && c.state == Unobserved {
		return nil
	}
	h.changes = append(h.changes, c)
	return nil
}

// Assume returns a copy in which the host was in state s through every
// Unobserved spell, with all of its processors if s is Available. Use
// Unavailable for machines that are switched off, or lent to nobody, when
// nobody looks.
func (h *History) Assume(s State) *History {
	out := &History{Host: h.Host, changes: make([]change, 0, len(h.changes))}
	for _, c := range h.changes {
		if c.state == Unobserved {
			c.state = s
			if s == Available {
				c.cpu = cpuUnit
			}
		}
		_ = out.change(c) // in order, as in h
	}
	out.until = h.until
	return out
}

// Extend notes that the last spell was still running at a time. Times before
// Until, and extending an empty history, change nothing.
func (h *History) Extend(at time.Time) {
	if len(h.changes) > 0 {
		h.until = max(h.until, at.UnixMilli())
	}
}

// Len is the number of spells, the running one included.
func (h *History) Len() int { return len(h.changes) }

// Spell returns spell i, oldest first, 0 <= i < Len. The last ends at Until,
// where it may go on: it is right-censored, and it alone may have no length.
func (h *History) Spell(i int) Spell {
	c := h.changes[i]
	end := h.until
	if i+1 < len(h.changes) {
		end = h.changes[i+1].at
	}
	return Spell{State: c.state, Start: time.UnixMilli(c.at).UTC(), End: time.UnixMilli(end).UTC(),
		CPU: float64(c.cpu) / cpuUnit}
}

// Begin returns when spell i begins, in milliseconds since 1970, and its state: part of
// what Spell does, for who goes through many.
func (h *History) Begin(i int) (millis int64, s State) { return h.changes[i].at, h.changes[i].state }

// Present returns the state of spell i, and the share of the processors that is free in it.
func (h *History) Present(i int) (s State, cpu float64) {
	c := &h.changes[i]
	return c.state, float64(c.cpu) / cpuUnit
}

// Since is when the history begins; zero when it is empty.
func (h *History) Since() time.Time {
	if len(h.changes) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(h.changes[0].at).UTC()
}

// Until is up to where the history is known; zero when it is empty.
func (h *History) Until() time.Time {
	if len(h.changes) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(h.until).UTC()
}

// Find returns the index of the spell that holds at a time, a spell's start
// belonging to it and its end not (Until belongs to the last), or -1 outside
// Since to Until.
func (h *History) Find(at time.Time) int {
	ms := at.UnixMilli()
	if len(h.changes) == 0 || ms < h.changes[0].at || ms > h.until {
		return -1
	}
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].at > ms }) - 1
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
