package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/task"
	"godwit/trace"
)

// Bounds of a segment.
const (
	MaxSegmentBytes  = 8 << 10
	MaxSegmentSpells = 1024
	// MaxSegmentSpan is the time that a segment covers: a day, so that it is
	// small enough to be signed again when it grows.
	MaxSegmentSpan = 24 * time.Hour
)

// A Segment is a part of a member's history that the member has signed, so that
// any peer can pass it on. Of two that begin at the same time, the one that
// reaches further replaces the other.
type Segment struct {
	Peer task.PeerID
	// Spells has at least one spell, at most MaxSegmentSpells, from one UTC day.
	Spells    *trace.History
	Signature []byte // by Peer's key over all other fields
}

// segmentWire is a segment as it travels and as it is signed.
type segmentWire struct {
	Peer      []byte `cbor:"1,keyasint"`
	Spells    []byte `cbor:"2,keyasint"`
	Signature []byte `cbor:"3,keyasint"`
}

// Segments cuts spells from to the end of a history into segments of one UTC day
// each and signs them as peer. The first begins at the later of from and the
// beginning of its day or of the history. Each copies what it holds.
func Segments(h *trace.History, from time.Time, peer task.PeerID, key ed25519.PrivateKey) ([]Segment, error) {
	var out []Segment
	var part *trace.History
	flush := func() error {
		if part == nil || !part.Until().After(part.Since()) {
			return nil
		}
		s := Segment{Peer: peer, Spells: part}
		part = nil
		if err := s.sign(key); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	}
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.End.After(dayOf(from)) {
			continue
		}
		for begin := later(s.Start, dayOf(from)); begin.Before(s.End); {
			end := earlier(s.End, dayOf(begin).Add(MaxSegmentSpan))
			if part != nil && (!dayOf(part.Since()).Equal(dayOf(begin)) || part.Len() == MaxSegmentSpells) {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			if part == nil {
				part = &trace.History{Host: string(peer)}
			}
			if err := put(part, s, begin, end); err != nil {
				return nil, fmt.Errorf("overlay: cutting a history: %w", err)
			}
			begin = end
		}
	}
	return out, flush()
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(MaxSegmentSpan) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (s *Segment) wire() (segmentWire, error) {
	peer, err := s.Peer.PublicKey()
	if err != nil {
		return segmentWire{}, err
	}
	return segmentWire{Peer: peer, Spells: s.Spells.AppendSpells(nil, 0, s.Spells.Len()), Signature: s.Signature}, nil
}

func (s *Segment) sign(key ed25519.PrivateKey) error {
	w, err := s.wire()
	if err != nil {
		return fmt.Errorf("overlay: signing history: %w", err)
	}
	w.Signature = nil
	s.Signature, err = sign("history", w, s.Peer, key)
	return err
}

// Encode returns the canonical bytes that OpenSegment reads.
func (s *Segment) Encode() ([]byte, error) {
	w, err := s.wire()
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding history: %w", err)
	}
	b, err := encoder.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding history: %w", err)
	}
	if len(b) > MaxSegmentBytes {
		return nil, fmt.Errorf("overlay: a day's history has %d bytes, at most %d", len(b), MaxSegmentBytes)
	}
	return b, nil
}

// OpenSegment decodes and checks a segment that arrived: its size, its spells,
// that they are of one day and not of the future, and its signature.
func OpenSegment(b []byte, now time.Time) (Segment, error) {
	if len(b) > MaxSegmentBytes {
		return Segment{}, fmt.Errorf("overlay: a segment has %d bytes, at most %d", len(b), MaxSegmentBytes)
	}
	var w segmentWire
	if err := decoder.Unmarshal(b, &w); err != nil {
		return Segment{}, fmt.Errorf("overlay: decoding segment: %w", err)
	}
	if again, err := encoder.Marshal(w); err != nil || !bytes.Equal(again, b) {
		return Segment{}, errors.New("overlay: decoding segment: its bytes are not the canonical ones")
	}
	peer, err := peerOf(w.Peer)
	if err != nil {
		return Segment{}, fmt.Errorf("overlay: decoding segment: %w", err)
	}
	h, err := trace.DecodeSpells(w.Spells, MaxSegmentSpells)
	if err != nil {
		return Segment{}, fmt.Errorf("overlay: decoding segment: %w", err)
	}
	h.Host = string(peer)
	since, until := h.Since(), h.Until()
	switch {
	case !until.After(since):
		return Segment{}, errors.New("overlay: a segment without a past")
	case !plausible(since) || until.After(dayOf(since).Add(MaxSegmentSpan)):
		return Segment{}, errors.New("overlay: a segment is of one UTC day")
	case until.After(now.Add(MaxSkew)):
		return Segment{}, fmt.Errorf("overlay: segment of %s ends %v in the future", peer, until.Sub(now))
	}
	s := Segment{Peer: peer, Spells: h, Signature: w.Signature}
	w.Signature = nil
	return s, verify("history", w, peer, s.Signature)
}

// Join puts segments of one peer, in any order, together into one history.
// Where two overlap the one that begins earlier holds; between those that do not
// touch nobody looked.
func Join(segments []Segment) (*trace.History, error) {
	sorted := slices.SortedFunc(slices.Values(segments),
		func(a, b Segment) int { return a.Spells.Since().Compare(b.Spells.Since()) })
	out := &trace.History{}
	for _, s := range sorted {
		out.Host = string(s.Peer)
		for i := range s.Spells.Len() {
			spell := s.Spells.Spell(i)
			begin := spell.Start
			if out.Len() > 0 {
				begin = later(begin, out.Until())
			}
			if !begin.Before(spell.End) {
				continue
			}
			if out.Len() > 0 && begin.After(out.Until()) {
				if err := out.Gap(out.Until()); err != nil {
					return nil, fmt.Errorf("overlay: joining a history: %w", err)
				}
			}
			if err := put(out, spell, begin, spell.End); err != nil {
				return nil, fmt.Errorf("overlay: joining a history: %w", err)
			}
		}
	}
	return out, nil
}

// put appends the part of a spell from begin to end.
func put(h *trace.History, s trace.Spell, begin, end time.Time) error {
	var err error
	if s.State == trace.Unobserved {
		err = h.Gap(begin)
	} else {
		err = h.Append(begin, s.State, s.CPU)
	}
	h.Extend(end)
	return err
}
