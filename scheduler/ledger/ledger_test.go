package ledger

import (
	"bytes"
	"crypto/ed25519"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/task"
	"pgregory.net/rapid"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// records are two jobs of ten tasks: one that wants two replicas, one that
// wants one and allows a retry.
var records = func() []task.Record {
	var out []task.Record
	for i, rule := range []Rule{{2, 0, ""}, {1, 1, ""}} {
		rec, err := task.SignJob(&task.Job{
			Name: "job", Overlay: "commons", Module: task.RawCID([]byte("module")), Outputs: []string{"stdout"}, Memory: 1 << 20,
			Replicas: rule.Replicas, Retries: rule.Retries, Submitted: task.At(start), Nonce: bytes.Repeat([]byte{byte(i)}, 16),
			Sweep: task.Sweep{Repeat: 10},
		}, ownerKey)
		if err != nil {
			panic(err)
		}
		out = append(out, rec)
	}
	return out
}()

func result(worker string, outcome task.Outcome, says byte) task.Result {
	return task.Result{
		Worker: task.PeerID(worker), Outcome: outcome, CPU: time.Second, Signature: []byte{says},
		Outputs: []task.Output{{Name: "stdout", CID: task.RawCID([]byte{says})}},
	}
}

// history builds a ledger from random facts. Facts of equal names may differ
// between copies only where that can happen in life.
func history(t *rapid.T, label string) *Ledger {
	l := New()
	for range rapid.IntRange(0, 12).Draw(t, label) {
		rec := rapid.SampledFrom(records).Draw(t, "job")
		j, err := l.Add(rec)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.Uint64Range(0, 3).Draw(t, "task")
		a := Attempt{rapid.Uint64Range(1, 2).Draw(t, "epoch"), rapid.Uint64Range(1, 40).Draw(t, "seq")}
		switch rapid.IntRange(0, 14).Draw(t, "fact") {
		case 0:
			sig := bytes.Repeat([]byte{1}, ed25519.SignatureSize)
			sig[0] = rapid.ByteRange(0, 2).Draw(t, "signature")
			if rapid.Bool().Draw(t, "ending") {
				j.Facts.Merge(&Facts{Ending: sig})
				break
			}
			j.Facts.Merge(&Facts{Cancel: sig})
		case 1:
			j.Facts.Expired = true
		case 2, 3:
			if len(j.Facts.Signed) > 0 {
				break // a set changes with its signature, or not at all
			}
			if rapid.Bool().Draw(t, "fails") {
				j.Facts.Failed.Add(i)
				j.Facts.Reruns++
				break
			}
			j.Facts.Done.Add(i)
			j.Facts.UsefulCPU += time.Second
		case 4, 5:
			worker := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "worker")
			outcome := rapid.SampledFrom([]task.Outcome{task.Completed, task.Completed, task.Trapped, task.HostError}).Draw(t,
				"outcome")
			j.Row(i).AddResult(a, result(worker, outcome, rapid.ByteRange(0, 2).Draw(t, "says")))
		case 6:
			note := AttemptLog{Attempt: a, Worker: "a", Start: task.At(start)}
			if end := rapid.SampledFrom([]string{"", "lost", "completed"}).Draw(t, "end"); end != "" {
				note.Outcome, note.End = end, task.At(start.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "took"))))
			}
			j.Row(i).Note(note)
		case 7:
			j.Row(i).Save(&Checkpoint{CID: task.RawCID(nil), Fuel: a.Seq})
		case 8:
			if j.Row(i).Void(); a.Seq%2 == 0 {
				j.Row(i).VoidRuns(func(r *task.Result) bool { return r.Worker == "a" })
			}
		case 9:
			if best := j.Row(i).State(); best != nil {
				j.Row(i).VoidState(task.Voucher{Worker: "w", Receipt: task.Receipt{From: best.CID}, Signature: []byte(label)})
			}
		case 10:
			j.Row(i).Save(&Checkpoint{CID: task.RawCID([]byte{byte(a.Seq % 3)}), Fuel: a.Seq})
		case 11:
			f := &j.Facts
			f.Deliver(f.Delivery+1, f.Held().Minus(Set{{0, i + 1}}), f.Failed, nil)
		case 13:
			j.Row(i).SaveLine(lineState(byte(a.Seq%3), a.Seq, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "root")))
		case 14:
			if states := j.Row(i).LineStates(); len(states) > 0 {
				j.Row(i).VoidState(badWord(states[0]))
			}
		case 12:
			held := Set{{i, i + rapid.Uint64Range(1, 3).Draw(t, "held")}}
			j.Facts.Merge(saidOf(rec.ID(), rapid.Uint64Range(0, 1).Draw(t, "delivery"), held,
				Set{{i, i + rapid.Uint64Range(1, 2).Draw(t, "failed")}}))
		}
	}
	return l
}

