package member

import (
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a member says to those of other cells, who hear its adverts from nobody else.

// says is what this member's lease says.
func (c *cells) says(kind LeaseKind, r overlay.Renewal) Lease {
	return Lease{Kind: kind, Renewal: r, Bits: c.cell.Bits}
}

// sameCell reports whether a peer that is in a cell of so many bits is in this one's.
func (c *cells) sameCell(peer task.PeerID, bits uint8) bool {
	m := c.m
	return bits == m.cell.Bits && (m.cell.Whole() || m.cell.Holds(overlay.CellNumber(m.id, peer)))
}

// tellWhere tells a peer that takes this one for a member of its cell where it is.
func (c *cells) tellWhere(peer task.PeerID) {
	m := c.m
	if m.inCells() && m.advertised.Seq != 0 && m.greeted[peer] != m.advertised.Seq {
		m.greetOne(peer)
	}
}

func (c *cells) greetOne(peer task.PeerID) {
	m := c.m
	if m.greeted == nil || len(m.greeted) >= maxVisitors {
		m.greeted = map[task.PeerID]uint64{}
	}
	m.greeted[peer] = m.advertised.Seq
	m.p.emit(Greet{Of: m, To: peer, Advert: m.advertised})
}

// greet has members of other cells to whom a machine speaks hear this member's advert first:
// they take it for a stranger otherwise.
func (c *cells) greet(effects []message.Effect) {
	m := c.m
	if !m.inCells() || m.cell.Whole() || m.advertised.Seq == 0 {
		return
	}
	for _, e := range effects {
		s, ok := e.(message.Send)
		if !ok || s.To == m.p.cfg.Self || m.greeted[s.To] == m.advertised.Seq {
			continue
		}
		if _, here := m.view.Member(s.To); here {
			continue
		}
		m.greetOne(s.To)
	}
}
