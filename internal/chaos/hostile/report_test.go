package hostile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"godwit/internal/chaos/hostile/virtual"
	"godwit/overlay"
)

// A row holds until something is broken, and says all that was tried.
func TestReport(t *testing.T) {
	good, bad := &Row{ID: "A", Before: "worse"}, &Row{ID: "B", Before: "worse"}
	good.tried(3, "one")
	good.tried(4, "two")
	good.must("nothing", nil)
	bad.must("something", errors.New("fell"))
	var b strings.Builder
	if err := (&Report{Rows: []*Row{good, bad}}).Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A    holds   tried 7 times", "one; two", "B    BROKEN", "something: fell",
		"1 of 2 rows hold"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// Rows are chosen by name, whatever its case.
func TestChosen(t *testing.T) {
	if list, err := chosen([]string{"s3", "S1"}); err != nil || len(list) != 2 || list[0].id != "S3" {
		t.Errorf("%d rows, %v", len(list), err)
	}
	if Check([]string{"S99"}) == nil {
		t.Error("a row that does not exist was chosen")
	}
	seen := map[string]bool{}
	for _, a := range attacks() {
		if seen[a.id] || a.before == "" || a.play == nil && a.each == nil && !virtual.Has(a.id) {
			t.Errorf("row %s is there twice, or lacks something", a.id)
		}
		seen[a.id] = true
	}
}

// A renewal is late by what it comes later than one after the last.
func TestLateness(t *testing.T) {
	g := newGauge(nil)
	now := time.Now().Add(-10 * overlay.RenewEvery)
	for _, after := range []time.Duration{0, overlay.RenewEvery, 3 * overlay.RenewEvery, overlay.RenewEvery / 2} {
		now = now.Add(after)
		g.renewed(now)
	}
	if g.late != 2*overlay.RenewEvery || g.beats != 4 {
		t.Errorf("%d renewals, %v late; want 4 and %v", g.beats, g.late, 2*overlay.RenewEvery)
	}
	if l := g.look(); l.late <= 2*overlay.RenewEvery {
		t.Errorf("after a silence they are %v late", l.late)
	}
}
