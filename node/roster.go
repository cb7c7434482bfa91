package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
	"godwit/trace"
)

// A Roster is who is in an overlay, counted, with those members that a person looks for first.
type Roster struct {
	Census
	Beliefs map[string]int `json:"beliefs"` // BeliefThere, BeliefSuspected, BeliefLost
	Group   []task.PeerID  `json:"group"`   // the coordinators, the leader first
	// Rows are this node, the coordinators, who is believed lost or is suspected, then the nearest, then
	// others, at most as many as were asked for.
	Rows []Member `json:"rows"`
	// Dots count those that have no row, by state and by latency in milliseconds, 0 where it is not known.
	Dots []Dot `json:"dots"`
}

// A Dot stands for members alike.
type Dot struct {
	LatencyMS float64 `json:"latency_ms"` // rounded; 0 unknown
	State     string  `json:"state"`
	Members   int     `json:"members"`
}

// Rosters returns the members of an overlay, by name or ID, or of all that the node serves for "", each with
// so many rows at most. A forecast is made for those alone.
func (n *Node) Rosters(ctx context.Context, nameOrID string, most int) (out []Roster, err error) {
	peers := n.net.Peers()
	latency := make(map[task.PeerID]time.Duration, len(peers))
	for _, p := range peers {
		latency[p.ID] = p.Latency
	}
	doErr := n.look(ctx, func() {
		all := n.ordered()
		if nameOrID != "" {
			var m *membership
			if m, err = n.find(nameOrID); err != nil {
				return
			}
			all = []*membership{m}
		}
		beliefs := n.beliefs()
		for _, m := range all {
			out = append(out, m.roster(beliefs, latency, most))
		}
	})
	if doErr != nil {
		return nil, doErr
	}
	for i := range out {
		connect(out[i].Rows, peers)
	}
	return out, err
}

// census counts the members; on the loop.
func (m *membership) census(adverts []overlay.Advert) Census {
	c := Census{ID: m.id, Name: m.Manifest().Name, States: map[string]int{}, Leader: m.Leader().Leader,
		Members: len(adverts)}
	for i := range adverts {
		a := &adverts[i]
		c.States[a.State.String()]++
		if a.State == overlay.Available {
			c.Slots, c.Free = c.Slots+a.Slots, c.Free+a.Free
		}
	}
	return c
}

// roster is on the loop.
func (m *membership) roster(beliefs map[task.PeerID]overlay.Belief, latency map[task.PeerID]time.Duration,
	most int) Roster {
	adverts := m.View().Members()
	r := Roster{Census: m.census(adverts), Beliefs: map[string]int{}, Group: slices.Clone(m.Group()), Rows: []Member{},
		Dots: []Dot{}}
	away := m.Away()
	r.Lost = len(away)
	adverts = append(adverts, away...)
	here := r.Members
	ranks := make([]showing, len(adverts))
	for i := range adverts {
		p := adverts[i].Peer
		belief := BeliefThere
		if b, ok := beliefs[p]; ok {
			belief = b.State.String()
		} else if i >= here {
			belief = BeliefLost
		}
		r.Beliefs[belief]++
		ranks[i] = showing{at: i, class: classOf(p, m, belief, latency), latency: latency[p]}
	}
	slices.SortStableFunc(ranks, func(a, b showing) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.latency, b.latency))
	})
	for _, x := range ranks[:min(most, len(ranks))] {
		row := m.row(&adverts[x.at], beliefs)
		if x.at < here {
			row.Stay = m.all.past.forecast(&adverts[x.at], usualHorizon).Stay
		}
		r.Rows = append(r.Rows, row)
	}
	r.Dots = dots(adverts, ranks[min(most, len(ranks)):])
	return r
}

// A showing says how soon a member is shown.
type showing struct {
	at      int // among adverts
	class   int
	latency time.Duration
}

// classOf is how soon a member is shown: lower first.
func classOf(p task.PeerID, m *membership, belief string, latency map[task.PeerID]time.Duration) int {
	const self, leads, coordinates, troubled, near, rest = 0, 1, 2, 3, 4, 5
	_, connected := latency[p]
	switch {
	case p == m.all.self:
		return self
	case p == m.Leader().Leader:
		return leads
	case slices.Contains(m.Group(), p):
		return coordinates
	case belief != BeliefThere:
		return troubled
	case connected:
		return near
	}
	return rest
}

// dots count members that have no row.
func dots(adverts []overlay.Advert, ranks []showing) []Dot {
	type key struct {
		ms    float64
		state trace.State
	}
	n := map[key]int{}
	for _, x := range ranks {
		n[key{roundLatency(x.latency), adverts[x.at].State}]++
	}
	out := make([]Dot, 0, len(n))
	for k, members := range n {
		out = append(out, Dot{k.ms, k.state.String(), members})
	}
	slices.SortFunc(out, func(a, b Dot) int {
		return cmp.Or(cmp.Compare(a.LatencyMS, b.LatencyMS), cmp.Compare(a.State, b.State))
	})
	return out
}

// roundLatency leaves some ten steps of each power of ten: dots of ten thousand members are a hundred then.
func roundLatency(d time.Duration) float64 {
	ms := float64(d) / float64(time.Millisecond)
	step := 1.0
	for ms >= 10*step {
		step *= 10
	}
	return float64(int(ms/step+0.5)) * step
}

// Near returns the nearest of the connected members of the overlays that this node serves, at most so many, and
// how many there are. Nothing is forecast.
func (n *Node) Near(ctx context.Context, most int) (rows []Member, connected int, err error) {
	peers := n.net.Peers()
	slices.SortStableFunc(peers, func(a, b p2p.Peer) int { return cmp.Compare(a.Latency, b.Latency) })
	err = n.look(ctx, func() {
		beliefs := n.beliefs()
		all := n.ordered()
		for _, p := range peers {
			for _, m := range all {
				a, ok := m.View().Member(p.ID)
				if !ok {
					continue
				}
				if connected++; len(rows) < most {
					rows = append(rows, m.row(&a, beliefs))
				}
				break
			}
		}
	})
	connect(rows, peers)
	return rows, connected, err
}
