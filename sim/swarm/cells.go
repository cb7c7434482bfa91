package swarm

import (
	"godwit/member"
	"godwit/overlay"
)

// What a network does of an overlay that is divided into cells.

// A cellNet is a node as the cells of its overlay have to do with it.
type cellNet struct{ n *node }

// firstCell returns the cell in which a node that comes up begins, and its lineage: the smallest that a node that it
// dials knows, or at the start the cell of as many bits as the options set.
func (c cellNet) firstCell() (overlay.Cell, overlay.Lineage) {
	n := c.n
	number := overlay.CellNumber(n.w.overlay, n.id)
	if n.w.stage != nil && n.w.now > 0 { // as a live node begins, which knows nothing of cells
		return overlay.Cell{}, nil
	}
	at, lineage, found := overlay.Cell{}, overlay.Lineage(nil), false
	for _, s := range n.w.tableOf(n.w.anybody()) {
		if s.Cell.Holds(number) && (!found || s.Cell.Bits > at.Bits) {
			at, lineage, found = s.Cell, s.Lineage, true
		}
	}
	if found {
		return at, lineage
	}
	first := overlay.CellOf(number, n.w.opt.Bits)
	return first, n.w.firstLineage(first)
}

// anybody is a node that is up; nil for none.
func (w *world) anybody() *node {
	for range len(w.nodes) { // most are
		if n := w.nodes[w.cells.IntN(len(w.nodes))]; n.up && n.said != nil {
			return n
		}
	}
	return nil
}

// tableOf is what a node, or whom it follows, knows of the cells.
func (w *world) tableOf(n *node) []overlay.Summary {
	if n == nil {
		return nil
	}
	if leader := w.byID[n.m.Leader().Leader]; leader != nil && leader.up && !leader.strange {
		n = leader
	}
	return n.m.Summaries()
}

// hear brings a node the newest adverts of its cell, and those its own.
func (c cellNet) hear() {
	n := c.n
	delay := n.w.s.Network.Delay
	if n.isApart() {
		delay += n.there.up + n.w.opt.Attack.Apart - n.w.now
	}
	n.after(delay, talking, func() {
		for _, o := range n.w.nodes {
			if o == n || !o.up || o.m.Cell() != n.m.Cell() {
				continue
			}
			if o.said != nil {
				n.tell(member.Advertised{Advert: o.said})
			}
		}
	})
}

// joined has a node listen in another cell.
func (c cellNet) joined(e member.JoinCell) {
	n := c.n
	if n.m.Coordinator() != nil {
		if e.Cell.Within(e.From) {
			n.w.stats.Divided++
		} else {
			n.w.stats.Joined++
		}
	}
	c.hear()
}

// greetedBy takes in the advert of a node that this one has just been connected with, where
// there are cells: elsewhere everybody has heard it.
func (c cellNet) greetedBy(o *node) {
	n := c.n
	if n.w.opt.Cells.On() && o.said != nil {
		n.tell(member.Advertised{Advert: o.said})
	}
}

// sumUp brings a summary to all that lead when it gets there.
func (c cellNet) sumUp(s overlay.Summary) {
	n := c.n
	w := n.w
	w.queue.add(w.now+w.opt.Gossip, talking, func() {
		for _, o := range w.nodes {
			if o.up && o != n && o.m.Coordinator() != nil {
				w.stats.Summaries++
				o.turn(func() { o.tell(member.Summarised{Of: o.m, Summaries: []overlay.Summary{s}}) })
			}
		}
	})
}

// askCells asks a node about the cells, or some at random.
func (c cellNet) askCells(e member.AskCells) {
	n := c.n
	w := n.w
	if to := w.byID[e.From]; to != nil {
		c.ask(to)
		return
	}
	if to := w.stage.visited(n); to != nil {
		c.ask(to)
	}
	asked := map[*node]bool{n: true}
	for range e.Peers {
		if n.isApart() { // it hears of strangers alone
			return
		}
		if to := w.anybody(); to != nil && !asked[to] {
			asked[to] = true
			c.ask(to)
		}
	}
}

// ask asks another node about the cells.
func (c cellNet) ask(to *node) {
	n := c.n
	if to == n {
		return
	}
	var table []overlay.Summary
	n.request(to, overlay.RenewEvery, func() { table = n.w.tableOf(to) }, func(ok, _ bool) {
		if to.strange {
			table = n.w.stage.cellsOf(to, n)
		}
		if ok {
			n.tell(member.Summarised{Of: n.m, From: to.id, Summaries: table})
		}
	})
}

// greets tells a node of another cell this one's advert, on the way of all that is said to it.
func (c cellNet) greets(e member.Greet) {
	n := c.n
	w := n.w
	to := w.peer(e.To)
	l := n.with(to)
	at := max(w.now+w.delay(), l.heard)
	l.heard = at
	w.queue.add(at, talking, func() {
		if to.up && !to.strange {
			to.turn(func() { to.tell(member.Advertised{Advert: &e.Advert}) })
		}
	})
}
