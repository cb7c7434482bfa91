package ledger

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// TestStatesSpread: copies of a row that save, find states bad and tell one another in any order
// end with the same states, and none goes on from one that it knows to be bad.
func TestStatesSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]Row, 3)
		for n := range rapid.IntRange(1, 40).Draw(t, "events") {
			r := &rows[rapid.IntRange(0, 2).Draw(t, "row")]
			c := &Checkpoint{CID: task.RawCID([]byte{rapid.ByteRange(0, 2).Draw(t, "state")}),
				Fuel: rapid.Uint64Range(1, 4).Draw(t, "fuel")}
			before := must(r.Encode())
			changed := false
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0, 1:
				wanted, was := r.Wants(c), r.State()
				changed = r.Save(c)
				if tie := was != nil && was.Fuel == c.Fuel; wanted != (r.State() == c) && !tie || wanted && tie {
					t.Fatalf("event %d: wanted %v, and the row has %+v of %+v", n, wanted, r.State(), c)
				}
			case 2:
				was, from := r.State(), c.CID
				if was != nil && c.Fuel > 1 {
					from = was.CID
				}
				v := task.Voucher{Worker: "w", Receipt: task.Receipt{From: from}, Signature: []byte{byte(n % 3)}}
				if changed = r.VoidState(v); changed != (was != nil && was.CID == from) {
					t.Fatalf("event %d: void %v of %v, the state was %v", n, changed, from, was)
				}
			case 3:
				changed = r.Merge(&rows[rapid.IntRange(0, 2).Draw(t, "from")])
			}
			if changed == (string(before) == string(must(r.Encode()))) {
				t.Fatalf("event %d: whether the row changed is wrong: %v", n, changed)
			}
			if s := r.State(); s != nil && r.isBad(s.CID) {
				t.Fatalf("event %d: a bad state is offered", n)
			}
			if _, err := DecodeRow(must(r.Encode())); err != nil {
				t.Fatalf("event %d: %v", n, err)
			}
		}
		order := rapid.Permutation([]int{0, 1, 2, 0, 1, 2}).Draw(t, "order")
		for range 2 { // whoever tells whom
			for _, i := range order {
				for k := range rows {
					rows[i].Merge(&rows[k])
				}
			}
		}
		for k := range rows {
			if string(must(rows[k].Encode())) != string(must(rows[0].Encode())) {
				t.Fatalf("row %d is %+v, the first is %+v", k, rows[k], rows[0])
			}
		}
	})
}

