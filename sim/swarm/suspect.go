package swarm

import (
	"time"

	"godwit/member"
	"godwit/task"
)

// ask carries out an effect that rests on nothing durable.
func (n *node) ask(e member.Effect) {
	switch e := e.(type) {
	case member.Probe:
		n.probe(e.Peer, e.Wait, func(there, refused bool) {
			n.tell(member.Probed{Peer: e.Peer, There: there, Refused: refused})
		})
	case member.ProbeVia:
		n.probeVia(e.Peer, e.Via, e.Wait)
	case member.Ping:
		n.probe(e.Peer, e.Wait, func(there, _ bool) { n.tell(member.Pinged{Peer: e.Peer, There: there}) })
	case member.Cut:
		n.cut(n.w.peer(e.Peer)) // a new connection would have been told, and ended the suspicion
	case member.AskCells:
		cellNet{n}.askCells(e)
	case member.Notice:
		if n.w.opt.Noticed != nil {
			n.w.opt.Noticed(Notice{At: n.w.clock, Node: n.index, Notice: e})
		}
	case member.LeadershipChanged:
		if e.Epoch > 0 {
			n.w.stats.Leaders++
		}
		if e.Takeover {
			n.w.stats.Takeovers++
		}
		n.w.led(n, e.Epoch)
	}
}

func (n *node) probe(peer task.PeerID, wait time.Duration, done func(there, refused bool)) {
	n.request(n.w.peer(peer), wait, func() {}, done)
}

// probeVia has another member ask a peer. An answer that comes with the end of
// the wait is too late: the suspicion's own clock is first.
func (n *node) probeVia(peer, via task.PeerID, wait time.Duration) {
	v := n.w.peer(via)
	life := n.life
	tell := func(there bool) {
		if n.up && n.life == life {
			n.turn(func() { n.tell(member.ProbedVia{Peer: peer, Via: via, There: there}) })
		}
	}
	n.request(v, wait, func() {
		v.probe(peer, wait, func(there, _ bool) {
			n.w.queue.add(n.w.now+n.w.delay(), talking, func() { tell(there) })
		})
	}, func(ok, _ bool) {
		if !ok || v.strange {
			tell(false)
		}
	})
}
