package member

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
)

// A member that restarts comes back into its cell with the cell's lineage, without asking anybody.
func TestRestartIntoStoredCell(t *testing.T) {
	leader, follower := ruler(t)
	s := leader.s
	for _, h := range s.hosts {
		h.crowd(100, 600)
	}
	follower.at(follower.m.Advertise)
	s.settle()
	leader.looks()
	s.settle()
	s.pass(2*time.Minute, func() bool { return follower.disk[CellKey] != nil && !follower.m.stored.Entered.IsZero() })
	cell, line := follower.m.Cell(), follower.m.descent.lineage
	if cell.Whole() || !line.Of(cell) {
		t.Fatalf("the pool did not divide: cell %s", cell)
	}
	before, err := readCell(follower.disk[CellKey])
	if err != nil || before.Bits != cell.Bits {
		t.Fatalf("stored is %+v: %v", before, err)
	}
	follower.crash()
	follower.boot()
	if got := follower.m.Cell(); got != cell || !follower.m.descent.lineage.Same(line) {
		t.Errorf("after a restart it is in cell %s with lineage %v, want %s with %v", got, follower.m.descent.lineage, cell, line)
	}
}

// Members of an undivided pool restart a few seconds after they met. Strangers in two networks are the first to answer
// them: no member leaves the pool. One member is a founder that had been alone for an hour.
func TestStrangersDontMoveMembersThatRestartSoon(t *testing.T) {
	for name, alone := range map[string]time.Duration{"all start together": 0, "the founder was alone": time.Hour} {
		s := newSwarm(t, 3)
		s.cells = overlay.DefaultCellRule()
		s.hosts[0].boot()
		s.hosts[0].at(s.hosts[0].m.Found)
		s.pass(alone, func() bool { return false })
		for _, h := range s.hosts[1:] {
			h.boot()
		}
		if !s.pass(10*time.Second, func() bool { return s.leader() != nil && s.allFollow(s.leader()) }) {
			t.Fatalf("%s: no common leader", name)
		}
		for _, h := range s.hosts {
			h.crash()
		}
		for _, h := range s.hosts {
			h.boot()
			h.reported("x", "3", 6)
			h.reported("y", "4", 6)
			if !h.m.Cell().Whole() {
				t.Errorf("%s: host %d moved to cell %s", name, h.n, h.m.Cell())
			}
			h.crash() // the next one is alone, too
		}
	}
}

// allFollow reports whether all hosts follow a leader.
func (s *swarm) allFollow(leader *host) bool {
	return !slices.ContainsFunc(s.hosts, func(h *host) bool { return !h.up || h.m.Leader() != leader.m.Leader() })
}

// A newcomer goes to a cell that peers only reported, whose leader it knows from an advert. The cell isn't stored when
// the newcomer follows that leader, because strangers may have reported it.
func TestReportedCellIsNotStoredAtOnce(t *testing.T) {
	h := loner(t)
	leader := h.reportOf(6).Leader
	epoch := overlay.NextEpoch(0, leader)
	h.tell(Advertised{Advert: &overlay.Advert{Peer: leader, Overlay: h.m.ID(), Seq: 1, Issued: h.s.now, Bits: 6,
		Expires: h.s.now.Add(AdvertLife), State: overlay.Available, Slots: 1, Epoch: epoch}})
	h.reported("x", "3", 6)
	h.reported("y", "4", 6)
	if got := h.m.Leader().Leader; h.m.Cell().Bits != 6 || got != leader {
		t.Fatalf("the newcomer is in cell %s and follows %q, want %s", h.m.Cell(), got, leader)
	}
	if r := h.m.stored; r.Bits > 0 {
		t.Errorf("the reported cell is stored: %+v", r)
	}
}

// What is beyond a bound, or is no record, is refused with a reason.
func TestReadCell(t *testing.T) {
	for name, tt := range map[string]struct {
		record CellRecord
		want   string
	}{
		"a cell":            {CellRecord{Bits: overlay.MaxCellBits, Members: 3}, ""},
		"many bits":         {CellRecord{Bits: overlay.MaxCellBits + 1}, "bits"},
		"a long lineage":    {CellRecord{Lineage: make(overlay.Lineage, overlay.MaxCellBits+1)}, "divisions"},
		"a long former one": {CellRecord{Before: make(overlay.Lineage, overlay.MaxCellBits+1)}, "divisions"},
		"many leaders":      {CellRecord{Reigns: make([]Reign, maxReigns+1)}, "leaders"},
		"fewer than none":   {CellRecord{Members: -1}, "members"},
	} {
		b, err := json.Marshal(tt.record)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readCell(b); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readCell([]byte("{")); err == nil {
		t.Error("half a record is read")
	}
}

// FuzzReadCell: what is read is within the bounds, and is read again as it is written.
func FuzzReadCell(f *testing.F) {
	f.Add([]byte(`{"bits":1,"lineage":[{"Leader":"p","Epoch":1,"Issued":"2026-01-02T03:04:05Z"}],"members":7}`))
	f.Add([]byte(`{"bits":99}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readCell(b)
		if err != nil {
			return
		}
		if r.Bits > overlay.MaxCellBits || len(r.Lineage) > overlay.MaxCellBits || len(r.Reigns) > maxReigns {
			t.Fatalf("beyond the bounds: %+v", r)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Skip("a time that JSON cannot write")
		}
		if _, err := readCell(again); err != nil {
			t.Fatalf("written and not read: %v", err)
		}
	})
}