// TestVouchedCheckpoints: a checkpoint counts with the word of its worker about just that state,
// of a lease long enough ago.
func TestVouchedCheckpoints(t *testing.T) {
	now := start.Add(time.Hour)
	pub, _ := ownerKey.Public().(ed25519.PublicKey)
	self := task.PeerIDOf(pub) // leads, and works
	id := task.TaskID{Job: records[0].ID(), Index: 3}
	vouch := func(c Checkpoint, given time.Time) *Checkpoint {
		r, err := task.NewReceipt(ownerKey, self, id, self, task.Receipt{Epoch: 1, Seq: 1, Issued: given.UnixMilli()})
		if err != nil {
			t.Fatal(err)
		}
		c.Voucher = must(task.Vouch(ownerKey, r, c.ToVouch(id, [32]byte{}, nil)))
		return &c
	}
	const hour = 3600 * 1_000_000_000 // of a slow machine
	good := vouch(Checkpoint{CID: task.RawCID(nil), Fuel: hour, CPU: time.Minute}, start)
	for name, tt := range map[string]struct {
		c    *Checkpoint
		id   task.TaskID
		want string
	}{
		"as it was given": {good, id, ""},
		"of another task": {good, task.TaskID{Job: id.Job, Index: 4}, "signature"},
		"more work":       {&Checkpoint{good.CID, hour + 1, good.CPU, good.Voucher, nil, nil}, id, "signature"},
		"more time":       {&Checkpoint{good.CID, hour, good.CPU + 1, good.Voucher, nil, nil}, id, "signature"},
		"another state": {&Checkpoint{task.RawCID([]byte{1}), hour, good.CPU, good.Voucher, nil, nil}, id,
			"signature"},
		"nobody's word":         {&Checkpoint{CID: good.CID, Fuel: hour, CPU: good.CPU}, id, "nobody vouches for it"},
		"more than there is":    {vouch(Checkpoint{CID: good.CID, Fuel: 1000 * hour}, start), id, "no machine does work of"},
		"an hour in no time":    {vouch(Checkpoint{CID: good.CID, Fuel: 64 * hour}, now), id, "no machine does work of"},
		"of a lease of the day": {vouch(Checkpoint{CID: good.CID, Fuel: 1}, now.Add(24*time.Hour)), id, "no machine"},
	} {
		err := tt.c.Vouched(tt.id, now)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	bad := BadState(id, &task.Voucher{Receipt: task.Receipt{From: good.CID}})
	if !bad.Bad || bad.CID != good.CID || bad.Task != id || bad.Fuel != 0 {
		t.Errorf("a bad state is %+v", bad)
	}
}

// TestHas: a row has a result to the last byte, among those that completed and those that failed.
func TestHas(t *testing.T) {
	done, trapped := result("a", task.Completed, 1), result("b", task.Trapped, 2)
	var row, none *Row = &Row{}, nil
	row.AddResult(Attempt{1, 1}, done)
	row.AddResult(Attempt{1, 2}, trapped)
	for name, change := range map[string]func(r *task.Result){
		"as it is":          func(*task.Result) {},
		"of another worker": func(r *task.Result) { r.Worker = "c" },
		"signed otherwise":  func(r *task.Result) { r.Signature = []byte{9} },
		"changed after":     func(r *task.Result) { r.CPU++ },
		"of another lease":  func(r *task.Result) { r.Receipt = &task.Receipt{Epoch: 1} },
		"with other output": func(r *task.Result) { r.Outputs = []task.Output{{Name: "stdout"}} },
	} {
		for _, r := range []task.Result{done, trapped} {
			change(&r)
			if got := row.Has(&r); got != (name == "as it is") || none.Has(&r) {
				t.Errorf("%v %s: it has it: %v", r.Outcome, name, got)
			}
		}
	}
}

// TestWhy: what people read of a task that failed names the last failure, and how often it was
// tried; of one that did not fail there is nothing to read.
func TestWhy(t *testing.T) {
	type end struct {
		outcome task.Outcome
		code    uint32
		message string
	}
	for _, tt := range []struct {
		rule Rule
		ends []end
		want string
	}{
		{Rule{1, 0, ""}, []end{{task.ExitFailure, 3, ""}}, "exit code 3"},
		{Rule{1, 0, ""}, []end{{task.Trapped, 0, "unreachable"}}, "trapped: unreachable"},
		{Rule{1, 1, ""}, []end{{task.Trapped, 0, "x"}, {task.ExitFailure, 1, "no file"}},
			"exit code 1: no file (attempt 2 of 2)"},
		{Rule{1, 2, ""}, []end{{task.TimedOut, 0, ""}, {task.TimedOut, 0, ""}}, ""},
		{Rule{2, 0, ""}, []end{{task.Completed, 1, ""}, {task.Completed, 2, ""}, {task.Completed, 3, ""}},
			"3 runs completed and no 2 of them agree: the task is not deterministic, or workers are wrong"},
		{Rule{1, 0, ""}, nil, ""},
	} {
		var row Row
		for k, e := range tt.ends {
			res := result(fmt.Sprint("w", k), e.outcome, byte(k))
			res.ExitCode, res.Message = e.code, e.message
			row.AddResult(Attempt{1, uint64(k)}, res)
		}
		if got := row.Why(tt.rule); got != tt.want {
			t.Errorf("%+v of %+v: %q, want %q", tt.rule, tt.ends, got, tt.want)
		}
	}
}

// TestJobOver: a job is over when its submitter or its deadline ended it, or when each of its
// tasks was delivered, none counted twice.
func TestJobOver(t *testing.T) {
	l := New()
	j, err := l.Add(records[0]) // of ten tasks
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		facts Facts
		want  bool
	}{
		"nothing":                      {Facts{}, false},
		"cancelled":                    {Facts{Cancel: []byte{1}}, true},
		"expired":                      {Facts{Expired: true}, true},
		"all done":                     {Facts{Done: Set{{0, 10}}}, true},
		"done or failed":               {Facts{Done: Set{{0, 4}}, Failed: Set{{4, 10}}}, true},
		"all but one":                  {Facts{Done: Set{{0, 4}}, Failed: Set{{5, 10}}}, false},
		"as many, some in both":        {Facts{Done: Set{{0, 6}}, Failed: Set{{4, 8}}}, false},
		"all of them, and some doubly": {Facts{Done: Set{{0, 10}}, Failed: Set{{2, 3}}}, true},
	} {
		if j.Facts = tt.facts; j.Over() != tt.want {
			t.Errorf("%s: over is %v", name, j.Over())
		}
	}
}

// TestAttemptsAreOrdered: by epoch first, whatever the count within it.
func TestAttemptsAreOrdered(t *testing.T) {
	order := []Attempt{{0, 0}, {0, 9}, {1, 0}, {1, 1}, {2, 0}}
	for i, a := range order {
		for k, b := range order {
			if a.Less(b) != (i < k) {
				t.Errorf("%v before %v is %v", a, b, a.Less(b))
			}
		}
	}
}

// TestLoadTells: what of a disk cannot be read is named in the error, by its key.
func TestLoadTells(t *testing.T) {
	id := records[0].ID()
	row, facts := RowKey(task.TaskID{Job: id, Index: 10}), FactsKey(id)
	pairs := map[string][]byte{JobKey(id): records[0].Encode(), row: must((&Row{}).Encode()), facts: {0xff},
		JobKey("x"): records[1].Encode()}
	_, err := Load(pairs, nil)
	for _, want := range []string{"reading " + row + ": the job has 10 tasks", "reading " + facts,
		"reading j/x: the record is another job's"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
