package simpetek

import (
	"strings"
	"sync"
	"testing"

	"godwit/reproduce"
)

// verdicts runs an experiment of Sim-PETEK, and returns the verdict and what was
// obtained by cell.
func verdicts(t *testing.T, name string) map[string]reproduce.Cell {
	t.Helper()
	es, err := reproduce.Select(Experiments(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	r, err := es[0].Run(reproduce.Options{Seed: 1, Each: atOnce})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]reproduce.Cell{}
	for _, c := range r.Cells {
		if c.Unexplained() {
			t.Errorf("%s: %s, and nothing explains it", c.Cell, c.Obtained)
		}
		out[c.Cell] = c
	}
	return out
}

// atOnce runs everything side by side.
func atOnce(n int, run func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

func TestSimPETEKExample(t *testing.T) {
	got := verdicts(t, "example")
	for cell, want := range map[string]string{"AMRS, 3 rounds": "65 s", "AMRA, 3 rounds": "45 s",
		"SAMRA, 3 rounds": "40 s", "SSSE, peak 1, k 3, m 2.3": "38 s", "ISSSE, the same": "38 s"} {
		if got[cell].Obtained != want || got[cell].Verdict == reproduce.Differs {
			t.Errorf("%s: %+v, want %s", cell, got[cell], want)
		}
	}
}

// TestSimPETEKAdaptivity: adaptive ISSSE is faster in all 12 cases than a rival that holds
// nodes to their shares, and than one without redistribution. Two runs a case decide.
func TestSimPETEKAdaptivity(t *testing.T) {
	b := &bench{&reproduce.Bench{Options: reproduce.Options{Seed: 1, Each: atOnce}}, 2}
	if err := group3(b); err != nil {
		t.Fatal(err)
	}
	if len(b.Cells) != 2*len(rivals) {
		t.Errorf("%d cells, want %d", len(b.Cells), 2*len(rivals))
	}
	for _, c := range b.Cells {
		holds := !strings.Contains(c.Cell, "next chunk, with redistribution")
		if holds != (c.Verdict == reproduce.Direction) || c.Unexplained() {
			t.Errorf("%s: %s, %s", c.Cell, c.Obtained, c.Verdict)
		}
	}
}

func TestCompareSchedulers(t *testing.T) {
	if _, err := Compare([]string{"gss", "best"}); err == nil {
		t.Error("a scheduler that there is not is compared")
	}
	e, err := Compare([]string{"gss", "static"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(reproduce.Options{Seed: 1, Each: atOnce})
	if err != nil || len(r.Tables) != 6 || len(r.Tables[0].Rows) != 2 ||
		len(r.Tables[0].Rows[1]) != len(r.Tables[0].Header) || r.Tables[5].Rows[1][0] != "static" {
		t.Errorf("%+v, %v", r, err)
	}
}
