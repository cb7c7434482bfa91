package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"godwit/task"
	"pgregory.net/rapid"
)

// chain is one of states that those workers left, the latest first.
func chain(workers ...string) (links []task.Link) {
	for k := len(workers) - 1; k >= 0; k-- {
		links = append([]task.Link{{Fuel: uint64(len(workers) - k), Voucher: task.Voucher{
			Worker: task.PeerID(workers[k]), Prior: task.PriorOf(links)}}}, links...)
	}
	return links
}

// lineState is a checkpoint that the first of the workers took, whose line goes by the others.
func lineState(says byte, fuel uint64, workers ...string) *Checkpoint {
	before := chain(workers[1:]...)
	return &Checkpoint{CID: task.RawCID([]byte{says}), Fuel: fuel, Before: before,
		Voucher: &task.Voucher{Worker: task.PeerID(workers[0]), Prior: task.PriorOf(before),
			Signature: []byte(fmt.Sprint(workers))}}
}

// badWord is a worker's that could not go on from a state.
func badWord(c *Checkpoint) task.Voucher {
	return task.Voucher{Worker: "w", Receipt: task.Receipt{From: c.CID}, Signature: []byte{1}}
}

// TestLinesAreApart: each line has a checkpoint of its own, whoever took it; one of which it is not known in whose line
// it is has none; and a worker's word that it could not go on from one is about that line alone.
func TestLinesAreApart(t *testing.T) {
	var r Row
	a, b, onA := lineState(1, 5, "a"), lineState(2, 3, "b"), lineState(3, 8, "c", "a")
	for _, c := range []*Checkpoint{a, b, onA} {
		if !r.WantsLine(c) || !r.SaveLine(c) || r.WantsLine(c) || r.SaveLine(c) {
			t.Fatalf("%+v is not kept once", c)
		}
	}
	if got := r.LineStates(); len(got) != 2 || got[0] != onA || got[1] != b || r.LineState("a") != onA {
		t.Errorf("the lines go on from %+v", got)
	}
	if r.WantsLine(lineState(4, 7, "d", "a")) || r.State() != nil || r.Best != nil {
		t.Error("less work is wanted, or there is a state for all")
	}
	short := chain("d", "e", "f")
	short[2].Voucher.Prior = make([]byte, 32)
	cut := &Checkpoint{CID: task.RawCID(nil), Fuel: 9, Before: short, Voucher: &task.Voucher{Worker: "c"}}
	if unsigned := (&Checkpoint{CID: task.RawCID(nil), Fuel: 9}); r.SaveLine(cut) || r.SaveLine(unsigned) ||
		r.WantsLine(cut) || (*Row)(nil).WantsLine(unsigned) || !(*Row)(nil).WantsLine(a) {
		t.Error("a state of nobody knows which line is kept")
	}
	if r.StateNamed(b.CID) != b || r.StateNamed(a.CID) != nil {
		t.Error("states are not found by their names")
	}
	if !r.VoidState(badWord(onA)) || r.VoidState(badWord(onA)) || r.LineState("a") != nil || r.LineState("b") != b {
		t.Fatalf("after a bad state the lines are %+v", r.Lines)
	}
	if r.SaveLine(onA) || !r.SaveLine(a) || r.LineState("a") != a {
		t.Errorf("after a bad state the line goes on from %+v", r.LineState("a"))
	}
	if (&Row{}).Covers(&r) || !r.Covers(&r) {
		t.Error("a row without states covers one that has some")
	}
}

// TestLinesMerge: copies of a row that save states of lines, of more than are kept, and find some bad end with the same
// lines, the furthest, in whatever order they tell one another.
func TestLinesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]Row, 3)
		for n := range rapid.IntRange(1, 60).Draw(t, "events") {
			r := &rows[rapid.IntRange(0, 2).Draw(t, "row")]
			before, changed := must(r.Encode()), false
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			default:
				by := []string{fmt.Sprint("w", rapid.IntRange(0, MaxLines+3).Draw(t, "root"))}
				if rapid.Bool().Draw(t, "went on") {
					by = append([]string{"x"}, by...)
				}
				changed = r.SaveLine(lineState(rapid.ByteRange(0, 9).Draw(t, "state"),
					rapid.Uint64Range(2, 9).Draw(t, "fuel"), by...))
			case 1:
				if states := r.LineStates(); len(states) > 0 {
					changed = r.VoidState(badWord(rapid.SampledFrom(states).Draw(t, "bad")))
				}
			case 2:
				changed = r.Merge(&rows[rapid.IntRange(0, 2).Draw(t, "from")])
			}
			if changed == (string(before) == string(must(r.Encode()))) {
				t.Fatalf("event %d: whether the row changed is wrong: %v", n, changed)
			}
			if back, err := DecodeRow(must(r.Encode())); err != nil || string(must(back.Encode())) != string(must(r.Encode())) {
				t.Fatalf("event %d: it is not read as it was written: %v", n, err)
			}
			for _, s := range r.LineStates() {
				if r.isBad(s.CID) || r.LineState(s.Root()) != s {
					t.Fatalf("event %d: %+v is offered", n, s)
				}
			}
		}
		for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
			var all, nested Row
			for _, i := range order {
				all.Merge(&rows[i])
			}
			nested.Merge(&rows[order[1]])
			nested.Merge(&rows[order[2]])
			first := rows[order[0]]
			if first.Merge(&nested); string(must(first.Encode())) != string(must(all.Encode())) || first.Merge(&all) {
				t.Fatalf("%v: %+v and %+v", order, first, all)
			}
			rows[order[0]] = all
		}
		for k := range rows {
			if string(must(rows[k].Encode())) != string(must(rows[0].Encode())) {
				t.Fatalf("row %d is %+v, the first is %+v", k, rows[k], rows[0])
			}
		}
	})
}

