package ends

import (
	"time"

	"godwit/ending"
	"godwit/predictor"
	"godwit/trace"
)

const (
	// remembered is how far back a host's record is kept here. Records fade within a week.
	remembered = 30 * 24 * time.Hour
	// ticks is how often a host that does not change looks at its record.
	ticks = time.Hour
	// advertLife is how long a member that is gone is known: member.AdvertLife.
	advertLife = 45 * time.Minute
	// spells is how many a member tells of its history: member.AdvertSpells.
	spells = 8
)

// membersAt are the members that a node would know at a time, from hosts that lend one
// slot each, and the pool of their records.
func membersAt(hosts []trace.Host, now time.Time) ([]ending.Member, *predictor.Pool) {
	var out []ending.Member
	var records []predictor.Record
	for i := range hosts {
		m, ok := memberAt(&hosts[i], now)
		if !ok {
			continue
		}
		m.Peer = peerOf(i)
		out = append(out, m)
		records = append(records, *m.Record)
	}
	pool := &predictor.Pool{}
	pool.Renew(records)
	return out, pool
}

// memberAt is what a host's newest advert tells of it; false if nobody has one.
func memberAt(h *trace.Host, now time.Time) (m ending.Member, ok bool) {
	k := h.History.Find(now)
	if k < 0 {
		return m, false
	}
	s := h.History.Spell(k)
	m = ending.Member{State: s.State, Since: s.Start, Slots: 1, Memory: 1 << 40, Speed: speed(h)}
	if s.State == trace.Unobserved {
		m.State = trace.Unavailable
	}
	if m.State == trace.Unavailable && now.Sub(s.Start) > advertLife {
		return m, false
	}
	from := k
	for from > 0 && now.Sub(h.History.Spell(from).Start) < remembered {
		from--
	}
	r := predictor.NewRecorder(&predictor.Pool{})
	last := now
	if m.State == trace.Unavailable {
		last = s.Start // it told nothing since
		k--
	}
	for i := from; i <= k; i++ {
		s := h.History.Spell(i)
		if s.State == trace.Unobserved {
			r.Blind(s.Start)
			continue
		}
		r.Observe(s.Start, s.State)
		for at := s.Start.Add(ticks); at.Before(s.End) && at.Before(last); at = at.Add(ticks) {
			r.Tick(at)
		}
	}
	r.Tick(last)
	rec := r.Record()
	m.Record = &rec
	m.Spells = &trace.History{}
	for i := max(0, k+1-spells); i <= k; i++ {
		if s := h.History.Spell(i); s.State == trace.Unobserved {
			_ = m.Spells.Gap(s.Start)
		} else {
			_ = m.Spells.Append(s.Start, s.State, s.CPU)
		}
	}
	m.Spells.Extend(last)
	return m, true
}

func speed(h *trace.Host) float64 {
	if h.GHz > 0 {
		return h.GHz
	}
	return 1
}
