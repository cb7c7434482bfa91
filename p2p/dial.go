package p2p

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

const (
	// wantPeers is how many connections the host seeks by itself; as many again
	// come from others. Gossip needs 3: the rest survives the loss of half of them
	// between two rounds, and costs 0.7 MB a day each to keep alive.
	wantPeers = 8

	firstBackoff     = 500 * time.Millisecond
	bootstrapBackoff = 30 * time.Second // a bootstrap peer that returns is found within it
	memberBackoff    = 5 * time.Minute  // members that are gone soon expire anyway
	dialTimeout      = 10 * time.Second
	dialsAtOnce      = 4

	// trimmedRest is how long a bootstrap peer that has too many connections is left alone by a
	// node that has neighbours enough: it takes newcomers meanwhile.
	trimmedRest = 15 * time.Minute
	lookAgain   = 30 * time.Second
)

// A dialer keeps the host connected: always to the bootstrap peers, and to some
// of the members it knows, without a relay: those are to gossip with. One goroutine owns its state.
type dialer struct {
	*endpoint
	adverts *adverts
	seeds   *seeds
	tries   map[peer.ID]*try
	busy    int
	wake    chan struct{} // holds at most one token
	ended   chan outcome

	elsewhere time.Time // when to look for members that the neighbours do not know

	mu    sync.Mutex
	rests map[peer.ID]time.Time // bootstrap peers that have too many connections, and until when they are left alone
}

// A try remembers how often a peer could not be reached.
type try struct {
	fails   int
	next    time.Time
	dialing bool
}

type outcome struct {
	peer peer.ID
	by   way
	err  error
}

func newDialer(ep *endpoint, as *adverts, from *seeds) *dialer {
	d := &dialer{
		endpoint: ep, adverts: as, seeds: from, tries: map[peer.ID]*try{},
		wake: make(chan struct{}, 1), ended: make(chan outcome, seedDials), rests: map[peer.ID]time.Time{},
		elsewhere: time.Now().Add(jitter(lookElsewhere)),
	}
	ep.named.remove(ep.net.ID())
	for _, info := range ep.set.bootstrap {
		if info.ID != ep.net.ID() {
			d.hold(info)
		}
	}
	d.seeds.recall(infosOf(ep.set.Met))
	return d
}

// poke makes run look again: a peer came, left or was heard of.
func (d *dialer) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *dialer) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-d.wake:
		case o := <-d.ended:
			d.busy--
			d.note(o, time.Now())
		case <-ctx.Done():
			return
		}
		timer.Reset(d.round(time.Now()))
	}
}

// round dials who is due and returns how long until it should look again.
func (d *dialer) round(now time.Time) time.Duration {
	wait := lookAgain
	due := func(p peer.ID, by way) {
		if by == asMember && d.direct(p) || by != asMember && d.connected(p) {
			return
		}
		t := d.tries[p]
		if t == nil {
			t = &try{}
			d.tries[p] = t
		}
		switch {
		case t.dialing:
		case t.next.After(now):
			wait = min(wait, t.next.Sub(now))
		case d.busy < d.mayDial():
			d.dial(p, by, t)
		}
	}
	alone := d.neighbours() < wantPeers
	for _, p := range d.named.ids() {
		if left := d.resting(p, now); left > 0 && !alone {
			wait = min(wait, left)
			continue
		}
		due(p, asNamed)
	}
	for _, p := range d.someMembers(now) {
		due(p, asMember)
	}
	d.seed(now, func(p peer.ID) { due(p, asSeed) })
	return wait
}

// A way is why a peer is dialled: members without a relay, others by whatever leads to them.
type way int

const (
	asMember way = iota
	asNamed
	asSeed
)

// rest leaves a bootstrap peer alone for a while: it closed the connection for having too many.
func (d *dialer) rest(p peer.ID, now time.Time) {
	if d.named.has(p) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.rests[p] = now.Add(jitter(trimmedRest))
	}
}

// resting is how long a bootstrap peer is still to be left alone.
func (d *dialer) resting(p peer.ID, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rests[p].Sub(now)
}

// someMembers returns as many members, at random, as there are connections
// missing; of a network that has its part of the neighbours only where there are no others.
func (d *dialer) someMembers(now time.Time) []peer.ID {
	missing := wantPeers - d.neighbours()
	if missing <= 0 || d.busy >= dialsAtOnce {
		return nil
	}
	ids := d.adverts.members(now)
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	crowd := d.crowd()
	var some, crowded []peer.ID
	for _, id := range ids {
		if len(some) == missing {
			break
		}
		p, err := peer.Decode(string(id))
		switch {
		case err != nil || d.named.has(p) || d.direct(p):
		case crowd.lets(d.net.Peerstore().Addrs(p)):
			some = append(some, p)
		default:
			crowded = append(crowded, p)
		}
	}
	some = append(some, crowded[:min(len(crowded), missing-len(some))]...)
	d.forget(now)
	return some
}

// forget drops what is remembered of peers not tried for long.
func (d *dialer) forget(now time.Time) {
	for p, t := range d.tries {
		if !d.named.has(p) && d.seeds.of(p) == nil && !t.dialing && now.Sub(t.next) > memberBackoff {
			delete(d.tries, p)
		}
	}
}

func (d *dialer) dial(p peer.ID, by way, t *try) {
	d.busy++
	t.dialing = true
	limit, where := dialTimeout, peer.AddrInfo{ID: p}
	if by == asSeed {
		where.Addrs = d.seeds.of(p)
		if d.neighbours() == 0 {
			limit = seedTimeout
		}
	}
	d.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if s, ok := d.net.Network().(*swarm.Swarm); ok {
			s.Backoff().Clear(p) // ours takes its place
		}
		if by == asMember {
			ctx = network.WithForceDirectDial(ctx, "neighbour")
		} else {
			ctx = allowRelayed(ctx)
		}
		d.ended <- outcome{p, by, d.net.Connect(ctx, where)}
	})
}

// note sets when to try a peer again: sooner a bootstrap peer than another,
// never two nodes in step.
func (d *dialer) note(o outcome, now time.Time) {
	t := d.tries[o.peer]
	t.dialing = false
	d.noteNamed(o, now)
	if o.err == nil {
		t.fails, t.next = 0, now.Add(jitter(firstBackoff))
		return
	}
	limit := memberBackoff
	switch {
	case o.by == asNamed:
		limit = bootstrapBackoff
	case o.by == asSeed && d.neighbours() > 0:
		limit = seedBackoff
	}
	t.next = now.Add(jitter(min(firstBackoff<<min(t.fails, 16), limit)))
	t.fails++
}

// noteNamed tells the owner of a peer that was named and cannot be reached, and of one that can
// be again.
func (d *dialer) noteNamed(o outcome, now time.Time) {
	x, tell := d.named.tried(o.peer, o.err, now)
	switch {
	case !tell:
	case o.err != nil:
		d.set.Log.Warn("a peer that this node was told of is not reached", "peer", o.peer, "why", x.Why)
	default:
		d.set.Log.Info("a peer that this node was told of is reached", "peer", o.peer)
	}
}
