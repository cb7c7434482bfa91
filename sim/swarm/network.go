package swarm

import (
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// delay draws how long a message takes.
func (w *world) delay() time.Duration {
	d := w.s.Network.Delay
	if w.opt.Jitter > 0 {
		d += time.Duration(w.net.Int64N(int64(w.opt.Jitter) + 1))
	}
	return d
}

func (w *world) isLost() bool { return w.opt.Loss > 0 && w.net.Float64() < w.opt.Loss }

// after does something at a node in a turn of its own, unless it has ended by
// then.
func (n *node) after(d time.Duration, r rank, do func()) {
	life := n.life
	n.w.queue.add(n.w.now+d, r, func() {
		if n.up && n.life == life {
			n.turn(do)
		}
	})
}

// send brings messages of one turn to another node's machines.
func (n *node) send(to *node, messages []message.Message) {
	w := n.w
	w.stats.Messages += uint64(len(messages))
	d := w.letters.letter()
	d.from, d.to, d.messages = n, to, messages
	l := n.with(to)
	d.lost, d.dials = w.isLost(), l.life == 0
	at := max(w.now+w.delay(), l.heard)
	l.heard = at
	w.queue.add(at, talking, d.arrives)
}

// A letter is messages on their way from one node to another.
type letter struct {
	from, to    *node
	messages    []message.Message
	lost, dials bool
	said        member.Said // by which its messages are told
	arrives     func()      // what happens then: made once, as letters are used again
}

// arrive has the receiver's machines hear the messages, if it is up. Then the letter may be another.
func (l *letter) arrive() {
	from, to := l.from, l.to
	if !l.lost && to.up {
		if l.dials {
			from.link(to)
		}
		if to.strange {
			to.w.stage.overhear(to, from, l.messages)
		} else {
			to.turn(func() { to.hear(from, l.messages, &l.said) })
		}
	}
	from.w.letters.back(l)
}

// hear tells the node's machines messages of a node, each by said.
func (n *node) hear(from *node, messages []message.Message, said *member.Said) {
	for i := range messages {
		*said = member.Said{Of: n.m, From: from.id, Message: &messages[i]}
		n.tell(said)
	}
}

// spread brings an advert to all of a cell that are up when it gets there.
func (n *node) spread(a overlay.Advert, cell overlay.Cell) {
	w := n.w
	ev := member.Advertised{Advert: &a}
	n.said = &a
	w.queue.add(w.now+w.opt.Gossip, talking, func() {
		for _, o := range w.nodes {
			if o.up && o != n && o.m.Cell() == cell && !o.isApart() && !n.isApart() {
				w.stats.Adverts++
				o.turn(func() { o.tell(ev) })
			}
		}
	})
}

// connect joins a node that came up with all that are.
func (n *node) connect() {
	if n.w.opt.Cells.On() {
		cellNet{n}.hear()
		return
	}
	n.after(n.w.s.Network.Delay, talking, func() {
		for _, o := range n.w.nodes {
			if o == n || !o.up {
				continue
			}
			n.with(o).life, o.with(n).life = o.life, n.life
			n.connected(o.id)
			if a := o.m.Advertised(); a.Seq > 0 {
				n.tell(member.Advertised{Advert: &a})
			}
			o.turn(func() { o.connected(n.id) })
		}
	})
}

func (n *node) connected(peer task.PeerID) { n.tell(member.Connected{Peer: peer}) }

// disconnect has the others' connections to a node that ended break.
func (n *node) disconnect(after time.Duration) {
	w, life := n.w, n.life
	w.queue.add(w.now+after, talking, func() {
		for _, o := range w.nodes {
			if o.up && o.linked(n) == life {
				o.with(n).life = 0
				o.turn(func() { o.tell(member.Disconnected{Peer: n.id}) })
			}
		}
	})
}

// link connects a node with another that it has dialled, where the dial arrives:
// there at once, here when the answer is back.
func (n *node) link(to *node) {
	w := n.w
	life, toLife := n.life, to.life
	switch {
	case !n.up:
		return
	case n.strange || to.strange:
		n.linkStranger(to)
		return
	}
	to.with(n).life = life
	to.turn(func() {
		to.connected(n.id)
		cellNet{to}.greetedBy(n)
	})
	n.after(w.delay(), talking, func() {
		if to.up && to.life == toLife {
			n.with(to).life = toLife
			n.connected(to.id)
			cellNet{n}.greetedBy(to)
		}
	})
}

// cut closes the connection to a member that is lost. One that is there after
// all hears of it, and dials anew when it looks who is there.
func (n *node) cut(to *node) {
	if n.linked(to) == 0 {
		return
	}
	n.with(to).life = 0
	if to.strange {
		to.with(n).life = 0
		return
	}
	life := n.life
	to.after(n.w.delay(), talking, func() {
		if to.linked(n) == life {
			to.with(n).life = 0
			to.tell(member.Disconnected{Peer: n.id})
		}
	})
}