// ownerKey signed the records.
var ownerKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))

// saidOf are the facts of a job whose submitter signed what it holds.
func saidOf(id task.JobID, delivery uint64, held, failed Set) *Facts {
	h, err := HeldOf(delivery, held)
	if err != nil {
		panic(err)
	}
	h.Sign(id, ownerKey)
	f := &Facts{}
	f.Deliver(delivery, held, failed, h.Signature)
	return f
}

func merged(ls ...*Ledger) *Ledger {
	out := New()
	for _, l := range ls {
		out.Merge(l)
	}
	return out
}

// TestMergeLaws: merging is commutative, associative and idempotent, and what
// either copy knew is known after.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := history(t, "a"), history(t, "b"), history(t, "c")
		before := must(b.Pairs())
		ab := merged(a, b)
		if !same(ab, merged(b, a)) {
			t.Fatal("not commutative")
		}
		if !same(merged(ab, c), merged(a, merged(b, c))) {
			t.Fatal("not associative")
		}
		if !same(merged(a, a), a) || !same(merged(ab, b), ab) {
			t.Fatal("not idempotent")
		}
		if !maps.EqualFunc(must(b.Pairs()), before, bytes.Equal) {
			t.Fatal("merging changed the other copy")
		}
		checkMonotone(t, a, ab)
	})
}

// same says whether two ledgers are the same to the last byte.
func same(a, b *Ledger) bool {
	return maps.EqualFunc(must(a.Pairs()), must(b.Pairs()), bytes.Equal) && a.Digest() == b.Digest()
}

func checkMonotone(t *rapid.T, a, ab *Ledger) {
	for id, j := range a.Jobs {
		m := ab.Jobs[id]
		if j.Facts.Cancelled() && !m.Facts.Cancelled() || j.Facts.Delivery > m.Facts.Delivery {
			t.Fatal("a fact was forgotten")
		}
		if m.Facts.Delivery > j.Facts.Delivery {
			continue // its submitter lost what it held: anything may be open again
		}
		if len(m.Facts.Signed) > 0 && !bytes.Equal(j.Facts.Signed, m.Facts.Signed) {
			continue // its submitter has said otherwise
		}
		if len(j.Facts.Done.Minus(m.Facts.Done)) > 0 {
			t.Fatal("a delivered task was forgotten")
		}
		for i := range uint64(4) {
			// A task that failed may turn out done; nothing else changes back.
			was, is := j.Verdict(i), m.Verdict(i)
			// Where a result was made void anything may come of it.
			if row := m.Rows[i]; row != nil && len(row.Voided) > 0 {
				continue
			}
			if was == Done && is != Done || was == Failed && is == Open {
				t.Fatalf("task %d went from %v to %v", i, was, is)
			}
		}
		for i, row := range j.Rows {
			for _, r := range row.Results {
				if !slices.ContainsFunc(m.Rows[i].Results, func(o task.Result) bool {
					return o.Worker == r.Worker && o.Digest() == r.Digest() && bytes.Equal(o.Signature, r.Signature)
				}) {
					t.Fatal("a result was forgotten")
				}
			}
		}
	}
}

// TestLoad: what is written is read back, and damage costs only what is
// damaged.
func TestLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t, "facts")
		pairs := must(l.Pairs())
		got, err := Load(pairs, nil)
		if err != nil || !same(got, l) {
			t.Fatalf("read back another ledger (%v)", err)
		}
		pairs["r/nonsense"] = []byte{1}
		pairs[RowKey(task.TaskID{Job: "none"})] = []byte{0xa0}
		pairs["f/none"] = []byte{0xff}
		got, err = Load(pairs, nil)
		if err == nil || got.Digest() != l.Digest() {
			t.Fatalf("damage beside the ledger changed it (%v)", err)
		}
	})
}

