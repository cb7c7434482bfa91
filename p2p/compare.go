package p2p

import (
	"bufio"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/p2p/wire"
	"godwit/task"
)

const (
	// comparesAtOnce is how many comparisons a neighbour may have answered in compareEvery: those of
	// two connections that begin, and of one that goes on.
	comparesAtOnce = 3
	compareEvery   = 10 * time.Second
	// restless is the time, on average, from a comparison that told something new to the next.
	restless = 8 * time.Second
	// maxRest is the most time, on average, between two: a node that again and again is told much that is
	// of no use to it, as when its rules are newer than its neighbours', asks less often.
	maxRest = 8 * time.Minute
	// muchTold is how many adverts that are of no use are much.
	muchTold = 4 * shelfMembers
)

// neighbourCompares is what a neighbour may ask for: each answer is 120 kB at most.
var neighbourCompares = allowance{burst: comparesAtOnce, perSecond: comparesAtOnce / compareEvery.Seconds()}

// A gain is what came of a comparison: adverts that were new here, and those that were told in all.
type gain struct{ new, told int }

// compare asks a neighbour for adverts of members that it knows and this node does not. It reports false
// when nothing was asked: the neighbour is gone, or from before there were comparisons.
func (g *greeter) compare(ctx context.Context, p peer.ID) (gain, bool) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	s, stop, err := g.openStream(network.WithNoDial(ctx, "comparison"), p, ProtocolCompare)
	if err != nil {
		return gain{}, false
	}
	defer stop()
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	salt := rand.Uint64()
	if err := writeHello(s, [][]byte{encodeLists(salt, g.adverts.lists(salt, time.Now()))}); err != nil {
		s.Reset()
		return gain{}, false
	}
	_ = s.CloseWrite()
	var got gain
	g.endHello(s, readHello(bufio.NewReaderSize(s, 8<<10), func(b []byte) error {
		learned, err := g.take(b, p)
		if got.told++; learned {
			got.new++
		}
		return err
	}))
	return got, true
}

// receiveCompare answers a neighbour that compares: with adverts of those shelves that are not the same here.
func (g *greeter) receiveCompare(_ context.Context, s network.Stream) {
	now := time.Now()
	_ = s.SetDeadline(now.Add(helloTimeout))
	from := s.Conn().RemotePeer()
	if g.adverts.score(from) < scoreGraylist || !g.mayCompare(from, now) {
		s.Reset()
		return
	}
	b, err := wire.ReadFrame(bufio.NewReader(s), maxLists, nil)
	if err != nil {
		g.breakHello(s, err)
		return
	}
	salt, lists, err := decodeLists(b)
	if err != nil {
		g.adverts.accuse(from, blameInvalid, now)
		s.Reset()
		return
	}
	differing := g.adverts.differing(from, salt, lists, g.telling(from), now)
	if err := writeHello(s, differing); err != nil {
		s.Reset()
		return
	}
	s.Close()
}

// mayCompare reports whether a neighbour has comparisons left, and takes one.
func (g *greeter) mayCompare(p peer.ID, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, have := g.compared[p]
	if !have && len(g.compared) >= maxBlamed {
		forgetBuckets(g.compared, func(b bucket) float64 { return neighbourCompares.missing(b, now) })
	}
	ok := neighbourCompares.take(&b, now)
	g.compared[p] = b
	return ok
}

// lists are this node's, of all its overlays.
func (as *adverts) lists(salt uint64, now time.Time) (all []list) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, m := range as.joined {
		l := newList(m.ID, m.told.cell.Bits, len(m.known))
		l.add(salt, overlay.CellNumber(m.ID, as.id))
		for _, k := range m.known {
			if k.Expires.After(now) && m.told.cell.Holds(k.number) {
				l.add(salt, k.number)
			}
		}
		all = append(all, l)
	}
	return all
}

