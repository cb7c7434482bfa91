package overlay

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// Bounds of a summary.
const (
	// MaxSummaryBytes is the maximum size of an encoded summary: about 320 bytes, 113 for each division of its
	// lineage, and 9 for each heir. A leader receives summaries of up to 1,024 cells, each SummaryEvery.
	MaxSummaryBytes = 1600
	// MaxSummaryAddrs is how many addresses of its leader a summary has at most: who leads a
	// cell is not known in others by its adverts.
	MaxSummaryAddrs = 2
	// SummaryEvery is how often a leader sums its cell up though nothing changed.
	SummaryEvery = 5 * time.Minute
	// SummaryGap is the least time between two that only tell of a change.
	SummaryGap = 10 * time.Second
	// SummaryLife is how long one holds: two may be missed.
	SummaryLife = 3 * SummaryEvery
	// MaxCellMembers bounds what a summary may say of members: more than a table of
	// adverts holds.
	MaxCellMembers = 4096
	// MaxCellSlots bounds what it may say of slots.
	MaxCellSlots = MaxCellMembers * MaxSlots
)

// A Summary is what the leader of a cell says of it to the leaders of others, and to
// whoever has a job that wants more members than its own cell has. It is soft state.
type Summary struct {
	Overlay ID
	Leader  task.PeerID
	Cell    Cell // that of Leader's number
	Epoch   uint64
	Issued  time.Time // to the millisecond; of two of one leader the later holds

	Members int // 0 of one that leads no more
	Slots   int // of all members that run tasks now
	Idle    int // of the slots, those without a task
	Waiting int // tasks that wait for a slot, at most MaxCellSlots: beyond it that many

	Addrs []string // where Leader is reached, as in its adverts; at most MaxSummaryAddrs

	Lineage Lineage  // proof that Cell exists
	Heirs   []uint64 // cell numbers of the members that stand by to lead after Leader; at most MaxGroup-1

	Signature []byte // by Leader's key over all other fields
}

// summaryWire is a summary as it travels and as it is signed. The prefix of the cell is
// not in it: it follows from the leader's number.
type summaryWire struct {
	Overlay   []byte `cbor:"1,keyasint"`
	Leader    []byte `cbor:"2,keyasint"`
	Bits      uint8  `cbor:"3,keyasint,omitempty"`
	Epoch     uint64 `cbor:"4,keyasint"`
	Issued    int64  `cbor:"5,keyasint"`
	Members   int    `cbor:"6,keyasint,omitempty"`
	Slots     int    `cbor:"7,keyasint,omitempty"`
	Idle      int    `cbor:"8,keyasint,omitempty"`
	Waiting   int    `cbor:"9,keyasint,omitempty"`
	Signature []byte `cbor:"10,keyasint"`

	Addrs [][]byte `cbor:"11,keyasint,omitempty"` // binary multiaddrs

	Lineage []divisionWire `cbor:"12,keyasint,omitempty"`
	Heirs   []uint64       `cbor:"13,keyasint,omitempty"`
}

func (s *Summary) wire() (summaryWire, error) {
	overlay, err := digestOf(s.Overlay)
	if err != nil {
		return summaryWire{}, err
	}
	leader, err := s.Leader.PublicKey()
	if err != nil {
		return summaryWire{}, err
	}
	addrs, err := packAddrs(s.Addrs)
	if err != nil {
		return summaryWire{}, err
	}
	lineage, err := s.Lineage.wire()
	if err != nil {
		return summaryWire{}, err
	}
	return summaryWire{overlay, leader, s.Cell.Bits, s.Epoch, s.Issued.UnixMilli(), s.Members, s.Slots, s.Idle, s.Waiting,
		s.Signature, addrs, lineage, s.Heirs}, nil
}

