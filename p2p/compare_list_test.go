package p2p

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"godwit/internal/roundtrip"
	"godwit/overlay"

	"pgregory.net/rapid"
)

// Two lists of one salt differ on just those shelves whose members differ.
func TestListsDifferWhereMembersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		salt := rapid.Uint64().Draw(t, "salt")
		both := rapid.SliceOfNDistinct(rapid.Uint64(), 0, 600, rapid.ID).Draw(t, "both")
		more := rapid.SliceOfNDistinct(rapid.Uint64(), 0, 5, rapid.ID).Draw(t, "more")
		a := newList("o", 0, len(both))
		b := list{"o", 0, make([]uint32, len(a.digests))}
		for _, n := range both {
			a.add(salt, n)
			b.add(salt, n)
		}
		want := map[int]int{}
		for _, n := range more {
			if !slices.Contains(both, n) {
				b.add(salt, n)
				want[b.shelf(n)]++
			}
		}
		for i := range a.digests {
			if differs := a.digests[i] != b.digests[i]; differs != (want[i] > 0) {
				t.Fatalf("shelf %d: differs %v, though %d more stand on it", i, differs, want[i])
			}
		}
	})
}

// A member whose number is the salt stands on the list like any other.
func TestListOfSalt(t *testing.T) {
	for _, salt := range []uint64{0, 1, 1 << 63} {
		l := newList("o", 0, 1)
		if l.add(salt, salt); l.digests[0] == 0 {
			t.Errorf("salt %d: its member is on no shelf", salt)
		}
	}
}

func TestShelfBits(t *testing.T) {
	for _, tt := range []struct{ members, want int }{
		{0, 0}, {1, 0}, {8, 0}, {9, 1}, {17, 2}, {300, 6}, {500, 6}, {maxAdverts, maxShelfBits}, {1 << 30, maxShelfBits},
	} {
		if got := shelfBits(tt.members); got != tt.want {
			t.Errorf("of %d members: %d bits, want %d", tt.members, got, tt.want)
		}
	}
}

// Bytes that are no lists are refused, whatever they announce.
func TestDecodeLists(t *testing.T) {
	whole := encodeLists(7, []list{newList("overlay", 3, 100), newList("other", 0, 0)})
	if salt, lists, err := decodeLists(whole); err != nil || salt != 7 || len(lists) != 2 || lists[0].bits != 3 {
		t.Fatalf("salt %d, %d lists, %v", salt, len(lists), err)
	}
	changed := func(at int, to byte) []byte {
		b := bytes.Clone(whole)
		b[at] = to
		return b
	}
	name := 10 + len("overlay")
	for what, b := range map[string][]byte{
		"nothing":                      nil,
		"a salt alone":                 whole[:8],
		"too many overlays":            changed(8, MaxOverlays+1),
		"more overlays than there are": changed(8, 3),
		"fewer":                        changed(8, 1),
		"a name beyond the bytes":      changed(9, 255),
		"a cell of too many bits":      changed(name, overlay.MaxCellBits+1),
		"too many shelves":             changed(name+1, maxShelfBits+1),
		"shelves beyond the bytes":     changed(name+1, maxShelfBits),
		"cut short":                    whole[:len(whole)-1],
		"too long":                     append(bytes.Clone(whole), 0),
	} {
		if _, _, err := decodeLists(b); err == nil {
			t.Errorf("%s: was read", what)
		}
	}
}

// The most that a node sends is what another reads.
func TestMaxLists(t *testing.T) {
	var lists []list
	for range MaxOverlays {
		lists = append(lists, newList(overlay.ID(bytes.Repeat([]byte{'o'}, maxIDBytes)), 0, maxAdverts))
	}
	if n := len(encodeLists(0, lists)); n > maxLists {
		t.Errorf("%d bytes, and at most %d are read", n, maxLists)
	}
}

func FuzzLists(f *testing.F) {
	f.Add(encodeLists(1, []list{newList("overlay", 0, 20)}))
	f.Add(binary.BigEndian.AppendUint64(nil, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		type said struct {
			Salt  uint64
			Lists []list
		}
		read := func(b []byte) (s said, err error) {
			s.Salt, s.Lists, err = decodeLists(b)
			return s, err
		}
		s, err := read(b)
		if err != nil {
			return
		}
		roundtrip.Check(t, s, func(s said) ([]byte, error) { return encodeLists(s.Salt, s.Lists), nil }, read)
	})
}
