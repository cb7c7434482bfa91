package member

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// pingWait is how long a new leader has to answer before it is doubted.
const pingWait = 2 * time.Second

// judge carries out what the suspicion asks for.
func (p *Peer) judge(effects []overlay.SuspicionEffect) {
	p.judged = false
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.Probe:
			p.emit(Probe{Peer: e.Peer, Wait: e.Wait})
		case overlay.AskVia:
			for _, via := range e.Via {
				p.emit(ProbeVia{Peer: e.Peer, Via: via, Wait: e.Wait})
			}
		case overlay.Alive:
			p.returned(e.Peer)
		case overlay.DeclareLost:
			for _, m := range p.members {
				m.lost(e.Peer, e.Reason)
			}
			// A silent machine's connection may be open for half a minute yet.
			p.emit(Cut{Peer: e.Peer, Age: p.now.Sub(e.Probed)})
		}
	}
}

// answered takes in what came of asking whether a peer is there.
func (p *Peer) answered(ev Event) {
	switch ev := ev.(type) {
	case Probed:
		if ev.There {
			p.judge(p.suspicion.Answered(ev.Peer, p.now))
			return
		}
		p.judge(p.suspicion.Failed(ev.Peer, ev.Refused, p.now))
	case ProbedVia:
		p.judge(p.suspicion.Relayed(ev.Peer, ev.Via, ev.There, p.now))
	case Pinged:
		if !ev.There {
			p.doubt(ev.Peer, "requests to it fail")
		}
	}
}

// connected brings back a member that was lost; any other counts once its advert is
// seen.
func (p *Peer) connected(peer task.PeerID) {
	for _, m := range p.members { // what was said over the last connection may have been lost with it
		delete(m.greeted, peer)
	}
	p.judge(p.suspicion.Connected(peer, p.now))
	p.returned(peer)
}

// trimmed takes in that the connection to a peer was one too many. Who says so is there, and need
// not be found out about; but what a leader has given it is not to hang on its word.
func (p *Peer) trimmed(peer task.PeerID) {
	for _, m := range p.members {
		if m.coordinator != nil && m.coordinator.Holds(peer) {
			p.doubt(peer, "it closed its connection")
			return
		}
	}
}

func (p *Peer) returned(peer task.PeerID) {
	for _, m := range p.members {
		m.returned(peer)
	}
}

// Knows reports whether a peer is a member of an overlay here, or was not long ago,
// and which overlays those are is for admits to say: nil admits all.
func (p *Peer) Knows(peer task.PeerID, admits func(*Member) bool) bool {
	for _, m := range p.members {
		_, here := m.view.Member(peer)
		_, away := m.away[peer]
		if (here || away) && (admits == nil || admits(m)) {
			return true
		}
	}
	return false
}

// doubt has it found out whether a peer is still there. Those connected may be asked
// to help.
func (p *Peer) doubt(peer task.PeerID, why string) {
	member := false
	for _, m := range p.members {
		_, here := m.view.Member(peer)
		member = member || here
	}
	if !member {
		return // nobody relies on it
	}
	p.suspicion.Helpers(p.world.Neighbours())
	strain, lag := 0, time.Duration(0)
	for _, m := range p.members {
		m.catchUp()
		strain, lag = max(strain, m.lease.Strain()), max(lag, m.lease.Lag())
	}
	p.suspicion.Strained(strain)
	p.suspicion.Lagged(lag)
	p.judge(p.suspicion.Broke(peer, why, p.now))
}
