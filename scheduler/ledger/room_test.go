package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// large is a result that verifies, with outputs of that size and as long a message.
func large(worker string, sig byte, outputs, inline, message int) task.Result {
	r := task.Result{
		Task:   task.TaskID{Job: records[0].ID(), Index: math.MaxUint64},
		Worker: task.PeerID(strings.Repeat(worker, 60)), Outcome: task.Completed, ExitCode: math.MaxInt32,
		Wall: math.MaxInt64, CPU: math.MaxInt64, Message: strings.Repeat("m", message),
		Signature: slices.Repeat([]byte{sig}, 64),
		Receipt: &task.Receipt{Leader: task.PeerID(strings.Repeat("l", 60)), Epoch: math.MaxUint64,
			Seq:    math.MaxUint64 - uint64(sig),
			Issued: math.MaxInt64, Since: math.MaxInt64, From: task.RawCID([]byte{sig}),
			Signature: slices.Repeat([]byte{sig}, 64), Path: make([]byte, 64), At: 15},
	}
	for n := range outputs {
		r.Outputs = append(r.Outputs, task.Output{Name: fmt.Sprintf("%0100d", n), CID: task.RawCID([]byte{byte(n)}),
			Size: math.MaxInt64, Inline: make([]byte, inline)})
	}
	return r
}

func largeLink(receipt task.Receipt) task.Link {
	return task.Link{CID: task.RawCID(nil), Fuel: math.MaxUint64, CPU: math.MaxInt64, Voucher: task.Voucher{
		Worker: task.PeerID(strings.Repeat("w", 60)), Receipt: receipt, Signature: make([]byte, 64),
		Hash: make([]byte, 32), Prior: make([]byte, 32)}}
}

// TestResultBytes: what a result is reckoned to take is at least what it takes, and not much more.
func TestResultBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs := rapid.IntRange(0, 20).Draw(t, "outputs")
		inline, message := rapid.IntRange(0, task.MaxInline).Draw(t, "inline"),
			rapid.IntRange(0, task.MaxMessage).Draw(t, "message")
		r := large("w", 1, outputs, inline, message)
		if rapid.Bool().Draw(t, "trail") {
			r.Trail = &task.Trail{Pass: math.MaxUint32, Fuel: math.MaxUint64, Last: make([]byte, 32),
				Boundaries: task.MaxBoundaries, Root: make([]byte, 32), Engine: "a234567890123456"}
			for range rapid.IntRange(0, task.MaxChain).Draw(t, "links") {
				r.Trail.Began = append(r.Trail.Began, largeLink(*r.Receipt))
			}
		}
		b, err := task.Encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		if n := ResultBytes(&r); n < len(b) || n > len(b)+300+100*outputs+300*task.MaxChain {
			t.Fatalf("%d bytes are reckoned as %d: %d outputs of %d, a message of %d", len(b), n, outputs, inline, message)
		}
	})
}

// TestRoomIsKept: a row that has room for a result is one that other copies take with it: none
// is acknowledged that followers would refuse. Rows are as copies of two sides of a split and
// of liars make them, at their bounds.
func TestRoomIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{Replicas: rapid.IntRange(1, 3).Draw(t, "replicas"), Retries: rapid.IntRange(0, 2).Draw(t, "retries")}
		var row Row
		for k := range rapid.IntRange(0, 2*rule.Most()+2).Draw(t, "results") {
			row.Take(&Row{Results: []task.Result{large("a", byte(k), 1, 10, 0)}}, rule)
		}
		if rapid.Bool().Draw(t, "void") {
			row.Void()
		}
		for k := range rapid.IntRange(0, 2*rule.Retries+4).Draw(t, "failures") {
			res := large("a", byte(k), 0, 0, 9)
			res.Outcome = task.Trapped
			row.Take(&Row{Failures: []Failure{{Attempt{1, uint64(k)}, res}}}, rule)
		}
		for k := range rapid.IntRange(0, MaxLog).Draw(t, "log") {
			row.Note(AttemptLog{Attempt: Attempt{1, uint64(k)}, Worker: "w", Reason: strings.Repeat("r", task.MaxMessage),
				Start: task.At(start), End: task.At(start.Add(time.Second)), Outcome: "lost"})
		}
		news := large("b", 99, rapid.IntRange(0, 3).Draw(t, "outputs"), task.MaxInline, task.MaxMessage)
		news.Outcome = rapid.SampledFrom([]task.Outcome{task.Completed, task.Trapped}).Draw(t, "outcome")
		if !row.HasRoom(&news, rule) {
			return
		}
		leader, follower := row, row
		leader.AddResult(Attempt{2, 1}, news)
		if _, err := follower.Take(&leader, rule); err != nil {
			t.Fatalf("a follower refuses what there was room for: %d results, %d failures: %v", len(leader.Results),
				len(leader.Failures), err)
		}
	})
}

