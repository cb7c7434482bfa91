package member

import (
	"slices"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/predictor"
)

// A Peer is a machine with its part in all of its overlays. Make it with New.
type Peer struct {
	cfg     Config
	world   World
	now     time.Time
	effects []Effect
	dos     []Do // memory for the next, a few at once

	members []*Member // by overlay's name, then ID

	suspicion *overlay.Suspicion
	judgeAt   time.Time // when it wants to be ticked; zero for never
	judged    bool      // judgeAt holds
	standing  overlay.Standing
	pooled    time.Time // when the pool was last made
	witness   predictor.Witness
	pasts     pasts

	lent      Lent
	departing time.Time // the known end before which what runs leaves now; zero for none
	shared    bool      // nothing that the division rests on has changed, but for what the world tells
	full      string    // why nothing can be promised now; "" for that it can
	servedAt  time.Time // when the overlays' guests were last counted

	guests int           // as counted last
	count  func(*Member) // adds to guests: made once, as it is asked of each task that begins or ends

	asked overlay.Advert // of whom the world is asked for a forecast: it need not be made anew

	leaveBy   time.Time // when a peer that leaves stops waiting; zero while it stays
	leaveMost time.Time // when it stops waiting for guests that are on their way
}

// New returns a peer that is in no overlay yet. now is the time at which it starts.
func New(cfg Config, now time.Time) *Peer {
	p := &Peer{cfg: cfg, world: cfg.World, now: now, suspicion: overlay.NewSuspicion(cfg.Self)}
	p.count = func(*Member) { p.guests++ }
	return p
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
	p.shared = false
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
	p.shared = false
	p.members = slices.DeleteFunc(p.members, func(o *Member) bool { return o == m })
}

// Standing is how far members' own accounts are believed.
func (p *Peer) Standing() *overlay.Standing { return &p.standing }

// Suspicion is whom the peer takes for gone, or doubts. It is read only.
func (p *Peer) Suspicion() *overlay.Suspicion { return p.suspicion }

// dosPiece is how many a piece of memory for Do has.
const dosPiece = 16

// do returns an effect that nobody else has.
func (p *Peer) do(is Do) *Do {
	if len(p.dos) == 0 {
		p.dos = make([]Do, dosPiece)
	}
	out := &p.dos[0]
	p.dos = p.dos[1:]
	*out = is
	return out
}

func (p *Peer) emit(e Effect) { p.effects = append(p.effects, e) }

func (m *Member) notice(l Level, text string, args ...any) {
	m.p.emit(Notice{Of: m, Level: l, Text: text, Args: args})
}

// countGuests is how many guests run here.
func (p *Peer) countGuests() int {
	p.guests = 0
	p.world.Guests(p.count)
	return p.guests
}
