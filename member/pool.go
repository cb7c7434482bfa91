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

// RefreshPool sums up the members' records again when the sum is old, and reports
// when it was made.
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
			}
		}
	}
	p.cfg.Pool.Renew(records)
	return now
}

// OthersWork reports whether another member of any overlay takes tasks.
func (p *Peer) OthersWork() bool {
	return slices.ContainsFunc(p.members, func(m *Member) bool {
		return slices.ContainsFunc(m.view.Members(), func(a overlay.Advert) bool {
			return a.Peer != p.cfg.Self && a.State == overlay.Available && a.Slots > 0
		})
	})
}
