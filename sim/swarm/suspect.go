package swarm

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// pingTimeout is how long a new leader has to answer before it is doubted, as of
// a live node.
const pingTimeout = 2 * time.Second

// judge carries out what the suspicion asks for.
func (n *node) judge(effects []overlay.SuspicionEffect) {
	n.judgeAgain = true
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.Probe:
			n.probe(e.Peer, e.Wait, func(there, refused bool) {
				if there {
					n.judge(n.suspicion.Answered(e.Peer, n.w.clock))
					return
				}
				n.judge(n.suspicion.Failed(e.Peer, refused, n.w.clock))
			})
		case overlay.AskVia:
			for _, via := range e.Via {
				n.probeVia(e.Peer, via, e.Wait)
			}
		case overlay.Alive:
			n.returned(e.Peer)
		case overlay.DeclareLost:
			n.lost(e.Peer, e.Reason) // a new connection would have been told, and ended the suspicion
			n.cut(n.w.byID[e.Peer])
		}
	}
}

func (n *node) probe(peer task.PeerID, wait time.Duration, done func(there, refused bool)) {
	n.request(n.w.byID[peer], wait, func() {}, done)
}

// probeVia has another member ask a peer. An answer that comes with the end of
// the wait is too late: the suspicion's own clock is first.
func (n *node) probeVia(peer, via task.PeerID, wait time.Duration) {
	v := n.w.byID[via]
	life := n.life
	tell := func(there bool) {
		if n.up && n.life == life {
			n.turn(func() { n.judge(n.suspicion.Relayed(peer, via, there, n.w.clock)) })
		}
	}
	n.request(v, wait, func() {
		v.probe(peer, wait, func(there, _ bool) {
			n.w.queue.add(n.w.now+n.w.delay(), talking, func() { tell(there) })
		})
	}, func(ok, _ bool) {
		if !ok {
			tell(false)
		}
	})
}

// checkThere asks a peer that is said to lead whether it is there at all.
func (n *node) checkThere(peer task.PeerID) {
	if peer == n.id {
		return
	}
	n.probe(peer, pingTimeout, func(there, _ bool) {
		if !there {
			n.doubt(peer, "requests to it fail")
		}
	})
}

// doubt has it found out whether a peer is still there. Those connected may be
// asked to help.
func (n *node) doubt(peer task.PeerID, why string) {
	if _, member := n.view.Member(peer); !member {
		return
	}
	var helpers []task.PeerID
	for i, life := range n.linked {
		if life != 0 {
			helpers = append(helpers, n.w.nodes[i].id)
		}
	}
	n.suspicion.Helpers(helpers)
	n.catchUp()
	n.suspicion.Strained(n.lease.Strain())
	n.judge(n.suspicion.Broke(peer, why, n.w.clock))
}
