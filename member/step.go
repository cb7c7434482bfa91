package member

import "time"

// Step tells the peer what happened. It does not keep ev; the effects hold until the
// next call.
func (p *Peer) Step(now time.Time, ev Event) []Effect {
	return p.At(now, func() { p.take(ev) })
}

// At does something with the peer or its members at a time, and returns the effects,
// as Step does. Methods that change anything are called in it, or in a Step.
func (p *Peer) At(now time.Time, do func()) []Effect {
	p.now, p.effects = now, p.effects[:0]
	do()
	return p.effects
}

func (p *Peer) take(ev Event) {
	switch ev := ev.(type) {
	case Wake:
		p.wake()
	case Advertised:
		if m := p.Member(ev.Advert.Overlay); m != nil {
			m.seen(ev.Advert)
		}
	case Summarised:
		ev.Of.summarised(&ev)
	case Connected:
		p.connected(ev.Peer)
	case Disconnected:
		p.doubt(ev.Peer, "its connection broke")
	case Trimmed:
		p.trimmed(ev.Peer)
	case *Said:
		ev.Of.received(ev.From, ev.Message)
	case LeaseSaid:
		ev.Of.hear(ev.From, ev.Lease)
	case LeaseTaken:
		ev.Of.leaseTaken(&ev)
	case Answered:
		ev.Of.step(ev.To, ev.Event)
	case Outrun:
		ev.Of.outrun(ev.From, ev.Epoch)
	case Probed, ProbedVia, Pinged:
		p.answered(ev)
	case Lent:
		p.lend(ev)
	}
}

// wake does what time has made due.
func (p *Peer) wake() {
	p.departIfDue()
	if !p.judged || !p.judgeAt.IsZero() && !p.judgeAt.After(p.now) {
		p.judge(p.suspicion.Tick(p.now))
	}
	for _, m := range p.members {
		m.wake()
	}
}

// NextWake says when time alone will make the peer do something. leaves says that
// guests here are on their way to other members, or being saved.
func (p *Peer) NextWake(leaves bool) (next time.Time, ok bool) {
	var first soonest
	if !p.judged { // it looks at all members
		p.judgeAt, _ = p.suspicion.Next()
		p.judged = true
	}
	first.by(p.judgeAt, !p.judgeAt.IsZero())
	p.nextGoodbye(leaves, &first)
	if p.departing.IsZero() {
		at := p.departure()
		first.by(at, !at.IsZero())
	}
	for _, m := range p.members {
		m.nextWake(&first)
	}
	return first.at, !first.at.IsZero()
}

// A soonest is the first of some times; the zero value of none.
type soonest struct{ at time.Time }

// by takes in a time at which there is something to do, if ok.
func (s *soonest) by(at time.Time, ok bool) {
	if ok && (s.at.IsZero() || at.Before(s.at)) {
		s.at = at
	}
}
