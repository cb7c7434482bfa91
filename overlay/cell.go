package overlay

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"godwit/task"
)

// A Cell is a part of an overlay that coordinates itself: the members whose numbers
// begin with the same bits. Its members gossip among themselves and elect a group of
// their own, so that an overlay of a hundred thousand costs each what five hundred cost.
// The zero Cell is the whole overlay.
//
// Cells nest: one that divides becomes two whose bits are one more, and its members stay
// together with those that they keep. A hash of peer and level anew, for which there
// would be as good reasons, would shuffle all members of all cells at each change.
type Cell struct {
	Bits   uint8  // how many, 0 to MaxCellBits
	Prefix uint16 // these bits, in the low end
}

// MaxCellBits is the most bits of a cell: 1,024 cells, so half a million members. Each
// leader hears of all the others.
const MaxCellBits = 10

// CellNumber is a member's number in an overlay, by which it belongs to a cell.
func CellNumber(overlayID ID, peer task.PeerID) uint64 {
	sum := sha256.New()
	var n [8]byte
	sum.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(overlayID))))
	sum.Write([]byte("godwit cell 1\n" + string(overlayID) + string(peer)))
	return binary.BigEndian.Uint64(sum.Sum(nil))
}

// FollowsOf returns the number by which a member's advert names the leader that it follows, and the leader's epoch.
func FollowsOf(overlayID ID, leader task.PeerID, epoch uint64) uint64 {
	sum := sha256.New()
	var n [8]byte
	sum.Write(binary.BigEndian.AppendUint64(n[:0], epoch))
	sum.Write([]byte("godwit follows 1\n" + string(overlayID) + string(leader)))
	return max(1, binary.BigEndian.Uint64(sum.Sum(nil)))
}

// CellOf is the cell of so many bits, at most MaxCellBits, that a number belongs to.
func CellOf(number uint64, bits uint8) Cell {
	bits = min(bits, MaxCellBits)
	return Cell{bits, uint16(number >> (64 - bits))} // a shift by 64 leaves 0
}

// Holds reports whether a number belongs to the cell.
func (c Cell) Holds(number uint64) bool { return CellOf(number, c.Bits) == c }

// Whole reports whether the cell is the whole overlay.
func (c Cell) Whole() bool { return c.Bits == 0 }

// Parent is the cell that this one is a half of; the whole overlay is its own.
func (c Cell) Parent() Cell {
	if c.Whole() {
		return c
	}
	return Cell{c.Bits - 1, c.Prefix >> 1}
}

// Sibling is the other half of the parent; that of the whole overlay is itself.
func (c Cell) Sibling() Cell {
	if c.Whole() {
		return c
	}
	return Cell{c.Bits, c.Prefix ^ 1}
}

// Half is the half of the cell that a number belongs to; the cell itself when it has
// MaxCellBits.
func (c Cell) Half(number uint64) Cell { return CellOf(number, min(c.Bits+1, MaxCellBits)) }

// Within reports whether the cell is another, or a part of it.
func (c Cell) Within(o Cell) bool { return c.Bits >= o.Bits && c.Prefix>>(c.Bits-o.Bits) == o.Prefix }

// Check returns what is wrong with a cell, or nil.
func (c Cell) Check() error {
	if c.Bits > MaxCellBits || c.Prefix>>c.Bits != 0 {
		return fmt.Errorf("overlay: a cell of %d bits, %b: want at most %d, and no more than are counted", c.Bits, c.Prefix,
			MaxCellBits)
	}
	return nil
}

// String writes the cell's bits; "whole" for the whole overlay.
func (c Cell) String() string {
	if c.Whole() {
		return "whole"
	}
	s := strconv.FormatUint(uint64(c.Prefix), 2)
	return strings.Repeat("0", int(c.Bits)-len(s)) + s
}
