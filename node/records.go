package node

import (
	"context"
	"time"

	"godwit/task"
	"godwit/trace"
)

// A MemberRecord is what a member tells of its past, and what is forecast of it.
type MemberRecord struct {
	Peer    task.PeerID
	Overlay string
	// Spells are the last of its history, as its advert has them; empty where it tells none.
	Spells   *trace.History
	Forecast Forecast // for the next hour
}

// Records returns what members tell of their pasts, this node first, at most so many. Nobody is asked.
func (n *Node) Records(ctx context.Context, most int) (out []MemberRecord, err error) {
	err = n.look(ctx, func() {
		seen := map[task.PeerID]bool{}
		for _, m := range n.ordered() {
			if a, ok := m.View().Member(n.self); ok && !seen[n.self] {
				seen[n.self] = true
				n.history.Extend(n.now())
				out = append(out, MemberRecord{n.self, m.Manifest().Name, n.history.Assume(trace.Unobserved),
					n.past.forecast(&a, usualHorizon)})
			}
		}
		const slack = 4 // as member.witness has it
		for _, m := range n.ordered() {
			for _, a := range m.View().Members() {
				if len(out) >= most {
					return
				}
				if seen[a.Peer] {
					continue
				}
				seen[a.Peer] = true
				h, err := trace.DecodeSpells(a.Spells, slack*advertSpells)
				if err != nil {
					h = &trace.History{}
				}
				out = append(out, MemberRecord{a.Peer, m.Manifest().Name, h, n.past.forecast(&a, usualHorizon)})
			}
		}
	})
	return out, err
}

// Forecasts returns how likely this node is to run tasks for each of some times from now on without a break,
// and what that rests on.
func (n *Node) Forecasts(ctx context.Context, times []time.Duration) (stays []float64, of Forecast, err error) {
	for _, d := range times {
		if of, err = n.Forecast(ctx, n.self, d); err != nil {
			return nil, of, err
		}
		stays = append(stays, of.Stay)
	}
	return stays, of, nil
}