func TestLoadRefuses(t *testing.T) {
	l := New()
	j, err := l.Add(records[0])
	if err != nil {
		t.Fatal(err)
	}
	id := j.Record.ID()
	row := &Row{Log: []AttemptLog{{Attempt: Attempt{2, 1}}, {Attempt: Attempt{1, 1}}}}
	facts := &Facts{Done: Set{{5, 3}}}
	other := records[1]
	for key, value := range map[string][]byte{
		RowKey(task.TaskID{Job: id, Index: 1}):  must(row.Encode()),
		RowKey(task.TaskID{Job: id, Index: 10}): must((&Row{}).Encode()),
		FactsKey(id):                            must(facts.Encode()),
		JobKey("another"):                       other.Encode(),
		"x/unknown/" + string(id):               nil,
	} {
		pairs := map[string][]byte{JobKey(id): records[0].Encode(), key: value}
		got, err := Load(pairs, nil)
		unknown := strings.HasPrefix(key, "x/")
		if (err == nil) != unknown || len(got.Jobs) != 1 || len(got.Jobs[id].Rows) != 0 {
			t.Errorf("%s: error %v, %d jobs", key, err, len(got.Jobs))
		}
	}
}

func TestVerdict(t *testing.T) {
	at := func(n uint64) Attempt { return Attempt{1, n} }
	type run struct {
		worker  string
		outcome task.Outcome
		says    byte
	}
	tests := []struct {
		name string
		rule Rule
		runs []run
		want Verdict
		why  string
	}{
		{"nothing", Rule{1, 0, ""}, nil, Open, ""},
		{"one suffices", Rule{1, 0, ""}, []run{{"a", task.Completed, 1}}, Done, ""},
		{"two must agree", Rule{2, 0, ""}, []run{{"a", task.Completed, 1}}, Open, ""},
		{"two agree", Rule{2, 0, ""}, []run{{"a", task.Completed, 1}, {"b", task.Completed, 1}}, Done, ""},
		{"one worker twice", Rule{2, 0, ""}, []run{{"a", task.Completed, 1}, {"a", task.Completed, 1}}, Open, ""},
		{"two disagree", Rule{2, 0, ""}, []run{{"a", task.Completed, 1}, {"b", task.Completed, 2}}, Open, ""},
		{"a third decides", Rule{2, 0, ""},
			[]run{{"a", task.Completed, 1}, {"b", task.Completed, 2}, {"c", task.Completed, 2}}, Done, ""},
		{"nobody agrees", Rule{2, 0, ""},
			[]run{{"a", task.Completed, 1}, {"b", task.Completed, 2}, {"c", task.Completed, 3}}, Failed, "not deterministic"},
		{"retries may resolve it", Rule{2, 1, ""},
			[]run{{"a", task.Completed, 1}, {"b", task.Completed, 2}, {"c", task.Completed, 3}}, Open, ""},
		{"fails with a retry left", Rule{1, 1, ""}, []run{{"a", task.Trapped, 0}}, Open, ""},
		{"fails for good", Rule{1, 1, ""}, []run{{"a", task.Trapped, 0}, {"a", task.Trapped, 0}}, Failed,
			"trapped (attempt 2 of 2)"},
		{"done all the same", Rule{1, 1, ""}, []run{{"a", task.Trapped, 0}, {"a", task.Trapped, 0}, {"b", task.Completed, 1}},
			Done, ""},
		{"the host's fault", Rule{1, 0, ""}, []run{{"a", task.HostError, 0}, {"a", task.Interrupted, 0}}, Open, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var row Row
			for n, r := range tt.runs {
				row.AddResult(at(uint64(n)), result(r.worker, r.outcome, r.says))
			}
			if got := row.Verdict(tt.rule); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if why := row.Why(tt.rule); (tt.why == "") != (why == "") || !strings.Contains(why, tt.why) {
				t.Errorf("why is %q, want %q in it", why, tt.why)
			}
		})
	}
}