// differing returns adverts of members on the shelves that differ from a neighbour's, at most most of them: half of
// these of who was heard of first, for a flood of names is younger than the swarm, the others at random. A neighbour
// whose cell is divided otherwise than ours is told a few at random, as in a reminder: the lists of the two say
// nothing of each other.
func (as *adverts) differing(to peer.ID, salt uint64, lists []list, most int, now time.Time) [][]byte {
	name := task.PeerID(to.String())
	var out []shelved
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, l := range lists {
		m := as.joined[l.overlay]
		if m == nil || !m.tells(name, now) {
			continue
		}
		of := overlay.CellOf(overlay.CellNumber(m.ID, name), l.bits)
		if l.bits != m.told.cell.Bits {
			for _, b := range m.some(of, min(reminders, most), now) {
				out = append(out, shelved{bytes: b})
			}
			continue
		}
		out = append(out, m.differing(as.id, l, of, salt, now)...)
	}
	return chosen(out, most)
}

// A shelved advert is one that a neighbour may not have, of a member that was first heard of then; the zero
// time is before all.
type shelved struct {
	since time.Time
	bytes []byte
}

// chosen returns at most most adverts: half of the members heard of first, and of the others any.
func chosen(of []shelved, most int) (out [][]byte) {
	if len(of) > most {
		slices.SortFunc(of, func(a, b shelved) int { return a.since.Compare(b.since) })
		rest := of[most/2:]
		rand.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		of = of[:most]
	}
	for _, s := range of {
		out = append(out, s.bytes)
	}
	return out
}

// differing returns the adverts, our own among them, on the shelves that differ from those of a list.
// adverts.mu is held.
func (m *membership) differing(self task.PeerID, l list, of overlay.Cell, salt uint64, now time.Time) (out []shelved) {
	ours := list{l.overlay, l.bits, make([]uint32, len(l.digests))}
	own := overlay.CellNumber(m.ID, self)
	if m.own != nil && of.Holds(own) {
		ours.add(salt, own)
	}
	m.each(of, now, func(k *known) { ours.add(salt, k.number) })
	if i := ours.shelf(own); m.own != nil && of.Holds(own) && ours.digests[i] != l.digests[i] {
		out = append(out, shelved{bytes: m.own})
	}
	m.each(of, now, func(k *known) {
		if i := ours.shelf(k.number); ours.digests[i] != l.digests[i] {
			out = append(out, shelved{k.since, k.bytes})
		}
	})
	return out
}

// each calls f with the members of a cell whose adverts have not expired. adverts.mu is held.
func (m *membership) each(of overlay.Cell, now time.Time, f func(*known)) {
	for _, k := range m.known {
		if k.Expires.After(now) && of.Holds(k.number) {
			f(&k)
		}
	}
}

// some returns the adverts of some members of a cell, at random. adverts.mu is held.
func (m *membership) some(of overlay.Cell, n int, now time.Time) (out [][]byte) {
	m.each(of, now, func(k *known) { out = append(out, k.bytes) })
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

// rest is how long to wait after a comparison, on average, when the last wait was so long.
func (got gain) rest(last time.Duration) time.Duration {
	switch {
	case got.new > 0:
		return restless
	case got.told > muchTold:
		return min(max(2*last, remindEvery), maxRest)
	}
	return remindEvery
}

// remind tells a neighbour at random, from time to time, our advert, and is told what that one knows and
// we do not, until ctx ends. Gossip repairs what it knows to be missing; this finds what everybody takes
// for told. A node that has found something looks again soon.
func (g *greeter) remind(ctx context.Context) {
	wait := remindEvery
	for pause.For(ctx, jitter(wait)) == nil {
		peers := g.net.Network().Peers()
		if len(peers) == 0 {
			continue
		}
		p := peers[rand.IntN(len(peers))]
		g.hello(ctx, p, g.adverts.sample(p, 0, time.Now()))
		got, ok := g.compare(ctx, p)
		if !ok {
			g.hello(ctx, p, g.adverts.sample(p, reminders, time.Now()))
		}
		wait = got.rest(wait)
	}
}

// tell tells a peer that has just connected our advert, and is told those that it knows and we do not. It
// does the same, so that it need not be told ours. One from before there were comparisons is told.
func (g *greeter) tell(ctx context.Context, p peer.ID) {
	g.hello(ctx, p, g.adverts.sample(p, 0, time.Now()))
	if _, ok := g.compare(ctx, p); !ok {
		g.hello(ctx, p, g.adverts.sample(p, g.telling(p), time.Now()))
	}
}
