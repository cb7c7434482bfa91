package member

import (
	"encoding/json"
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
