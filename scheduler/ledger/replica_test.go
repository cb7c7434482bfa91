package ledger

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/task"
	"pgregory.net/rapid"
)

// TestDigestIgnoresWhatIsForPeople: the log, costs and the rows of delivered
// tasks do not make two copies different; anything else does.
func TestDigestIgnoresWhatIsForPeople(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t, "facts")
		o := l.Clone()
		for _, j := range o.Jobs {
			j.Compact()
			j.Facts.UsefulCPU, j.Facts.Reruns = time.Hour, 7
			for i := range uint64(4) {
				j.Row(i).Note(AttemptLog{Attempt: Attempt{9, 9}, Worker: "z"})
			}
		}
		if o.Digest() != l.Digest() {
			t.Fatal("two copies that know the same differ")
		}
		rec := rapid.SampledFrom(records).Draw(t, "job")
		j, err := o.Add(rec)
		if err != nil {
			t.Fatal(err)
		}
		switch i := uint64(9); rapid.IntRange(0, 5).Draw(t, "news") {
		case 0:
			j.Facts.Done.Add(i)
		case 1:
			j.Facts.Failed.Add(i)
		case 2:
			j.Row(i).AddResult(Attempt{1, 1}, result("a", task.Completed, 1))
		case 3:
			j.Row(i).AddResult(Attempt{1, 1}, result("a", task.Trapped, 1))
		case 4:
			j.Row(i).Save(&Checkpoint{CID: task.RawCID(nil), Fuel: 1})
		case 5:
			j.Row(i).addVoid(VoidName{Worker: "a"})
		}
		if o.Digest() == l.Digest() {
			t.Fatal("two copies that know different things have one digest")
		}
	})
}

// TestCompactKeepsVerdicts: what is forgotten of a job is derived from its facts
// all the same, and merging it back from another copy changes nothing.
func TestCompactKeepsVerdicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t, "facts")
		o := l.Clone()
		for id, j := range o.Jobs {
			for _, i := range j.Compact() {
				if was, is := l.Jobs[id].Verdict(i), j.Verdict(i); is == Open || was == Done && is == Open {
					t.Fatalf("task %d went from %v to %v", i, was, is)
				}
			}
		}
		if merged(o, l).Digest() != l.Digest() {
			t.Fatal("a compacted copy merged with a whole one knows something else")
		}
	})
}

// TestVoid: a void result counts for nothing, on every copy and in whatever order
// they hear of it, until the task has run again.
func TestVoid(t *testing.T) {
	rule := Rule{Replicas: 1}
	var row Row
	row.AddResult(Attempt{1, 1}, result("a", task.Completed, 1))
	other := row.clone()
	if !row.Void() || row.Verdict(rule) != Open || len(row.Agreed()) != 0 {
		t.Fatalf("a void result counts: %v %+v", row.Verdict(rule), row.Agreed())
	}
	if row.Void() {
		t.Error("nothing was made void")
	}
	if row.Merge(other); row.Verdict(rule) != Open {
		t.Error("a copy brought the result back")
	}
	if other.Merge(&row); other.Verdict(rule) != Open {
		t.Error("a copy does not heed that it is void")
	}
	again := result("a", task.Completed, 1)
	again.Signature = []byte("of another run")
	if !row.AddResult(Attempt{1, 2}, again) || row.Verdict(rule) != Done {
		t.Error("the same from another run does not count")
	}
	b := must(row.Encode())
	read, err := DecodeRow(b)
	if err != nil || !bytes.Equal(must(read.Encode()), b) {
		t.Errorf("read back another row (%v)", err)
	}
	row.Voided = append(row.Voided, row.Voided[0])
	if _, err := DecodeRow(must(row.Encode())); err == nil {
		t.Error("took names out of order")
	}
}

// FuzzDecodeFacts checks that no bytes make DecodeFacts panic and that what it
// accepts merges like any.
func FuzzDecodeFacts(f *testing.F) {
	f.Add(must((&Facts{Done: Set{{1, 4}, {6, 7}}, Failed: Set{{9, 10}}, Cancel: make([]byte, 64), Reruns: 3,
		Delivery: 2}).Encode()))
	f.Add(must((&Facts{Ending: make([]byte, 64)}).Encode()))
	f.Fuzz(func(t *testing.T, b []byte) {
		facts, err := DecodeFacts(b)
		if err != nil {
			return
		}
		roundtrip.Check(t, facts, (*Facts).Encode, DecodeFacts)
		var copied Facts
		copied.Merge(facts)
		once := must(copied.Encode())
		if copied.Merge(facts); !bytes.Equal(must(copied.Encode()), once) {
			t.Error("merging twice changed the facts")
		}
		if _, err := DecodeFacts(once); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkMergeLarge merges a ledger of 100,000 rows into another: one that has
// none of them, one that has the same, and one that has other runs of them.
func BenchmarkMergeLarge(b *testing.B) {
	const rows = 100_000
	ledgerOf := func(worker string) *Ledger {
		l := New()
		j, err := l.Add(records[1])
		if err != nil {
			b.Fatal(err)
		}
		for i := range uint64(rows) {
			j.Row(i).AddResult(Attempt{1, i}, result(worker, task.Completed, byte(i)))
			j.Row(i).Note(AttemptLog{Attempt: Attempt{1, i}, Worker: task.PeerID(worker), Start: task.At(start)})
		}
		return l
	}
	l := ledgerOf("a")
	for name, o := range map[string]func() *Ledger{
		"into=empty": New,
		"into=same":  func() *Ledger { return ledgerOf("a") },
		"into=other": func() *Ledger { return ledgerOf("b") },
	} {
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				into := o()
				runtime.GC() // what making it left is not part of the merge
				b.StartTimer()
				into.Merge(l)
			}
		})
	}
}

// TestVoidRuns: failures that are void count for nothing, on every copy, as results do, and the row
// has room for as many more.
func TestVoidRuns(t *testing.T) {
	rule := Rule{Replicas: 1, Retries: 1}
	var row Row
	for seq := range uint64(2) {
		row.AddResult(Attempt{1, seq}, result("a", task.Trapped, 1))
	}
	other := row.clone()
	b := result("b", task.Trapped, 1)
	if row.VoidRuns(func(r *task.Result) bool { return r.Worker == "c" }) || row.Verdict(rule) != Failed {
		t.Error("those of others went")
	}
	if !row.VoidRuns(func(r *task.Result) bool { return r.Worker == "a" }) || row.Verdict(rule) != Open ||
		row.Why(rule) != "" {
		t.Fatalf("void failures count: %v", row.Verdict(rule))
	}
	if row.Merge(other); row.Verdict(rule) != Open {
		t.Error("a copy brought them back")
	}
	for seq := range uint64(2) {
		if !row.HasRoom(&b, rule) || !row.AddResult(Attempt{2, seq}, b) {
			t.Fatal("no room for another's")
		}
		b.Signature = []byte("of another run")
	}
	if row.Verdict(rule) != Failed || len(row.Failed()) != 2 {
		t.Errorf("%v of %+v", row.Verdict(rule), row.Failed())
	}
}
