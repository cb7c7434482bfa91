package overlay

import (
	"errors"
	"fmt"
	"time"
)

// ErrImplausible is wrapped by the errors of Evidence.Check.
var ErrImplausible = errors.New("overlay: implausible summary")

// Evidence is what a node knows itself about its overlay's cells. Summaries are checked against it, because every
// peer can sign one.
type Evidence struct {
	Cell    Cell // of the node
	Members int  // largest number of members of Cell that the node has known at once
	Least   int  // minimum number of members of a half: see CellRule
	// Lineage is that of Cell. A lineage that is too short for Cell isn't known.
	Lineage Lineage
	// Former is the lineage of the half of Cell in which the node was before. The other half may not have come along, so
	// that division still counts. nil if the node wasn't in a half.
	Former Lineage
	// Since is when the node entered Cell. It was in one piece then, so earlier divisions of it are void.
	Since time.Time
	// Led reports whether the node followed a division's leader in its epoch. nil means never.
	Led func(d *Division) bool
	// Confirms reports whether a member of the summary's cell that the node knows follows its leader in its epoch. nil
	// means never.
	Confirms func(s *Summary) bool
}

// Check returns why a summary can't be true, or nil. The error wraps ErrImplausible.
func (e *Evidence) Check(s *Summary) error {
	if err := e.checkDescent(s); err != nil {
		return err
	}
	if e.stayed(s) {
		return nil
	}
	return e.checkSize(s.Cell)
}

// checkSize compares a cell's size with the node's own cell. Cell numbers are evenly distributed, so cells of the same
// number of bits have about the same size.
func (e *Evidence) checkSize(c Cell) error {
	if c.Bits <= e.Cell.Bits {
		return nil
	}
	if want := e.Least << (c.Bits - e.Cell.Bits); e.Members < want {
		return fmt.Errorf("%w: cell %s has %d bits, but cell %s had only %d members, want %d", ErrImplausible, c, c.Bits,
			e.Cell, e.Members, want)
	}
	return nil
}

// checkDescent looks for the cell's last common ancestor with the node's own cell. Its division must be one that the
// node knows, so that the summary's leader descends from a leader that the node, or its own cell, followed.
func (e *Evidence) checkDescent(s *Summary) error {
	common := uint8(0)
	for common < min(s.Cell.Bits, e.Cell.Bits) && ancestor(s.Cell, common+1) == ancestor(e.Cell, common+1) {
		common++
	}
	switch {
	case !s.Lineage.Of(s.Cell):
		return fmt.Errorf("%w: cell %s with a lineage of %d divisions", ErrImplausible, s.Cell, len(s.Lineage))
	case common == s.Cell.Bits: // the node's own cell, or one that contains it: its existence needs no proof
		return nil
	case common == e.Cell.Bits:
		d := &s.Lineage[common]
		if !e.stayed(s) && (!d.Issued.After(e.Since) || !e.led(d)) {
			return fmt.Errorf("%w: cell %s is a part of cell %s, whose leaders did not divide it", ErrImplausible, s.Cell,
				e.Cell)
		}
	default:
		d := &s.Lineage[common]
		if known := e.Lineage.Of(e.Cell) && d.Same(&e.Lineage[common]); !known && !e.led(d) {
			return fmt.Errorf("%w: cell %s descends from a division by %s, which is not known", ErrImplausible, s.Cell,
				d.Leader)
		}
	}
	return nil
}

// Divided reports whether a summary of a part of the node's cell proves that a leader which the node followed divided it.
func (e *Evidence) Divided(s *Summary) bool {
	return e.Check(s) == nil && !e.stayed(s) && s.Cell.Bits > e.Cell.Bits && s.Cell.Within(e.Cell)
}

// stayed reports whether a summary's cell comes from the division that the node saw undone.
func (e *Evidence) stayed(s *Summary) bool {
	at := int(e.Cell.Bits)
	return len(s.Lineage) > at && len(e.Former) > at && s.Cell.Within(e.Cell) && s.Lineage[at].Same(&e.Former[at])
}

func (e *Evidence) led(d *Division) bool { return e.Led != nil && e.Led(d) }

func (e *Evidence) confirms(s *Summary) bool { return e != nil && e.Confirms != nil && e.Confirms(s) }

// ancestor returns the cell of so many bits, at most c's, that contains c.
func ancestor(c Cell, bits uint8) Cell { return Cell{bits, c.Prefix >> (c.Bits - bits)} }
