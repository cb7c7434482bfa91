package p2p

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// claimsHeard is the number of leaders per cell whose newest summaries are remembered, so that each summary is
	// relayed once. Members store overlay.MaxClaims of them.
	claimsHeard = 2 * overlay.MaxClaims
	// waitingSummaries are checked, and not yet told.
	waitingSummaries = 256
)

// neighbourSummaries is what one neighbour may bring: all of 1,024 cells' leaders at once, then what these
// say at most when all of them say it each SummaryGap, by half of the neighbours. A signature takes 70
// microseconds to look at.
var neighbourSummaries = allowance{burst: 1 << overlay.MaxCellBits, perSecond: 50}

// A circle is what is remembered of an overlay's summaries. adverts.mu guards it, except for the reader.
type circle struct {
	issued map[overlay.Cell]map[task.PeerID]time.Time // when each leader's newest was issued; claimsHeard per cell
	purses budget                                     // of neighbours

	reading sync.Mutex // guards reader
	reader  overlay.SummaryReader
}

// open opens a summary.
func (c *circle) open(b []byte, now time.Time) (overlay.Summary, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	return c.reader.Open(b, now)
}

// SaySummary tells the leaders of all cells what this node, which leads one, says of it. From the first on
// it listens to theirs, until it says that it leads no more. It returns ErrNotJoined for an overlay that the
// host is not in.
func (ov *overlays) SaySummary(s overlay.Summary) error {
	b, err := s.Encode()
	if err != nil {
		return err
	}
	ov.joining.Lock()
	defer ov.joining.Unlock()
	m := ov.adverts.member(s.Overlay)
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, s.Overlay)
	}
	leads := s.Members > 0
	if m.summaries == nil {
		if !leads {
			return nil
		}
		if m.summaries, err = ov.gossip.listen(m); err != nil {
			return fmt.Errorf("p2p: hearing of the cells of overlay %s: %w", s.Overlay, err)
		}
	}
	err = m.summaries.topic.Publish(ov.life, b)
	if !leads {
		err = errors.Join(err, ov.gossip.leave(m.summaries))
		m.summaries = nil
	}
	return err
}

// listen joins the topic of those who lead cells of an overlay.
func (g *gossip) listen(m *membership) (*channel, error) {
	c, err := g.subscribe(summariesOf(m.ID), func(_ context.Context, from peer.ID,
		msg *pubsub.Message) pubsub.ValidationResult {
		return g.validateSummary(m, from, msg, time.Now())
	}, waitingSummaries)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(g.life)
	c.stop = stop
	if !g.spawn(func(context.Context) { g.receiveSummaries(ctx, c.sub) }) {
		return nil, ErrClosed
	}
	return c, nil
}

// validateSummary decides, before a summary is relayed, whether it is worth it.
func (g *gossip) validateSummary(m *membership, from peer.ID, msg *pubsub.Message,
	now time.Time) pubsub.ValidationResult {
	if from != g.net.ID() && !g.adverts.maySum(m, from, now) {
		return pubsub.ValidationIgnore
	}
	s, err := m.heard.open(msg.Data, now)
	switch {
	case errors.Is(err, overlay.ErrExpired), errors.Is(err, overlay.ErrFuture):
		return pubsub.ValidationIgnore // clocks differ
	case err != nil || s.Overlay != m.ID:
		g.adverts.accuse(from, blameInvalid, now)
		return pubsub.ValidationReject
	case !g.adverts.sums(m, &s, now):
		return pubsub.ValidationIgnore
	}
	msg.ValidatorData = s
	return pubsub.ValidationAccept
}

// maySum asks for one summary that a neighbour brings.
func (as *adverts) maySum(m *membership, from peer.ID, now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	return neighbourSummaries.take(m.heard.purses.purse(from, now), now)
}

// sums notes a summary, and reports whether it is newer than its leader's last one. A cell with too many leaders loses
// the one that was silent for longest: strangers who claim a cell can't keep the others' summaries from being relayed.
func (as *adverts) sums(m *membership, s *overlay.Summary, now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	c := &m.heard
	if c.issued == nil {
		c.issued = map[overlay.Cell]map[task.PeerID]time.Time{}
	}
	leaders := c.issued[s.Cell]
	if leaders == nil {
		leaders = map[task.PeerID]time.Time{}
		c.issued[s.Cell] = leaders
	}
	last, known := leaders[s.Leader]
	if known && !s.Issued.After(last) {
		return false
	}
	if !known && len(leaders) >= claimsHeard {
		silent := slices.MinFunc(slices.Sorted(maps.Keys(leaders)), func(a, b task.PeerID) int {
			return leaders[a].Compare(leaders[b])
		})
		if s.Issued.Before(leaders[silent]) {
			return false
		}
		delete(leaders, silent)
	}
	leaders[s.Leader] = s.Issued
	return true
}

// receiveSummaries takes what was validated to who asked for it, once Run has begun.
func (g *gossip) receiveSummaries(ctx context.Context, sub *pubsub.Subscription) {
	g.each(ctx, sub, func(m *pubsub.Message) {
		if s, ok := m.ValidatorData.(overlay.Summary); ok && s.Leader != g.id && g.set.OnSummary != nil {
			g.reachable(&s, m.ReceivedFrom)
			g.set.OnSummary(s)
		}
	})
}

// reachable notes where a summary says that its leader is reached, as far as who told it may say so.
func (e *endpoint) reachable(s *overlay.Summary, from peer.ID) {
	e.AddAddrs(s.Leader, e.mayTell(from, s.Addrs), overlay.SummaryLife)
}

// Reachable notes where summaries that a peer showed say that their leaders are reached. Their signatures
// were checked.
func (e *endpoint) Reachable(list []overlay.Summary, by task.PeerID) {
	from, err := peer.Decode(string(by))
	if err != nil {
		return
	}
	for i := range list {
		e.reachable(&list[i], from)
	}
}

// Introduce has a peer hear the adverts of this node, and returns when it has, or cannot be reached, or ctx
// ends. What it answers next may depend on them.
func (ov *overlays) Introduce(ctx context.Context, to task.PeerID) error {
	p, err := ov.otherPeer(to)
	if err != nil {
		return err
	}
	if err := ov.net.Connect(allowRelayed(ctx), peer.AddrInfo{ID: p}); err != nil {
		return fmt.Errorf("p2p: reaching %s: %w", to, err)
	}
	ov.greeter.introduce(ctx, p)
	return nil
}
