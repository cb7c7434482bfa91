package member

import (
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/predictor/histories"
	"godwit/trace"
)

// pasts are the histories that a peer knows by gossip. Predictors other than predictor.Default rest on them: see
// overlay.Advert.Past.
type pasts struct {
	book histories.Book
	told uint64 // parts of the own history that were gossiped
}

// tellsPast reports whether the overlay's rules name a predictor that needs histories.
func (m *Member) tellsPast() bool {
	by := m.p.cfg.Experiment.rules(&m.manifest).Predictor
	return by != "" && by != predictor.Default
}

// tellPast puts the next part of the own history into an advert.
func (m *Member) tellPast(a *overlay.Advert) {
	h := m.p.world.History()
	if !m.tellsPast() || h == nil {
		return
	}
	a.Past = histories.Part(h, m.p.pasts.told, overlay.MaxPast)
	m.p.pasts.told++
}

// hearPast takes in what an advert tells of its sender's history. Of its own this peer knows all.
func (m *Member) hearPast(a *overlay.Advert) {
	if !m.tellsPast() {
		return
	}
	wall, book := m.p.world.Wall(), &m.p.pasts.book
	if a.Peer == m.p.cfg.Self {
		book.Note(a.Peer, wall, m.p.world.History())
		return
	}
	for _, text := range [][]byte{a.Past, a.Spells} {
		if part, err := trace.DecodeSpells(text, histories.MaxSpells); err == nil {
			book.Note(a.Peer, wall, part)
		}
	}
}

// stayBy is the probability that a member stays, by a predictor other than the default and by what was gossiped of its
// history, as far as the member is believed.
func (m *Member) stayBy(by string, a *overlay.Advert, d time.Duration) (p float64, known bool) {
	wall, state := m.p.world.Wall(), a.State
	if a.Peer == m.p.cfg.Self {
		state = m.advertState() // its advert may be waiting
	}
	if state != overlay.Available || !a.Until.IsZero() && a.Until.Before(wall.Add(d)) {
		return 0, false
	}
	p, known = m.p.pasts.book.Stay(by, a.Peer, wall, d)
	return m.p.Believed(a.Peer, p, func() float64 {
		stranger := predictor.NewReader(&predictor.Record{}, m.p.cfg.Pool)
		q, _ := stranger.Stay(wall, d)
		return q
	}), known
}
