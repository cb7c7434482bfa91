package member

import (
	"slices"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Peer is a machine with its part in all of its overlays. Make it with New.
type Peer struct {
	cfg     Config
	world   World
	now     time.Time
	effects []Effect

	members []*Member // by overlay's name, then ID

	suspicion *overlay.Suspicion
	judgeAt   time.Time // when it wants to be ticked; zero for never
	judged    bool      // judgeAt holds
	standing  overlay.Standing
	pooled    time.Time // when the pool was last made

	lent     Lent
	full     string    // why nothing can be promised now; "" for that it can
	servedAt time.Time // when the overlays' guests were last counted

	leaveBy   time.Time // when a peer that leaves stops waiting; zero while it stays
	leaveMost time.Time // when it stops waiting for guests that are on their way
}

// New returns a peer that is in no overlay yet. now is the time at which it starts.
func New(cfg Config, now time.Time) *Peer {
	return &Peer{cfg: cfg, world: cfg.World, now: now, suspicion: overlay.NewSuspicion(cfg.Self)}
}

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
			m.seen(&ev.Advert)
		}
	case Connected:
		p.connected(ev.Peer)
	case Disconnected:
		p.doubt(ev.Peer, "its connection broke")
	case Said:
		ev.Of.received(ev.From, ev.Message)
	case LeaseSaid:
		ev.Of.hear(ev.From, ev.Lease)
	case LeaseTaken:
		ev.Of.leaseTaken(&ev)
	case Answered:
		ev.Of.step(ev.To, ev.Event)
	case Outrun:
		ev.Of.outrun(ev.Epoch)
	case Probed, ProbedVia, Pinged:
		p.answered(ev)
	case Lent:
		p.lend(ev)
	}
}

// wake does what time has made due.
func (p *Peer) wake() {
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
	sooner := func(at time.Time, ok bool) {
		if ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if !p.judged { // it looks at all members
		p.judgeAt, _ = p.suspicion.Next()
		p.judged = true
	}
	sooner(p.judgeAt, !p.judgeAt.IsZero())
	p.nextGoodbye(leaves, sooner)
	for _, m := range p.members {
		m.nextWake(sooner)
	}
	return next, !next.IsZero()
}

// Member returns the part in an overlay; nil for none.
func (p *Peer) Member(id overlay.ID) *Member {
	for _, m := range p.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// Members returns the parts in all overlays, by their names. It is read only.
func (p *Peer) Members() []*Member { return p.members }

// Enter takes up a member that was made with NewMember, and Exit ends its part.
func (p *Peer) Enter(m *Member) {
	p.members = append(p.members, m)
	slices.SortFunc(p.members, func(a, b *Member) int {
		if c := strings.Compare(a.manifest.Name, b.manifest.Name); c != 0 {
			return c
		}
		return strings.Compare(string(a.id), string(b.id))
	})
}

// Exit ends a member's part: it is told nothing any more.
func (p *Peer) Exit(m *Member) {
	p.members = slices.DeleteFunc(p.members, func(o *Member) bool { return o == m })
}

// Standing is how far members' own accounts are believed.
func (p *Peer) Standing() *overlay.Standing { return &p.standing }

// Suspicion is whom the peer takes for gone, or doubts. It is read only.
func (p *Peer) Suspicion() *overlay.Suspicion { return p.suspicion }

// poolEvery is how often what is known of hosts at large is summed up again from the
// members' records.
const poolEvery = 15 * time.Minute

// RefreshPool sums up the members' records again when the sum is old, and reports
// when it was made.
func (p *Peer) RefreshPool(now time.Time) time.Time {
	if !p.pooled.IsZero() && now.Sub(p.pooled) < poolEvery {
		return p.pooled
	}
	p.pooled = now
	var records []predictor.Record
	counted := map[task.PeerID]bool{}
	for _, m := range p.members {
		for _, a := range m.view.Members() {
			var r predictor.Record
			if !counted[a.Peer] && r.UnmarshalBinary(a.Record) == nil {
				counted[a.Peer] = true
				records = append(records, r)
			}
		}
	}
	p.cfg.Pool.Renew(records)
	return now
}

// OthersWork reports whether another member of any overlay takes tasks.
func (p *Peer) OthersWork() bool {
	return slices.ContainsFunc(p.members, func(m *Member) bool {
		return slices.ContainsFunc(m.view.Members(), func(a overlay.Advert) bool {
			return a.Peer != p.cfg.Self && a.State == overlay.Available && a.Slots > 0
		})
	})
}

// lend obeys the owner.
func (p *Peer) lend(l Lent) {
	before := p.lent
	p.lent = l
	p.shareOut()
	if l.State == before.State {
		return
	}
	for _, m := range p.members {
		m.regroupSoon()
		m.AdvertiseSoon()
	}
}

// Lent returns what the owner lends, as the peer last heard.
func (p *Peer) Lent() message.OwnerState { return p.lent.State }

// DiskFull has the peer promise nothing, for a reason that others are told, and leave
// leading to others, until RoomAgain.
func (p *Peer) DiskFull(reason string) {
	p.full = reason
	for _, m := range p.members {
		m.obey(m.lease.Yield(p.now))
	}
	p.shareOut()
}

// RoomAgain takes back DiskFull.
func (p *Peer) RoomAgain() {
	p.full = ""
	for _, m := range p.members {
		m.regroupSoon()
	}
}

func (p *Peer) emit(e Effect) { p.effects = append(p.effects, e) }

func (m *Member) notice(l Level, text string, args ...any) {
	m.p.emit(Notice{Of: m, Level: l, Text: text, Args: args})
}
