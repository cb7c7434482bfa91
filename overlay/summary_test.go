package overlay

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/internal/roundtrip"
	"godwit/task"
)

// summaryOf returns a signed summary that OpenSummary takes at epoch.
func summaryOf(tb testing.TB, seed byte, bits uint8, change func(*Summary)) Summary {
	tb.Helper()
	key, peer := someone(seed)
	s := Summary{Overlay: commons, Leader: peer, Cell: CellOf(CellNumber(commons, peer), bits), Epoch: epochOf(7, peer),
		Issued: epoch, Members: 480, Slots: 1900, Idle: 12, Waiting: 100_000, Lineage: lineageTo(tb, seed, bits)}
	if change != nil {
		change(&s)
	}
	if err := s.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return s
}

// lineageTo returns a lineage of a member's cell, in which that member signed all divisions.
func lineageTo(tb testing.TB, seed byte, bits uint8) (l Lineage) {
	tb.Helper()
	key, peer := someone(seed)
	for i := range bits {
		d := Division{Leader: peer, Epoch: epochOf(uint64(i)+1, peer), Issued: epoch.Add(time.Duration(i) * -time.Hour)}
		if err := d.Sign(commons, i, key); err != nil {
			tb.Fatal(err)
		}
		l = append(l, d)
	}
	return l
}

// TestSummaryRoundTrip: what is written is read as the same, and the largest is within bounds.
func TestSummaryRoundTrip(t *testing.T) {
	_, peer := someone(1)
	for name, s := range map[string]Summary{
		"a usual one": summaryOf(t, 1, 5, nil),
		"an empty one": summaryOf(t, 1, 0, func(s *Summary) {
			s.Members, s.Slots, s.Idle, s.Waiting = 0, 0, 0, 0
		}),
		"one through a relay": summaryOf(t, 1, 5, func(s *Summary) {
			s.Addrs = []string{"/ip6/2001:db8::1/udp/4001/quic-v1",
				"/ip6/2001:db8::2/udp/4001/quic-v1/p2p/" + string(peer) + "/p2p-circuit"}
		}),
		"the largest": summaryOf(t, 1, MaxCellBits, func(s *Summary) {
			bound := uint64(epoch.Unix())/uint64(termEvery/time.Second) + termSlack
			s.Epoch, s.Issued = epochOf(bound, peer), epoch.Add(MaxSkew)
			s.Members, s.Slots, s.Idle, s.Waiting = MaxCellMembers, MaxCellSlots, MaxCellSlots, MaxCellSlots
			s.Heirs = slices.Repeat([]uint64{math.MaxUint64}, MaxGroup-1)
		}),
	} {
		b, err := s.Encode()
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := OpenSummary(b, epoch)
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s: got %+v (%v), want %+v", name, got, err, s)
		}
		t.Logf("%s has %d bytes", name, len(b))
	}
}

// TestOpenSummaryRefuses: who says what cannot be is not heard.
func TestOpenSummaryRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		now   time.Duration
		after func(*Summary) // behind the signature's back
		want  error          // nil: any
	}{
		"expired":            {now: SummaryLife, want: ErrExpired},
		"future":             {now: -MaxSkew - time.Millisecond, want: ErrFuture},
		"forged":             {after: func(s *Summary) { s.Idle++ }},
		"another's":          {after: func(s *Summary) { _, s.Leader = someone(9); s.Cell = Cell{} }},
		"of another cell":    {after: func(s *Summary) { s.Cell.Bits++ }},
		"another's epoch":    {after: func(s *Summary) { s.Epoch++ }},
		"an epoch to come":   {after: func(s *Summary) { s.Epoch = epochOf(maxTerm, s.Leader) }},
		"too many members":   {after: func(s *Summary) { s.Members = MaxCellMembers + 1 }},
		"fewer than none":    {after: func(s *Summary) { s.Members = -1 }},
		"more idle than are": {after: func(s *Summary) { s.Idle = s.Slots + 1 }},
		"too many slots":     {after: func(s *Summary) { s.Slots = MaxCellSlots + 1 }},
		"many addresses": {after: func(s *Summary) {
			s.Addrs = slices.Repeat([]string{"/ip4/192.0.2.1/tcp/1"}, MaxSummaryAddrs+1)
		}},
		"a lineage that is too short": {after: func(s *Summary) { s.Lineage = s.Lineage[1:] }},
		"a lineage that is too long":  {after: func(s *Summary) { s.Lineage = append(s.Lineage, s.Lineage[0]) }},
		"a forged division":           {after: func(s *Summary) { s.Lineage[2].Issued = epoch.Add(1e9) }},
		"a division by a stranger":    {after: func(s *Summary) { _, s.Lineage[0].Leader = someone(9) }},
		"many heirs":                  {after: func(s *Summary) { s.Heirs = make([]uint64, MaxGroup) }},
		"too much waits":              {after: func(s *Summary) { s.Waiting = MaxCellSlots + 1 }},
	} {
		s := summaryOf(t, 1, 5, nil)
		if tt.after != nil {
			tt.after(&s)
		}
		b, err := s.Encode()
		if err != nil {
			continue // it cannot even be said
		}
		if _, err := OpenSummary(b, epoch.Add(tt.now)); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	key, _ := someone(1)
	for name, change := range map[string]func(*Summary){
		"a cell that is not its own": func(s *Summary) { s.Cell.Prefix ^= 1 },
		"no cell":                    func(s *Summary) { s.Cell = Cell{MaxCellBits + 1, 0} },
		"too much":                   func(s *Summary) { s.Waiting = -1 },
	} {
		if s := summaryOf(t, 1, 5, nil); true {
			change(&s)
			if s.Sign(key) == nil {
				t.Errorf("%s was signed", name)
			}
		}
	}
}