// TestOneWorkerCannotFailTask has one worker report many different results of a task with two replicas. They count as
// one run, leave room in the row, and two other workers decide the task. What the worker reports counts again after its
// first result became void.
func TestOneWorkerCannotFailTask(t *testing.T) {
	rule := Rule{Replicas: 2, Retries: 0}
	var row Row
	for says := range byte(20) {
		row.AddResult(Attempt{1, uint64(says)}, result("liar", task.Completed, says))
	}
	b := result("b", task.Completed, 50)
	if v := row.Verdict(rule); v != Open || len(row.Results) != 1 || !row.HasRoom(&b, rule) {
		t.Fatalf("one worker's results: %v of %d", v, len(row.Results))
	}
	row.AddResult(Attempt{2, 1}, b)
	if row.AddResult(Attempt{2, 2}, result("c", task.Completed, 50)); row.Verdict(rule) != Done {
		t.Errorf("two others agree, and the task is %v", row.Verdict(rule))
	}
	row.VoidRuns(func(*task.Result) bool { return true })
	if !row.AddResult(Attempt{2, 3}, result("liar", task.Completed, 30)) || row.Verdict(rule) != Open {
		t.Error("no room for another result after all are void")
	}
	hostile := Row{} // of a hostile leader's copy
	for says := range byte(rule.Most() + 1) {
		hostile.insertResult(result("liar", task.Completed, says))
	}
	if v := hostile.Verdict(rule); v != Open {
		t.Errorf("a copy with one worker's results only: %v", v)
	}
}

// TestLogIsBounded: the oldest attempts are forgotten, and a suspicion gives
// way to a result.
func TestLogIsBounded(t *testing.T) {
	var row Row
	for n := range uint64(MaxLog + 5) {
		row.Note(AttemptLog{Attempt: Attempt{1, n}})
	}
	if len(row.Log) != MaxLog || row.Log[0].Attempt.Seq != 5 {
		t.Errorf("%d entries from %v on", len(row.Log), row.Log[0].Attempt)
	}
	a := Attempt{1, MaxLog}
	row.Note(AttemptLog{Attempt: a, End: task.At(start.Add(time.Hour)), Outcome: "lost"})
	row.Note(AttemptLog{Attempt: a, End: task.At(start), Outcome: "completed"})
	if row.Note(AttemptLog{Attempt: a, End: task.At(start.Add(2 * time.Hour)), Outcome: "lost"}) {
		t.Error("a result gave way to a suspicion")
	}
}

func TestRowKey(t *testing.T) {
	a, b := task.TaskID{Job: "j", Index: 9}, task.TaskID{Job: "j", Index: 10}
	if RowKey(a) >= RowKey(b) {
		t.Error("keys do not sort as indices do")
	}
	for _, bad := range []string{"", "r/j", "r/j/1", "f/j/0000000000000001", "r/j/000000000000000G",
		"r/j/+00000000000001"} {
		if id, err := ParseRowKey(bad); err == nil {
			t.Errorf("%q read as %v", bad, id)
		}
	}
	if id, err := ParseRowKey(RowKey(b)); err != nil || id != b {
		t.Errorf("got %v, %v", id, err)
	}
}

// FuzzDecodeRow checks that no bytes make DecodeRow panic and that what it
// accepts merges like any row.
func FuzzDecodeRow(f *testing.F) {
	var row Row
	row.AddResult(Attempt{1, 1}, result("a", task.Completed, 1))
	row.AddResult(Attempt{1, 2}, result("a", task.Trapped, 1))
	row.Note(AttemptLog{Attempt: Attempt{1, 1}, Start: task.At(start)})
	f.Add(must(row.Encode()))
	row.SaveLine(lineState(1, 5, "b", "a"))
	row.SaveLine(lineState(2, 3, "c"))
	row.VoidState(badWord(row.LineState("a")))
	f.Add(must(row.Encode()))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRow(b)
		if err != nil {
			return
		}
		roundtrip.Check(t, r, (*Row).Encode, DecodeRow)
		var copied Row
		if _, err := copied.Take(r, Rule{2, 1, ""}); err == nil && len(must(copied.Encode())) > MaxPairBytes {
			t.Error("a row beyond its bounds was taken")
		}
		copied.Merge(r)
		if copied.Merge(r) {
			t.Error("merging twice changed the row")
		}
		r.Verdict(Rule{2, 1, ""})
	})
}

func BenchmarkMerge(b *testing.B) {
	l := New()
	j, err := l.Add(records[1])
	if err != nil {
		b.Fatal(err)
	}
	for i := range uint64(1000) {
		j.Row(i).AddResult(Attempt{1, i}, result("a", task.Completed, 1))
		j.Row(i).Note(AttemptLog{Attempt: Attempt{1, i}, Worker: "a", Start: task.At(start)})
	}
	o := l.Clone()
	for b.Loop() {
		o.Merge(l) // a thousand rows, none of them news
	}
}