// TestRoomEnds: at which result a row is full, by the count and by the size.
func TestRoomEnds(t *testing.T) {
	rule := Rule{Replicas: 1, Retries: 1} // 2 runs are made, 2 sides may have made them
	fill := func(n int, outcome task.Outcome, outputs int) (row Row) {
		for k := range n {
			res := large(string(rune('a'+k)), byte(k), outputs, task.MaxInline, 0)
			res.Outcome = outcome
			row.AddResult(Attempt{1, uint64(k)}, res)
		}
		return row
	}
	small, half := large("z", 9, 1, 0, 0), large("z", 9, task.MaxOutputs, task.MaxInline, 0)
	void := fill(4, task.Completed, 0)
	void.Void()
	for name, tt := range map[string]struct {
		row  Row
		res  task.Result
		want bool
	}{
		"an empty row":               {Row{}, half, true},
		"three results":              {fill(3, task.Completed, 0), small, true},
		"four results":               {fill(4, task.Completed, 0), small, false},
		"four that are void":         {void, small, true},
		"three failures":             {fill(3, task.Trapped, 0), small, true},
		"a result of half a row":     {fill(1, task.Completed, task.MaxOutputs), small, true},
		"two of half a row":          {fill(2, task.Completed, task.MaxOutputs), small, true},
		"a third of half a row":      {fill(2, task.Completed, task.MaxOutputs), half, false},
		"failures of half a row too": {fill(2, task.Trapped, task.MaxOutputs), half, false},
	} {
		if got := tt.row.HasRoom(&tt.res, rule); got != tt.want {
			t.Errorf("%s: room is %v", name, got)
		}
		if err := tt.row.bound(rule); err != nil {
			t.Errorf("%s is itself beyond the bounds: %v", name, err)
		}
	}
}

// TestRoomBesideResults: a full log and all that may be void leave as much room for results as
// there is said to be.
func TestRoomBesideResults(t *testing.T) {
	rule := Rule{Replicas: 2}
	var row Row
	for k := range byte(2) {
		row.AddResult(Attempt{1, uint64(k)}, large(string('a'+k), k, 800, task.MaxInline, 0))
	}
	for k := range uint64(MaxLog) {
		row.Note(AttemptLog{Attempt: Attempt{1, k}, Worker: "w", Reason: strings.Repeat("r", task.MaxMessage)})
	}
	for k := range MaxResults {
		row.addVoid(VoidName{Worker: task.PeerID(fmt.Sprintf("%060d", k))})
	}
	fits := 0
	for n := 0; n < task.MaxOutputs; n += 20 {
		both, news := row, large("c", 9, n, task.MaxInline, 0)
		if !both.HasRoom(&news, rule) {
			continue
		}
		both.AddResult(Attempt{2, 1}, news)
		if err := both.bound(rule); err != nil {
			t.Fatalf("with %d outputs more: %v", n, err)
		}
		fits = n
	}
	if fits == 0 || fits+20 >= task.MaxOutputs {
		t.Errorf("at most %d outputs fit: this looks at no bound", fits)
	}
}

// TestTakeIsWhole: of a row that is refused nothing is taken.
func TestTakeIsWhole(t *testing.T) {
	rule := Rule{Replicas: 1}
	var row Row
	row.AddResult(Attempt{1, 1}, result("a", task.Completed, 1))
	before := must(row.Encode())
	flood := Row{Best: &Checkpoint{CID: task.RawCID(nil), Fuel: 1}}
	for k := range byte(2) {
		flood.AddResult(Attempt{1, uint64(k)}, result(string('b'+k), task.Completed, k))
	}
	if changed, err := row.Take(&flood, rule); changed || err == nil || string(must(row.Encode())) != string(before) {
		t.Errorf("a row beyond what its job allows for: changed %v, %v", changed, err)
	}
	if changed, err := row.Take(&row, rule); changed || err != nil {
		t.Errorf("its own: changed %v, %v", changed, err)
	}
	flood.Results = flood.Results[:1]
	if changed, err := row.Take(&flood, rule); !changed || err != nil || len(row.Results) != 2 || row.Best == nil {
		t.Errorf("within the bounds: changed %v, %v: %+v", changed, err, row)
	}
}

// TestFactsHaveRoom: facts that are said to have room are merged to some that are read again.
func TestFactsHaveRoom(t *testing.T) {
	comb := func(n int, from uint64) (s Set) {
		for i := range uint64(n) {
			s = append(s, Range{from + 4*i, from + 4*i + 1})
		}
		return s
	}
	for name, tt := range map[string]struct {
		ours, theirs Facts
		want         bool
	}{
		"as many as there may be": {Facts{Done: comb(MaxRanges-3, 0)}, Facts{Done: comb(3, 2)}, true},
		"one more":                {Facts{Done: comb(MaxRanges-3, 0)}, Facts{Done: comb(4, 2)}, false},
		"one more that failed":    {Facts{Failed: comb(MaxRanges-3, 0)}, Facts{Failed: comb(4, 2)}, false},
		"of another delivery":     {Facts{Done: comb(MaxRanges, 0)}, Facts{Done: comb(9, 2), Delivery: 1}, true},
		"signed, one stands": {Facts{Done: comb(MaxRanges, 0)},
			Facts{Done: comb(9, 2), Signed: make([]byte, 64)}, true},
		"some of each, one beyond": {Facts{Done: comb(MaxRanges, 0)}, Facts{Failed: comb(MaxRanges, 2)}, true},
	} {
		if got := tt.ours.HasRoom(&tt.theirs); got != tt.want {
			t.Errorf("%s: room is %v", name, got)
		}
		if !tt.want {
			continue
		}
		tt.ours.Merge(&tt.theirs)
		if _, err := DecodeFacts(must(tt.ours.Encode())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