// TestVetLines: what a copy says of lines is looked at before it counts, but for what is known here.
func TestVetLines(t *testing.T) {
	a, b := lineState(1, 5, "a"), lineState(2, 3, "b")
	var ours, theirs Row
	ours.SaveLine(a)
	theirs.SaveLine(a)
	theirs.SaveLine(b)
	looked := 0
	bad := func(*Checkpoint) error { looked++; return errors.New("nobody vouches") }
	err := theirs.VetLines(&ours, bad)
	if err == nil || looked != 1 || len(theirs.Lines) != 1 || theirs.Lines[0].Root != "a" {
		t.Errorf("after %d looks there are %+v (%v)", looked, theirs.Lines, err)
	}
	theirs.SaveLine(b)
	if err := theirs.VetLines(nil, func(*Checkpoint) error { return nil }); err != nil || len(theirs.Lines) != 2 {
		t.Errorf("good lines are %+v (%v)", theirs.Lines, err)
	}
	for name, change := range map[string]func(r *Row){
		"out of order":   func(r *Row) { slices.Reverse(r.Lines) },
		"another's root": func(r *Row) { r.Lines[0].Root = "aa" },
		"nothing":        func(r *Row) { r.Lines[0].Best = nil },
		"a late round":   func(r *Row) { r.Lines[0].Round = 1 },
		"a bad state":    func(r *Row) { c := *a; c.Fuel = 0; r.Lines[0].Best = &c },
	} {
		r := Row{Lines: slices.Clone(theirs.Lines)}
		change(&r)
		if _, err := DecodeRow(must(r.Encode())); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

// TestOnlyIndependentRunsAgree: with whatever chains, as many results agree as there are with no worker in common,
// counted by trying all; a task is done with as many as its job asks for, and a result more never takes that back.
func TestOnlyIndependentRunsAgree(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{Replicas: rapid.IntRange(2, 3).Draw(t, "replicas"), Retries: 1}
		var r Row
		done := false
		for n := range rapid.IntRange(1, 7).Draw(t, "results") {
			by := rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "chain")
			res := result(by[0], task.Completed, rapid.ByteRange(1, 2).Draw(t, "says"))
			res.Signature = []byte{byte(n)}
			res.Trail = &task.Trail{Began: chain(by[1:]...)}
			r.AddResult(Attempt{1, uint64(n)}, res)
			agreed := r.Agreed()
			if !task.Independent(agreed) || len(agreed) == 0 {
				t.Fatalf("%+v are not independent", agreed)
			}
			if want := mostApart(r.Said()); len(agreed) != want {
				t.Fatalf("%d agree, want %d of %+v", len(agreed), want, r.Said())
			}
			is := r.Verdict(rule) == Done
			if is != (len(agreed) >= rule.Replicas) || done && !is {
				t.Fatalf("done is %v after %v, with %d of %d", is, done, len(agreed), rule.Replicas)
			}
			done = is
		}
		for r.Void() {
		}
		if len(r.Said()) > 0 {
			t.Fatalf("with all void there is %+v", r.Said())
		}
	})
}

// mostApart tries all sets of results that say the same.
func mostApart(said []task.Result) (most int) {
	for set := range 1 << len(said) {
		var chosen []task.Result
		for i := range said {
			if set&(1<<i) != 0 && (len(chosen) == 0 || agree(&chosen[0], &said[i])) {
				chosen = append(chosen, said[i])
			}
		}
		if task.Independent(chosen) {
			most = max(most, len(chosen))
		}
	}
	return most
}

// TestDependentRunsEndNothing: runs that went on from one state count as one, so that a task neither ends by their
// word nor is given up for them; the same worker's run from the beginning counts.
func TestDependentRunsEndNothing(t *testing.T) {
	rule := Rule{Replicas: 2, Retries: 0}
	var r Row
	add := func(says byte, by ...string) bool {
		res := result(by[0], task.Completed, says)
		res.Signature = []byte(fmt.Sprint(by, says))
		res.Trail = &task.Trail{Began: chain(by[1:]...)}
		return r.AddResult(Attempt{1, uint64(len(r.Results))}, res)
	}
	for _, worker := range []string{"b", "c", "d"} {
		add(1, worker, "liar")
	}
	if v := r.Verdict(rule); v != Open || len(r.Agreed()) != 1 {
		t.Errorf("three runs from a liar's state: %v, %d agree", v, len(r.Agreed()))
	}
	if add(1, "b", "e") || !add(1, "b") || add(1, "b") {
		t.Error("a run from the beginning is no news, or another is")
	}
	if v := r.Verdict(rule); v != Done || len(r.Agreed()) != 2 {
		t.Errorf("with one from the beginning: %v, %d agree", v, len(r.Agreed()))
	}
	r = Row{}
	for k := range sides * rule.Most() {
		add(byte(k), fmt.Sprint("w", k), "liar")
	}
	if v := r.Verdict(rule); v != Failed {
		t.Errorf("with all that the row has room for: %v", v)
	}
}
