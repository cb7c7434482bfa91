package p2p

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"godwit/overlay"
)

const (
	// shelfMembers is how many members share a digest: what differs is told by so many adverts.
	shelfMembers = 8
	// maxShelfBits is the most bits of a shelf's number: as many as a full table needs.
	maxShelfBits = 9

	digestBytes = 4
	// maxLists is the most bytes of what a node compares: all its overlays, with full tables.
	maxLists = 1 + 8 + MaxOverlays*(1+maxIDBytes+2+digestBytes<<maxShelfBits)
	// maxIDBytes is the most bytes of an overlay's name: a CID's text has some sixty.
	maxIDBytes = 128
)

// A list is what a node knows of the members of an overlay: not who they are, but a digest of each shelf
// of them. Two nodes find by their lists where they differ.
type list struct {
	overlay overlay.ID
	// bits are those of the cell whose members it is of; it is the one of who made the list.
	bits uint8
	// digests of shelves, a power of two of them, at most 1<<maxShelfBits.
	digests []uint32
}

// newList is a list of so many members, with none on it yet.
func newList(id overlay.ID, cellBits uint8, members int) list {
	return list{id, cellBits, make([]uint32, 1<<shelfBits(members))}
}

// shelfBits is how many bits the number of a shelf has where so many members are known.
func shelfBits(members int) int {
	return min(bits.Len(uint(max(0, members-1)/shelfMembers)), maxShelfBits)
}

// shelf is where a member stands, by its number in the overlay: by the low bits, since the high ones
// are those of its cell.
func (l *list) shelf(number uint64) int { return int(number & uint64(len(l.digests)-1)) }

// add puts a member on the list. The salt is of one comparison, so that nobody can choose keys of which
// two are taken for none.
func (l *list) add(salt, number uint64) {
	l.digests[l.shelf(number)] ^= digest(salt, number)
}

// goldenGamma is splitmix64's: without it the number that is the salt itself would mix to zero, and its member stand on
// no list.
const goldenGamma = 0x9e3779b97f4a7c15

// digest mixes a number as splitmix64 does (Steele, Lea and Flood 2014, figure 16).
func digest(salt, number uint64) uint32 {
	z := (number ^ salt) + goldenGamma
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32((z ^ z>>31) >> 32)
}

// errLists is returned for bytes that are no lists.
var errLists = errors.New("p2p: no lists of members")

// encodeLists is a salt and lists as they are sent: the salt; then of each list the length of its
// overlay's name and the name, the bits of the cell, those of a shelf's number, and the digests.
func encodeLists(salt uint64, lists []list) []byte {
	b := binary.BigEndian.AppendUint64(nil, salt)
	b = append(b, byte(len(lists)))
	for _, l := range lists {
		b = append(b, byte(len(l.overlay)))
		b = append(b, l.overlay...)
		b = append(b, l.bits, byte(bits.Len(uint(len(l.digests)))-1))
		for _, d := range l.digests {
			b = binary.BigEndian.AppendUint32(b, d)
		}
	}
	return b
}

// decodeLists reads what encodeLists wrote. Whoever sent it may say anything: what it holds is
// bounded by the bytes that came.
func decodeLists(b []byte) (salt uint64, lists []list, err error) {
	if len(b) < 9 || int(b[8]) > MaxOverlays {
		return 0, nil, errLists
	}
	salt = binary.BigEndian.Uint64(b)
	n, b := int(b[8]), b[9:]
	for range n {
		var l list
		if l, b, err = decodeList(b); err != nil {
			return 0, nil, err
		}
		lists = append(lists, l)
	}
	if len(b) > 0 {
		return 0, nil, fmt.Errorf("%w: %d bytes too many", errLists, len(b))
	}
	return salt, lists, nil
}

// decodeList reads one list and returns what follows it.
func decodeList(b []byte) (l list, rest []byte, err error) {
	if len(b) < 1 || int(b[0]) > maxIDBytes || len(b) < int(b[0])+3 {
		return l, nil, errLists
	}
	id, b := b[1:1+b[0]], b[1+b[0]:]
	l.overlay, l.bits = overlay.ID(id), b[0]
	if l.bits > overlay.MaxCellBits || b[1] > maxShelfBits {
		return l, nil, errLists
	}
	shelves := 1 << b[1]
	b = b[2:]
	if len(b) < digestBytes*shelves {
		return l, nil, errLists
	}
	l.digests = make([]uint32, shelves)
	for i := range l.digests {
		l.digests[i] = binary.BigEndian.Uint32(b[digestBytes*i:])
	}
	return l, b[digestBytes*shelves:], nil
}
