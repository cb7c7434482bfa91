package node

import (
	"context"
	"fmt"
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

// A past is this node's own history and what is made of it, beside what is kept of
// other members' histories. The loop owns it.
type past struct {
	*driver
	state    func() overlay.State // of this node, now
	history  *trace.History
	recorder *predictor.Recorder
	pool     *predictor.Pool // what is known of hosts at large
	noteAt   time.Time       // when to make the running spell durable
	pooled   time.Time       // when the pool was last made
	learntAt time.Time       // when what it learnt was last made durable
	readings map[record]*reading
}

// newPast returns an empty one; its state has to be said yet.
func newPast(d *driver) *past {
	pool := &predictor.Pool{}
	return &past{driver: d, pool: pool, recorder: predictor.NewRecorder(pool)}
}

// loadPast reads this node's history. Since its end the node was not running:
// nobody could have had its time.
func (ps *past) loadPast(ctx context.Context) error {
	segments, err := ps.loadSegments(ctx, ps.self)
	if err != nil {
		return err
	}
	h, err := overlay.Join(segments)
	if err != nil {
		return err
	}
	h.Host = string(ps.self)
	ps.history = h
	for i := range h.Len() {
		s := h.Spell(i)
		if s.State == trace.Unobserved {
			ps.recorder.Blind(s.Start)
			continue
		}
		ps.recorder.Observe(s.Start, s.State)
	}
	if h.Len() > 0 {
		ps.noteState(trace.Unavailable, 0, h.Until())
	}
	return nil
}

// noteState notes that the machine is in a state from a time on, giving tasks a
// share cpu of its processors. A clock that was set back does not change the
// past.
func (ps *past) noteState(s trace.State, cpu float64, at time.Time) {
	if at.Before(ps.history.Until()) {
		at = ps.history.Until()
	}
	if err := ps.history.Append(at, s, cpu); err != nil {
		ps.log.Error("keeping the history", "err", err)
		return
	}
	ps.recorder.Observe(at, s)
	ps.noteAt = at // durable with the next commit
}

// notePast makes the newest part of the history durable when that is due.
func (ps *past) notePast(now time.Time) {
	if ps.noteAt.IsZero() || ps.noteAt.After(now) {
		return
	}
	ps.noteAt = now.Add(noteEvery)
	ps.history.Extend(now)
	ps.recorder.Tick(now)
	segments, err := overlay.Segments(ps.history, ps.history.Until().Add(-2*noteEvery), ps.self, ps.key)
	if err != nil {
		ps.log.Error("keeping the history", "err", err)
		return
	}
	for _, s := range segments {
		ps.keepSegment(s)
	}
}

// keepSegment makes a segment durable, this node's or another's.
func (ps *past) keepSegment(s overlay.Segment) {
	b, err := s.Encode()
	if err != nil {
		ps.log.Error("keeping a history", "peer", s.Peer, "err", err)
		return
	}
	ps.pending = append(ps.pending, pending{machine: message.Persist{Key: segmentKey(s.Peer, s.Spells.Since()),
		Value: b}})
}

func segmentKey(peer task.PeerID, since time.Time) string {
	return fmt.Sprintf("%s%s/%014d", historyPrefix, peer, since.UnixMilli())
}

// loadSegments reads what is kept of a peer's history. What cannot be read is
// left out: it is a record of the past, not a promise.
func (ps *past) loadSegments(ctx context.Context, peer task.PeerID) ([]overlay.Segment, error) {
	pairs, err := ps.store.load(ctx, "", historyPrefix+string(peer)+"/")
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", peer, err)
	}
	var out []overlay.Segment
	for key, b := range pairs {
		s, err := overlay.OpenSegment(b, time.Now())
		if err != nil || s.Peer != peer {
			ps.log.Debug("a part of a history cannot be read", "key", key, "err", err)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// forgetPast removes the segments, of whatever peer, that are too old to say
// anything.
func (ps *past) forgetPast(ctx context.Context) error {
	keys, err := ps.store.keys(ctx, historyPrefix)
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
	return ps.store.commit(ctx, gone)
}

// record fills in an advert what others may expect of this node.
func (ps *past) record(a *overlay.Advert) {
	ps.history.Extend(a.Issued)
	ps.recorder.Tick(a.Issued)
	ps.recorder.Declare(a.Until)
	r := ps.recorder.Record()
	if b, err := r.MarshalBinary(); err != nil {
		ps.log.Error("encoding the survival record", "err", err)
	} else {
		a.Record = b
	}
	a.Spells = lastSpells(ps.history)
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
