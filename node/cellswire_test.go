package node

import (
	"crypto/ed25519"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/overlay"
	"godwit/task"
)

// cellsAt is when the summaries of these tests hold.
var cellsAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// summaryBy is a signed summary of a leader.
func summaryBy(tb testing.TB, seed byte, bits uint8) overlay.Summary {
	tb.Helper()
	key := testKey(seed)
	peer := task.PeerIDOf(key.Public().(ed25519.PublicKey))
	s := overlay.Summary{Overlay: commons, Leader: peer, Cell: overlay.CellOf(overlay.CellNumber(commons, peer), bits),
		Issued: cellsAt, Members: 9, Slots: 18, Idle: 4, Addrs: []string{"/ip4/192.0.2.1/tcp/1"}}
	for i := range bits {
		d := overlay.Division{Leader: peer, Epoch: overlay.NextEpoch(0, peer), Issued: cellsAt}
		if err := d.Sign(commons, i, key); err != nil {
			tb.Fatal(err)
		}
		s.Lineage = append(s.Lineage, d)
	}
	for _, e := range overlay.NewLease(peer, 0, cellsAt).Found(cellsAt) {
		if leads, ok := e.(overlay.BecomeLeader); ok {
			s.Epoch = leads.Epoch
		}
	}
	if err := s.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestAskedCells: who asks for its own cells hears of those that its number belongs to, and of each leader
// once.
func TestAskedCells(t *testing.T) {
	by := summaryBy(t, 1, 1).Leader
	var list []overlay.Summary
	own := 0
	for seed := byte(1); seed <= 20; seed++ {
		s := summaryBy(t, seed, 2)
		if s.Cell.Holds(overlay.CellNumber(commons, by)) {
			own++
		}
		list = append(list, s, s)
	}
	if got := asked(list, cellsQuery{Overlay: commons}, by); len(got) != 20 {
		t.Errorf("of 20 leaders %d are told", len(got))
	}
	if got := asked(list, cellsQuery{Overlay: commons, Mine: true}, by); len(got) != own || own == 0 || own == 20 {
		t.Errorf("%d of 20 are of its own cell, and %d are told", own, len(got))
	}
}

// TestReadCellsRefuses: an answer that is too long, breaks off, or has in it what nobody signed is not heard; what
// is too old is left out.
func TestReadCellsRefuses(t *testing.T) {
	one := summaryBy(t, 1, 1)
	good := packCells([]overlay.Summary{one})
	forged := one
	forged.Idle++
	var long []overlay.Summary
	for range maxCellsTold + 1 {
		long = append(long, one)
	}
	for name, b := range map[string][]byte{
		"breaks off": good[:len(good)-1], "a length alone": {0xff, 0xff, 0xff, 0x01}, "too long": packCells(long),
		"forged": packCells([]overlay.Summary{one, forged}),
	} {
		if got, err := readCells(&overlay.SummaryReader{}, b, commons, cellsAt); err == nil {
			t.Errorf("%s: it is read, as %d summaries", name, len(got))
		}
	}
	if got, err := readCells(&overlay.SummaryReader{}, good, commons, cellsAt); err != nil || len(got) != 1 {
		t.Errorf("a good one is read as %v, %v", got, err)
	}
	if got, err := readCells(&overlay.SummaryReader{}, good, commons, cellsAt.Add(overlay.SummaryLife)); err != nil || len(got) != 0 {
		t.Errorf("an old one is read as %v, %v", got, err)
	}
}

// FuzzReadCells checks that no answer about cells does harm, and that what is read of one is read of its own
// writing, too.
func FuzzReadCells(f *testing.F) {
	f.Add(packCells([]overlay.Summary{summaryBy(f, 1, 1), summaryBy(f, 2, 3)}))
	f.Add([]byte{0})
	read := func(b []byte) ([]overlay.Summary, error) {
		return readCells(&overlay.SummaryReader{}, b, commons, cellsAt)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if got, err := read(in); err == nil {
			roundtrip.Check(t, got, func(l []overlay.Summary) ([]byte, error) { return packCells(l), nil }, read)
		}
	})
}