// TestSummariesAreBounded: whatever is said, in whatever order, a cell has at most MaxClaims,
// each leader one line, in the cell of its number; whom it knew first it keeps.
func TestSummariesAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var table Summaries
		now := epoch
		first := map[Cell]task.PeerID{}
		rt.Repeat(map[string]func(*rapid.T){
			"hear": func(rt *rapid.T) {
				_, peer := someone(byte(rapid.IntRange(1, 40).Draw(rt, "leader")))
				bits := uint8(rapid.IntRange(0, 2).Draw(rt, "bits"))
				s := Summary{Overlay: commons, Leader: peer, Cell: CellOf(CellNumber(commons, peer), bits), Issued: now,
					Members: rapid.IntRange(0, 2).Draw(rt, "members")}
				took := table.Take(s, now, nil)
				got, ok := table.Leader(peer)
				if took && ok != (s.Members > 0) || ok && took && (!reflect.DeepEqual(got, s) || table.Take(s, now, nil)) {
					rt.Fatalf("took %+v, has %+v", s, got)
				}
			},
			"drop": func(rt *rapid.T) {
				_, peer := someone(byte(rapid.IntRange(1, 40).Draw(rt, "leader")))
				table.Drop(peer)
				if _, ok := table.Leader(peer); ok {
					rt.Fatal("it is still there")
				}
			},
			"pass": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second)
				table.Expire(now)
			},
			"": func(rt *rapid.T) {
				seen, cells := map[task.PeerID]bool{}, map[Cell]int{}
				for _, s := range table.All() {
					if cells[s.Cell]++; cells[s.Cell] > MaxClaims || seen[s.Leader] || !s.Cell.Holds(CellNumber(commons, s.Leader)) {
						rt.Fatalf("the table has %+v", s)
					}
					seen[s.Leader] = true
				}
				claims := 0
				for _, line := range table.cells {
					claims += len(line)
				}
				if claims != len(table.leads) || claims < len(seen) {
					rt.Fatalf("%d claims, %d of them shown, %d leaders", claims, len(seen), len(table.leads))
				}
				for c, was := range first {
					line := table.Of(c)
					if i := indexOf(line, was); i > 0 {
						rt.Fatalf("%s was first in %s and is %d now", was, c, i)
					}
				}
				clear(first)
				for c := range cells {
					first[c] = table.Of(c)[0].Leader
				}
			},
		})
	})
}

func indexOf(line []Summary, peer task.PeerID) int {
	for i := range line {
		if line[i].Leader == peer {
			return i
		}
	}
	return -1
}

// FuzzOpenSummary checks that no bytes make OpenSummary panic, and that what it accepts is
// within bounds and encodes back to the same bytes.
func FuzzOpenSummary(f *testing.F) {
	s := summaryOf(f, 1, 5, nil)
	b, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Add(bytes.Repeat([]byte{0xa1}, MaxSummaryBytes+1))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := OpenSummary(in, epoch)
		if err != nil {
			return
		}
		if err := got.check(epoch); err != nil || len(in) > MaxSummaryBytes {
			t.Errorf("accepted: %v", err)
		}
		roundtrip.Same(t, in, got, func(s Summary) ([]byte, error) { return s.Encode() },
			func(b []byte) (Summary, error) { return OpenSummary(b, epoch) })
	})
}
