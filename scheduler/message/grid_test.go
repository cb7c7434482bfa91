package message

import (
	"testing"

	"pgregory.net/rapid"
)

// A grid counts what a list of every task would.
func TestGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Uint64Range(0, 300).Draw(t, "tasks")
		bins := rapid.IntRange(-1, 400).Draw(t, "bins")
		g := NewGrid(total, bins)
		naive := make([]byte, total) // w, r, d, f, l
		for i := range naive {
			naive[i] = 'w'
		}
		set := func(r Range, to byte) {
			for i := r.From; i < min(r.To, total); i++ {
				naive[i] = to
			}
		}
		at := uint64(0)
		for at < total { // each task is told of once
			r := Range{From: at, To: at + rapid.Uint64Range(1, 90).Draw(t, "run")}
			switch at = r.To; rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				g.Do(r)
				set(r, 'd')
			case 1:
				g.Fail(r)
				set(r, 'f')
			case 2:
				g.Run(r.From)
				set(Range{From: r.From, To: r.From + 1}, 'r')
			}
		}
		if total > 0 && naive[0] == 'd' {
			g.Missed(0)
			naive[0] = 'f'
		}
		if total > 0 { // what is told to be held in one run, and is lent
			from := rapid.Uint64Range(0, total-1).Draw(t, "lent from")
			for to := from; to < total && naive[to] == 'd'; to++ {
				g.Lend(Range{From: to, To: to + 1})
				naive[to] = 'l'
			}
		}
		if rapid.Bool().Draw(t, "over") {
			g.FailRest()
			for i := range naive {
				if naive[i] == 'w' {
					naive[i] = 'f'
				}
			}
		}
		if n := max(1, bins); len(g.Bins) > n || !g.Fits(n) {
			t.Fatalf("%d tasks in at most %d bins are %d bins of %d", total, n, len(g.Bins), g.PerBin)
		}
		for k := range g.Bins {
			var want Bin
			for i := uint64(k) * g.PerBin; i < min(total, uint64(k+1)*g.PerBin); i++ {
				*map[byte]*uint64{'w': &want.Waiting, 'r': &want.Running, 'd': &want.Done, 'f': &want.Failed, 'l': &want.Lent}[naive[i]]++
			}
			if g.Bins[k] != want {
				t.Fatalf("bin %d is %+v, want %+v", k, g.Bins[k], want)
			}
		}
	})
}

// What a leader may not send is not shown.
func TestGridFits(t *testing.T) {
	for name, g := range map[string]*Grid{
		"no size": {Total: 3}, "too many bins": {Total: 3, PerBin: 1, Bins: make([]Bin, 3)},
		"too few": {Total: 30, PerBin: 10, Bins: make([]Bin, 2)},
		"beyond":  {Total: 2, PerBin: 2, Bins: []Bin{{Done: 1 << 60}}},
		"twice":   {Total: 2, PerBin: 2, Bins: []Bin{{Done: 2, Failed: 1}}},
		"around":  {Total: 2, PerBin: 2, Bins: []Bin{{Done: 1<<64 - 1, Failed: 1}}},
	} {
		if g.Fits(2) {
			t.Errorf("%s: %+v is taken", name, g)
		}
	}
	if !NewGrid(10, 2).Fits(2) {
		t.Error("a grid does not fit")
	}
}
