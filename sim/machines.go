package sim

import (
	"cmp"
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
	// Up is the mean time from a machine's repair to its next failure, Down the mean
	// time until it is repaired. Up 0 never fails.
	Up, Down time.Duration
	// UpLaw and DownLaw are the distributions of these times (default Exponential, as in
	// the thesis).
	UpLaw, DownLaw Law
	Seed           uint64 // of the failures
}

const (
	// leastSpell is the shortest spell that is drawn: histories count milliseconds.
	leastSpell = time.Millisecond
	// mostSpells limits the number of intervals of all machines to 400 MB.
	mostSpells = 1 << 24
)

// Trace makes the machines' trace over span from start. All begin up. A machine
// depends on Seed, its number, Up, Down and their laws alone. It fails if there are more
// machines or failures than a trace has, a length of time is none, or a law is not known.
func (m *Machines) Trace(start time.Time, span time.Duration) (*trace.Trace, error) {
	up, down, err := m.draws()
	switch {
	case err != nil:
		return nil, fmt.Errorf("machines: %w", err)
	case len(m.Names) == 0 || len(m.Names) > trace.MaxHosts:
		return nil, fmt.Errorf("machines: there are %d: 1 to %d can be made", len(m.Names), trace.MaxHosts)
	case m.Up < 0 || m.Down < 0 || m.Up > 0 && m.Down == 0 || m.Up == 0 && m.Down > 0:
		return nil, fmt.Errorf("machines: up %v and down %v: give both, above 0, or neither", m.Up, m.Down)
	case span <= 0 || span > longest:
		return nil, fmt.Errorf("machines: they are to be made for %v: that is above 0, at most %v", span, longest)
	case m.Up > 0 && float64(len(m.Names))*2*float64(span)/float64(max(m.Up+m.Down, leastSpell)) > mostSpells:
		return nil, m.tooMany(span)
	}
	set := &trace.Trace{Name: "machines", Synthetic: m.describe(), Start: start, End: start.Add(span)}
	left := mostSpells
	for j, name := range m.Names {
		h := &trace.History{Host: name}
		if err := h.Append(set.Start, trace.Available, 1); err != nil {
			return nil, fmt.Errorf("machines: making %s: %w", name, err)
		}
		if m.Up > 0 {
			if err := m.fail(h, j, set.End, up, down, left); err != nil {
				return nil, fmt.Errorf("machines: making %s: %w", name, err)
			}
		}
		if left -= h.Len(); left < 0 {
			return nil, m.tooMany(span)
		}
		h.Extend(set.End)
		set.Hosts = append(set.Hosts, trace.Host{History: h})
	}
	return set, nil
}

// draws returns the draws of both laws, nil for a law that always returns 1.
func (m *Machines) draws() (up, down Draw, err error) {
	if up, err = cmp.Or(m.UpLaw, Exponential).Draw(); err != nil {
		return nil, nil, err
	}
	down, err = cmp.Or(m.DownLaw, Exponential).Draw()
	return up, down, err
}

func (m *Machines) tooMany(span time.Duration) error {
	return fmt.Errorf("machines: %d that fail each %v for %v have too many failures: at most %d can be made",
		len(m.Names), m.Up+m.Down, span, mostSpells/2)
}

// describe returns the label of the trace.
func (m *Machines) describe() string {
	up, down := cmp.Or(m.UpLaw, Exponential), cmp.Or(m.DownLaw, Exponential)
	switch {
	case m.Up == 0:
		return "always there"
	case up == down:
		return fmt.Sprintf("up %v and down %v in the mean, %s, seed %d", m.Up, m.Down, up, m.Seed)
	}
	return fmt.Sprintf("up %v (%s) and down %v (%s) in the mean, seed %d", m.Up, up, m.Down, down, m.Seed)
}

// fail appends a machine's failures and repairs to h. It stops after most+1 intervals.
func (m *Machines) fail(h *trace.History, number int, end time.Time, up, down Draw, most int) error {
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit machines %d %d", m.Seed, number))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])))
	at := h.Until()
	for n := 0; n <= most; n++ {
		mean, law, next, cpu := m.Up, up, trace.Unavailable, 0.
		if n%2 == 1 {
			mean, law, next, cpu = m.Down, down, trace.Available, 1
		}
		if at = at.Add(max(leastSpell, draw(mean, law, rng).Round(leastSpell))); !at.Before(end) {
			return nil
		}
		if err := h.Append(at, next, cpu); err != nil {
			return err
		}
	}
	return nil
}
