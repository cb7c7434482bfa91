package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
	"godwit/trace"
)

const (
	// maxSegments bounds the segments of one answer: keepHistory's days, and as
	// many again for days with more spells than one segment takes.
	maxSegments = 180
	// askedForHistory is how many peers are asked for another's history, its
	// subject first.
	askedForHistory = 5
)

// ErrNoHistory is returned where nobody that was asked has a peer's history.
var ErrNoHistory = errors.New("node: no history is known")

// A historyQuery asks for the segments of a peer's history that reach beyond a
// time.
type historyQuery struct {
	Peer  task.PeerID `json:"peer"`
	Since time.Time   `json:"since"`
}

// History returns what is known of a peer's history since a time: this node's
// own, or what is kept here together with what the peer, or somebody else who
// has it, answers. Every part of it is signed by the peer.
func (ps *past) History(ctx context.Context, peer task.PeerID, since time.Time) (*trace.History, error) {
	if peer == ps.self {
		var h *trace.History
		err := ps.do(ctx, func() {
			ps.history.Extend(ps.now())
			h = ps.history.Assume(trace.Unobserved) // a copy
		})
		return h, err
	}
	segments, err := ps.loadSegments(ctx, peer)
	if err != nil {
		return nil, err
	}
	if known := reach(segments); known.After(since) {
		since = known.Add(-noteEvery) // the last one may have grown
	}
	fetched, err := ps.fetchHistory(ctx, historyQuery{peer, since})
	if err != nil && len(segments) == 0 {
		return nil, err
	}
	if err := ps.do(ctx, func() {
		for _, s := range fetched {
			ps.keepSegment(s)
		}
	}); err != nil {
		return nil, err
	}
	return overlay.Join(newest(append(segments, fetched...)))
}

// reach is up to where segments go.
func reach(segments []overlay.Segment) (t time.Time) {
	for _, s := range segments {
		if s.Spells.Until().After(t) {
			t = s.Spells.Until()
		}
	}
	return t
}

// newest leaves of the segments that begin at one time the one that reaches
// furthest.
func newest(segments []overlay.Segment) []overlay.Segment {
	best := map[int64]overlay.Segment{}
	for _, s := range segments {
		at := s.Spells.Since().UnixMilli()
		if old, ok := best[at]; !ok || s.Spells.Until().After(old.Spells.Until()) {
			best[at] = s
		}
	}
	out := make([]overlay.Segment, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	return out // in any order: Join sorts
}

// fetchHistory asks the peer, then others, until somebody answers with some.
func (ps *past) fetchHistory(ctx context.Context, q historyQuery) ([]overlay.Segment, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encoding the question: %w", err)
	}
	ask := []task.PeerID{q.Peer}
	if err := ps.do(ctx, func() {
		for _, m := range ps.ordered() {
			ask = append(ask, m.Leader().Leader)
		}
	}); err != nil {
		return nil, err
	}
	for _, p := range ps.net.Peers() {
		ask = append(ask, p.ID)
	}
	var asked []task.PeerID
	for _, p := range ask {
		if p == "" || p == ps.self || slices.Contains(asked, p) || len(asked) == askedForHistory {
			continue
		}
		asked = append(asked, p)
		one, cancel := context.WithTimeout(ctx, queryTimeout)
		b, err := ps.net.Request(one, p, methodHistory, body)
		cancel()
		if err != nil {
			ps.log.Debug("no history from a peer", "of", q.Peer, "from", p, "err", err)
			continue
		}
		segments, err := openSegments(b, q.Peer)
		if err != nil {
			ps.log.Debug("a peer's answer is not a history", "of", q.Peer, "from", p, "err", err)
			continue
		}
		if len(segments) > 0 {
			return segments, nil
		}
	}
	return nil, fmt.Errorf("%w of %s: asked %d peers", ErrNoHistory, q.Peer, len(asked))
}

// answerHistory serves segments of this node's history or of one it keeps, the
// oldest first, each after its length.
func (ps *past) answerHistory(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q historyQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	if _, err := q.Peer.PublicKey(); err != nil {
		return nil, err
	}
	segments, err := ps.loadSegments(ctx, q.Peer)
	if err != nil {
		return nil, err
	}
	if q.Peer == ps.self {
		var fresh []overlay.Segment
		if e := ps.doOf(ctx, from, func() {
			ps.history.Extend(ps.now())
			fresh, err = overlay.Segments(ps.history, ps.history.Until().Add(-2*noteEvery), ps.self, ps.key)
		}); e != nil {
			return nil, e
		}
		if err != nil {
			return nil, err
		}
		segments = append(segments, fresh...)
	}
	return packSegments(newest(segments), q.Since)
}

// packSegments encodes those that reach beyond since.
func packSegments(segments []overlay.Segment, since time.Time) ([]byte, error) {
	slices.SortFunc(segments, func(a, b overlay.Segment) int { return a.Spells.Since().Compare(b.Spells.Since()) })
	segments = slices.DeleteFunc(segments, func(s overlay.Segment) bool { return !s.Spells.Until().After(since) })
	var out []byte
	for _, s := range segments[max(0, len(segments)-maxSegments):] {
		b, err := s.Encode()
		if err != nil {
			return nil, err
		}
		out = binary.AppendUvarint(out, uint64(len(b)))
		out = append(out, b...)
	}
	return out, nil
}

// openSegments decodes an answer and checks that every part of it is of the peer
// that was asked about, and signed by it.
func openSegments(b []byte, of task.PeerID) ([]overlay.Segment, error) {
	var out []overlay.Segment
	for len(b) > 0 {
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(min(len(b)-k, overlay.MaxSegmentBytes)) {
			return nil, fmt.Errorf("a segment of %d bytes in %d", size, len(b))
		}
		if len(out) == maxSegments {
			return nil, fmt.Errorf("more than %d segments", maxSegments)
		}
		s, err := overlay.OpenSegment(b[k:k+int(size)], time.Now())
		if err != nil {
			return nil, err
		}
		if s.Peer != of {
			return nil, fmt.Errorf("a history of %s where that of %s was asked for", s.Peer, of)
		}
		out = append(out, s)
		b = b[k+int(size):]
	}
	return out, nil
}
