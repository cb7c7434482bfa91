package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

const (
	// historyPrefix is where histories are kept, this node's and others': below
	// it the peer, then the time in Unix milliseconds at which a segment begins.
	historyPrefix = "h/"
	// keepHistory is how long: past it a habit of the owner's is another habit.
	keepHistory = 90 * 24 * time.Hour
	// noteEvery is how often the running spell is made durable. A node that is
	// killed forgets at most so much of it, and seems to have left so much
	// earlier than it did.
	noteEvery = 5 * time.Minute
	// advertSpells is how many of the last spells an advert carries at most.
	advertSpells = member.AdvertSpells
)

// A past is this node's own history and what is made of it. The loop owns it.
type past struct {
	history  *trace.History
	recorder *predictor.Recorder
	pool     *predictor.Pool // what is known of hosts at large
	noteAt   time.Time       // when to make the running spell durable
	pooled   time.Time       // when the pool was last made
	readings map[record]*reading
}

// loadPast reads this node's history. Since its end the node was not running:
// nobody could have had its time.
func (n *Node) loadPast(ctx context.Context) error {
	segments, err := n.loadSegments(ctx, n.self)
	if err != nil {
		return err
	}
	h, err := overlay.Join(segments)
	if err != nil {
		return err
	}
	h.Host = string(n.self)
	pool := &predictor.Pool{}
	n.past = past{history: h, pool: pool, recorder: predictor.NewRecorder(pool)}
	n.peer = member.New(member.Config{
		Self: n.self, Key: n.key, Scheduler: n.sched, World: world{n}, Pool: pool, Draw: rand.Float64,
	}, n.now())
	for i := range h.Len() {
		s := h.Spell(i)
		if s.State == trace.Unobserved {
			n.past.recorder.Blind(s.Start)
			continue
		}
		n.past.recorder.Observe(s.Start, s.State)
	}
	if h.Len() > 0 {
		n.noteState(trace.Unavailable, 0, h.Until())
	}
	return nil
}

// noteState notes that the machine is in a state from a time on, giving tasks a
// share cpu of its processors. A clock that was set back does not change the
// past.
func (n *Node) noteState(s trace.State, cpu float64, at time.Time) {
	p := &n.past
	if at.Before(p.history.Until()) {
		at = p.history.Until()
	}
	if err := p.history.Append(at, s, cpu); err != nil {
		n.log.Error("keeping the history", "err", err)
		return
	}
	p.recorder.Observe(at, s)
	p.noteAt = at // durable with the next commit
}

// notePast makes the newest part of the history durable when that is due.
func (n *Node) notePast(now time.Time) {
	p := &n.past
	if p.noteAt.IsZero() || p.noteAt.After(now) {
		return
	}
	p.noteAt = now.Add(noteEvery)
	p.history.Extend(now)
	p.recorder.Tick(now)
	segments, err := overlay.Segments(p.history, p.history.Until().Add(-2*noteEvery), n.self, n.key)
	if err != nil {
		n.log.Error("keeping the history", "err", err)
		return
	}
	for _, s := range segments {
		n.keepSegment(s)
	}
}

// keepSegment makes a segment durable, this node's or another's.
func (n *Node) keepSegment(s overlay.Segment) {
	b, err := s.Encode()
	if err != nil {
		n.log.Error("keeping a history", "peer", s.Peer, "err", err)
		return
	}
	n.pending = append(n.pending, pending{effect: member.Do{Effect: message.Persist{Key: segmentKey(s.Peer,
		s.Spells.Since()), Value: b}}})
}

func segmentKey(peer task.PeerID, since time.Time) string {
	return fmt.Sprintf("%s%s/%014d", historyPrefix, peer, since.UnixMilli())
}

// loadSegments reads what is kept of a peer's history. What cannot be read is
// left out: it is a record of the past, not a promise.
func (n *Node) loadSegments(ctx context.Context, peer task.PeerID) ([]overlay.Segment, error) {
	pairs, err := n.store.load(ctx, "", historyPrefix+string(peer)+"/")
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", peer, err)
	}
	var out []overlay.Segment
	for key, b := range pairs {
		s, err := overlay.OpenSegment(b, time.Now())
		if err != nil || s.Peer != peer {
			n.log.Debug("a part of a history cannot be read", "key", key, "err", err)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// forgetPast removes the segments, of whatever peer, that are too old to say
// anything.
func (n *Node) forgetPast(ctx context.Context) error {
	keys, err := n.store.keys(ctx, historyPrefix)
	if err != nil {
		return fmt.Errorf("reading the histories: %w", err)
	}
	oldest := time.Now().Add(-keepHistory).UnixMilli()
	var gone []message.Persist
	for _, key := range keys {
		var ms int64
		if _, err := fmt.Sscanf(path.Base(key), "%d", &ms); err != nil || ms < oldest {
			gone = append(gone, message.Persist{Key: key})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return n.store.commit(ctx, gone)
}

// record fills in an advert what others may expect of this node.
func (n *Node) record(a *overlay.Advert) {
	p := &n.past
	p.history.Extend(a.Issued)
	p.recorder.Tick(a.Issued)
	p.recorder.Declare(a.Until)
	r := p.recorder.Record()
	if b, err := r.MarshalBinary(); err != nil {
		n.log.Error("encoding the survival record", "err", err)
	} else {
		a.Record = b
	}
	a.Spells = lastSpells(p.history)
}

// lastSpells encodes as many of the last spells as an advert takes, rounded to
// the minute: finer times are in the segments.
func lastSpells(h *trace.History) []byte {
	for from := max(0, h.Len()-advertSpells); from < h.Len(); from++ {
		part := &trace.History{}
		for i := from; i < h.Len(); i++ {
			s := h.Spell(i)
			at := s.Start.Truncate(time.Minute)
			if s.State == trace.Unobserved {
				_ = part.Gap(at) // in order, as in h
			} else {
				_ = part.Append(at, s.State, s.CPU)
			}
		}
		part.Extend(h.Until().Truncate(time.Minute))
		if b := part.AppendSpells(nil, 0, part.Len()); len(b) <= overlay.MaxSpells {
			return b
		}
	}
	return nil
}
