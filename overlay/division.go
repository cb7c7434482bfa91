package overlay

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// A Division is a leader's signed statement that the cell it leads becomes two. It proves that both halves exist,
// but not who leads them. The zero Division is none.
type Division struct {
	Leader    task.PeerID // leader of the divided cell, and a member of it
	Epoch     uint64      // in which Leader led the divided cell
	Issued    time.Time   // to the millisecond
	Signature []byte      // by Leader's key over all other fields, the overlay and the divided cell's bits
}

// divisionWire is a division as it travels. Overlay and bits follow from its place in an advert or summary.
type divisionWire struct {
	_         struct{} `cbor:",toarray"`
	Leader    []byte
	Epoch     uint64
	Issued    int64 // Unix milliseconds
	Signature []byte
}

// divisionSigned is a division as it is signed.
type divisionSigned struct {
	_       struct{} `cbor:",toarray"`
	Overlay []byte
	Bits    uint8
	Leader  []byte
	Epoch   uint64
	Issued  int64
}

// IsZero reports whether there is no division.
func (d *Division) IsZero() bool { return d.Leader == "" && d.Epoch == 0 && d.Issued.IsZero() }

// Same reports whether two divisions are the same statement.
func (d *Division) Same(o *Division) bool {
	return d.Leader == o.Leader && d.Epoch == o.Epoch && d.Issued.Equal(o.Issued)
}

// Sign signs the division of the cell of so many bits that Leader is in, whose key it must be.
func (d *Division) Sign(id ID, bits uint8, key ed25519.PrivateKey) error {
	d.Issued = d.Issued.UTC().Truncate(time.Millisecond)
	signed, err := d.signed(id, bits)
	if err != nil {
		return fmt.Errorf("overlay: signing division: %w", err)
	}
	d.Signature, err = sign("division", signed, d.Leader, key)
	return err
}

// verify checks a division of the cell of so many bits that its leader is in.
func (d *Division) verify(id ID, bits uint8) error {
	signed, err := d.signed(id, bits)
	if err != nil {
		return fmt.Errorf("overlay: verifying division: %w", err)
	}
	return verify("division", signed, d.Leader, d.Signature)
}

func (d *Division) signed(id ID, bits uint8) (divisionSigned, error) {
	overlay, err := digestOf(id)
	if err != nil {
		return divisionSigned{}, err
	}
	leader, err := d.Leader.PublicKey()
	if err != nil {
		return divisionSigned{}, err
	}
	return divisionSigned{Overlay: overlay, Bits: bits, Leader: leader, Epoch: d.Epoch, Issued: d.Issued.UnixMilli()}, nil
}

// validate checks everything but the signature of a division whose result contains a cell of one bit more.
func (d *Division) validate(id ID, half Cell) error {
	switch parent := half.Parent(); {
	case half.Whole() || !parent.Holds(CellNumber(id, d.Leader)):
		return fmt.Errorf("overlay: division of cell %s by %s, which is not in it", parent, d.Leader)
	case d.Epoch != epochOf(Term(d.Epoch), d.Leader) || Term(d.Epoch) > maxTerm:
		return fmt.Errorf("overlay: division in epoch %d, in which %s cannot lead", d.Epoch, d.Leader)
	case !plausible(d.Issued):
		return errors.New("overlay: division has no plausible time")
	}
	return nil
}

func (d *Division) wire() (divisionWire, error) {
	leader, err := d.Leader.PublicKey()
	if err != nil {
		return divisionWire{}, fmt.Errorf("a division's leader: %w", err)
	}
	return divisionWire{Leader: leader, Epoch: d.Epoch, Issued: d.Issued.UnixMilli(), Signature: d.Signature}, nil
}

func (w *divisionWire) division() (Division, error) {
	leader, err := peerOf(w.Leader)
	if err != nil {
		return Division{}, err
	}
	return Division{leader, w.Epoch, time.UnixMilli(w.Issued).UTC(), w.Signature}, nil
}

// A Lineage proves that a cell of b bits exists. It contains b divisions: the whole overlay's first, the parent's last.
// Both halves of a cell have the same lineage.
type Lineage []Division

// Of reports whether the lineage is as long as a cell needs. The whole overlay needs none.
func (l Lineage) Of(c Cell) bool { return len(l) == int(c.Bits) }

// Same reports whether two lineages contain the same divisions.
func (l Lineage) Same(o Lineage) bool {
	if len(l) != len(o) {
		return false
	}
	for i := range l {
		if !l[i].Same(&o[i]) {
			return false
		}
	}
	return true
}

// validate checks everything but the signatures of a cell's lineage.
func (l Lineage) validate(id ID, of Cell) error {
	if !l.Of(of) {
		return fmt.Errorf("overlay: lineage of %d divisions for cell %s, want %d", len(l), of, of.Bits)
	}
	for i := range l {
		bits := uint8(i) + 1
		if err := l[i].validate(id, Cell{bits, of.Prefix >> (of.Bits - bits)}); err != nil {
			return err
		}
	}
	return nil
}

func (l Lineage) wire() (out []divisionWire, err error) {
	for i := range l {
		w, err := l[i].wire()
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// lineageOf is the other side of wire. It refuses lineages that are too long.
func lineageOf(list []divisionWire) (out Lineage, err error) {
	if len(list) > MaxCellBits {
		return nil, fmt.Errorf("a lineage of %d divisions, at most %d", len(list), MaxCellBits)
	}
	for i := range list {
		d, err := list[i].division()
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}
