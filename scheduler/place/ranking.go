package place

import (
	"cmp"

	"godwit/task"
)

// A Ranker is a Policy that gives each task to the first idle member in an order
// in which tasks move nobody but the member that gets them. Who runs it need not
// offer it all that are idle: while n tasks wait, each of which fits every
// member offered, the first n idle members in that order are enough, and the
// placements are the same.
type Ranker interface {
	Policy
	// Rank is the order, as it is until the next call of Place.
	Rank() Ranking
}

// A Ranking is an order of idle members. The zero Ranking has the faster first,
// then those with fewer tasks, then goes by name.
type Ranking struct {
	Turn  bool        // by name alone, from the first after After on, and round
	After task.PeerID // its turn was last; "" begins with the first
}

// Compare is negative if a comes before b, positive if after.
func (r Ranking) Compare(a, b *Host) int {
	if !r.Turn {
		return better(a, b)
	}
	if past := cmp.Compare(a.Peer, r.After) > 0; past != (cmp.Compare(b.Peer, r.After) > 0) {
		if past {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Peer, b.Peer)
}

// Rank implements Ranker.
func (p *FCFS) Rank() Ranking { return Ranking{} }

// Rank implements Ranker.
func (p *Turn) Rank() Ranking { return Ranking{Turn: true, After: p.last} }