// summary is the other side of wire. The result shares w's slices.
func (w *summaryWire) summary() (Summary, error) {
	leader, err := peerOf(w.Leader)
	if err != nil {
		return Summary{}, err
	}
	overlay, err := idOf(w.Overlay)
	if err != nil {
		return Summary{}, err
	}
	addrs, err := unpackAddrs(w.Addrs)
	if err != nil {
		return Summary{}, err
	}
	lineage, err := lineageOf(w.Lineage)
	if err != nil {
		return Summary{}, err
	}
	if w.Bits > MaxCellBits {
		return Summary{}, fmt.Errorf("a cell of %d bits, at most %d", w.Bits, MaxCellBits)
	}
	return Summary{overlay, leader, CellOf(CellNumber(overlay, leader), w.Bits), w.Epoch, time.UnixMilli(w.Issued).UTC(),
		w.Members, w.Slots, w.Idle, w.Waiting, addrs, lineage, w.Heirs, w.Signature}, nil
}

// Sign signs the summary as Leader, whose key it must be. Change nothing after.
func (s *Summary) Sign(key ed25519.PrivateKey) error {
	s.Issued = s.Issued.UTC().Truncate(time.Millisecond)
	if err := s.validate(); err != nil {
		return err
	}
	w, err := s.wire()
	if err != nil {
		return fmt.Errorf("overlay: signing summary: %w", err)
	}
	w.Signature = nil
	s.Signature, err = sign("summary", w, s.Leader, key)
	return err
}

// Encode returns the canonical bytes that OpenSummary reads.
func (s *Summary) Encode() ([]byte, error) {
	w, err := s.wire()
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding summary: %w", err)
	}
	b, err := encoder.Marshal(w)
	if err == nil && len(b) > MaxSummaryBytes {
		err = fmt.Errorf("it has %d bytes, at most %d", len(b), MaxSummaryBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding summary: %w", err)
	}
	return b, nil
}

// check looks at what needs a clock, and at the bounds.
func (s *Summary) check(now time.Time) error {
	switch err := s.validate(); {
	case err != nil:
		return err
	case s.Issued.After(now.Add(MaxSkew)):
		return fmt.Errorf("%w: the leader %s summed its cell up %v from now", ErrFuture, s.Leader, s.Issued.Sub(now))
	case !s.Holds(now):
		return ErrExpired
	case !possible(s.Epoch, s.Leader, now):
		return fmt.Errorf("overlay: summary of epoch %d, in which %s cannot lead", s.Epoch, s.Leader)
	}
	return nil
}

// Holds reports whether the summary is not too old.
func (s *Summary) Holds(now time.Time) bool { return now.Before(s.Issued.Add(SummaryLife)) }

// validate checks everything that needs neither a clock nor a key.
func (s *Summary) validate() error {
	if err := s.Cell.Check(); err != nil {
		return err
	}
	switch {
	case !s.Cell.Holds(CellNumber(s.Overlay, s.Leader)):
		return fmt.Errorf("overlay: summary of cell %s by %s, which is of another", s.Cell, s.Leader)
	case !plausible(s.Issued):
		return errors.New("overlay: summary has no plausible time")
	case s.Members < 0 || s.Members > MaxCellMembers:
		return fmt.Errorf("overlay: summary of %d members, want 0 to %d", s.Members, MaxCellMembers)
	case s.Slots < 0 || s.Slots > MaxCellSlots || s.Idle < 0 || s.Idle > s.Slots:
		return fmt.Errorf("overlay: summary has %d of %d slots idle, of at most %d", s.Idle, s.Slots, MaxCellSlots)
	case len(s.Addrs) > MaxSummaryAddrs:
		return fmt.Errorf("overlay: summary with %d addresses, at most %d", len(s.Addrs), MaxSummaryAddrs)
	case len(s.Heirs) > MaxGroup-1:
		return fmt.Errorf("overlay: summary with %d heirs, at most %d", len(s.Heirs), MaxGroup-1)
	case s.Waiting < 0 || s.Waiting > MaxCellSlots:
		return fmt.Errorf("overlay: summary has %d tasks waiting, want 0 to %d", s.Waiting, MaxCellSlots)
	}
	return s.Lineage.validate(s.Overlay, s.Cell)
}
