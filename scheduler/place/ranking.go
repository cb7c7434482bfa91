package place

import (
	"cmp"

	"godwit/task"
)

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

// rank implements Traits.Rank.
func (p *FCFS) rank() Ranking { return Ranking{} }

// rank implements Traits.Rank.
func (p *Turn) rank() Ranking { return Ranking{Turn: true, After: p.last} }
