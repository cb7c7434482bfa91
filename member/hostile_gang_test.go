package member

import (
	"math/rand/v2"
	"slices"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A gang is the one to three hostile members of a swarm. It implements outside.
type gang struct {
	s       *swarm
	rng     *rand.Rand
	members []*hostile
	jobs    []*honestJob
	up      bool   // the hostile members are still there
	found   string // first violation; "" if there is none
	oracle
}

func newGang(s *swarm, rng *rand.Rand, of []part) *gang {
	g := &gang{s: s, rng: rng, up: true, oracle: newOracle()}
	for _, p := range of {
		h := newHostile(g, p)
		g.members = append(g.members, h)
		for _, id := range h.g.ids {
			g.known[id] = true
		}
	}
	s.outside = g
	return g
}

// is reports whether a peer belongs to the gang.
func (g *gang) is(peer task.PeerID) bool { return g.of(peer) != nil }

// of returns the member with a peer's key; nil if there is none.
func (g *gang) of(peer task.PeerID) *hostile {
	i := slices.IndexFunc(g.members, func(h *hostile) bool { return h.is(peer) })
	if i < 0 {
		return nil
	}
	return g.members[i]
}

// any returns a random member.
func (g *gang) any() *hostile { return g.members[g.rng.IntN(len(g.members))] }

// ids returns the peer IDs of all keys.
func (g *gang) ids() (out []task.PeerID) {
	for _, h := range g.members {
		out = append(out, h.g.ids...)
	}
	return out
}

// anyJob returns a random honest job whose owner is up; nil if it was canceled.
func (g *gang) anyJob() *honestJob {
	if len(g.jobs) == 0 {
		return nil
	}
	if j := g.jobs[g.rng.IntN(len(g.jobs))]; j.owner.up && !j.cancelled {
		return j
	}
	return nil
}

// there implements outside, and so do the next methods.
func (g *gang) there(peer task.PeerID) bool { return g.up && g.is(peer) }

// said passes a message as a frame, which hostile members read.
func (g *gang) said(from, to task.PeerID, m message.Message) message.Message {
	frame, err := message.EncodeFrame([]message.Message{m})
	if err != nil {
		g.wrong("an honest member makes a message that cannot be sent: " + err.Error())
		return m
	}
	out, err := message.DecodeFrame(frame)
	if err != nil {
		g.wrong("an honest member sends a message that cannot be read: " + err.Error())
		return m
	}
	g.note(from, to, &out[0])
	if g.up {
		for _, h := range g.members {
			h.hears(from, to, frame, &out[0])
		}
	}
	return out[0]
}

func (g *gang) offered(_, to task.PeerID, l Lease) {
	for _, h := range g.members {
		h.offered(to, l)
	}
}

func (g *gang) gossiped(a *overlay.Advert) {
	for _, h := range g.members {
		h.gossiped(a)
	}
}

// wrong records the first violation.
func (g *gang) wrong(what string) {
	if g.found == "" {
		g.found = what
	}
}
