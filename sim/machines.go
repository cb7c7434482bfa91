package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/trace"
)

// Machines are hosts that are always there, or that fail and are repaired by turns
// (Kokaly 2008, section 7.1), idle or not.
type Machines struct {
	Names []string
	// Up is the mean time from a machine's repair to its next failure, Down until it
	// is repaired; both are exponential. Up 0 never fails.
	Up, Down time.Duration
	Seed     uint64 // of the failures
}

// leastSpell is the shortest spell that is drawn: histories count milliseconds.
const leastSpell = time.Millisecond

// Trace makes the machines' trace over span from start. All begin up. A machine
// depends on Seed, its number, Up and Down alone. It fails if there are more machines
// or failures than a trace has, or a length of time is none.
func (m *Machines) Trace(start time.Time, span time.Duration) (*trace.Trace, error) {
	const mostSpells = 1 << 24 // of all machines, 400 MB
	switch {
	case len(m.Names) == 0 || len(m.Names) > trace.MaxHosts:
		return nil, fmt.Errorf("machines: there are %d: 1 to %d can be made", len(m.Names), trace.MaxHosts)
	case m.Up < 0 || m.Down < 0 || m.Up > 0 && m.Down == 0 || m.Up == 0 && m.Down > 0:
		return nil, fmt.Errorf("machines: up %v and down %v: give both, above 0, or neither", m.Up, m.Down)
	case span <= 0 || span > longest:
		return nil, fmt.Errorf("machines: they are to be made for %v: that is above 0, at most %v", span, longest)
	case m.Up > 0 && float64(len(m.Names))*2*float64(span)/float64(max(m.Up+m.Down, leastSpell)) > mostSpells:
		return nil, fmt.Errorf("machines: %d that fail each %v for %v have too many failures: at most %d can be made",
			len(m.Names), m.Up+m.Down, span, mostSpells/2)
	}
	set := &trace.Trace{Name: "machines", Synthetic: "always there", Start: start, End: start.Add(span)}
	if m.Up > 0 {
		set.Synthetic = fmt.Sprintf("up %v and down %v in the mean, exponential, seed %d", m.Up, m.Down, m.Seed)
	}
	for j, name := range m.Names {
		h := &trace.History{Host: name}
		if err := m.write(h, j, set.Start, set.End); err != nil {
			return nil, fmt.Errorf("machines: making %s: %w", name, err)
		}
		h.Extend(set.End)
		set.Hosts = append(set.Hosts, trace.Host{History: h})
	}
	return set, nil
}

// write writes a machine's failures and repairs.
func (m *Machines) write(h *trace.History, number int, at, end time.Time) error {
	if err := h.Append(at, trace.Available, 1); err != nil || m.Up == 0 {
		return err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit machines %d %d", m.Seed, number))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])))
	for up := true; ; up = !up {
		mean, next, cpu := m.Up, trace.Unavailable, 0.
		if !up {
			mean, next, cpu = m.Down, trace.Available, 1
		}
		spell := min(float64(mean)*rng.ExpFloat64(), float64(longest))
		if at = at.Add(max(leastSpell, time.Duration(spell).Round(leastSpell))); !at.Before(end) {
			return nil
		}
		if err := h.Append(at, next, cpu); err != nil {
			return err
		}
	}
}
