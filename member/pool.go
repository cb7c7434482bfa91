package member

import (
	"godwit/overlay"
	"godwit/predictor"
	"godwit/task"
	"slices"
	"time"
)

// poolEvery is how often what is known of hosts at large is summed up again from the
// members' records.
const poolEvery = 15 * time.Minute

// RefreshPool sums up the members' records again when the sum is old, has the pool learn
// what came true of those that were there before, and reports when it was made.
func (p *Peer) RefreshPool(now time.Time) time.Time {
	if !p.pooled.IsZero() && now.Sub(p.pooled) < poolEvery {
		return p.pooled
	}
	p.pooled = now
	var records []predictor.Record
	counted := map[task.PeerID]bool{}
	for _, m := range p.members {
		for _, a := range m.view.Members() {
			var r predictor.Record
			if !counted[a.Peer] && r.UnmarshalBinary(a.Record) == nil {
				counted[a.Peer] = true
				records = append(records, r)
				p.witness.See(string(a.Peer), &r, earlier(a.Issued, now), p.cfg.Pool)
			}
		}
	}
	p.cfg.Pool.Renew(records)
	p.cfg.Pool.Learn(p.witness.Answers(now))
	return now
}

// earlier is the earlier of two times: an advert that is dated ahead was issued by now.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// OthersWork reports whether another member of any overlay takes tasks.
func (p *Peer) OthersWork() bool {
	return slices.ContainsFunc(p.members, func(m *Member) bool {
		return slices.ContainsFunc(m.view.Members(), func(a overlay.Advert) bool {
			return a.Peer != p.cfg.Self && a.State == overlay.Available && a.Slots > 0
		})
	})
}

// Believed weighs what a member's own record says of its staying, a probability, with
// what holds for hosts at large, by how far the member's accounts are believed. A
// member that was found to claim what is not so is never thought better of than its
// record says. atLarge is asked only where that matters.
func (p *Peer) Believed(peer task.PeerID, own float64, atLarge func() float64) float64 {
	belief := p.standing.Weight(peer)
	if belief >= 1 {
		return own
	}
	return belief*own + (1-belief)*min(atLarge(), own)
}
