package ledger

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// words are what a copy comes to know of a task after it had a row of it: what a few workers say.
func words(t *rapid.T, label string, had *Row) *Row {
	r := *had
	for range rapid.IntRange(0, 6).Draw(t, label) {
		a := Attempt{1, rapid.Uint64Range(0, 2).Draw(t, "attempt")}
		res := result(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "worker"), task.Completed,
			rapid.ByteRange(0, 1).Draw(t, "says"))
		res.Signature = []byte{rapid.ByteRange(0, 2).Draw(t, "signature")}
		switch rapid.IntRange(0, 5).Draw(t, "event") {
		case 0:
			r.Void()
		case 1:
			r.Save(&Checkpoint{CID: task.RawCID(res.Signature), Fuel: a.Seq + 1})
		case 2:
			res.Outcome = task.Trapped
			r.AddResult(a, res)
		case 3:
			r.Note(AttemptLog{Attempt: a, Worker: res.Worker, Start: task.At(start)})
		case 4:
			r.insertResult(res) // as another copy has it
		default:
			r.AddResult(a, res)
		}
	}
	return &r
}

// hasAll counts by hand whether a row has the results, failures and void names of another.
func hasAll(r, o *Row) bool {
	for _, res := range o.Results {
		if !slices.ContainsFunc(r.Results, func(x task.Result) bool {
			return x.Worker == res.Worker && x.Digest() == res.Digest() && bytes.Equal(x.Signature, res.Signature)
		}) {
			return false
		}
	}
	for _, f := range o.Failures {
		if !slices.ContainsFunc(r.Failures, func(x Failure) bool {
			return x.Attempt == f.Attempt && bytes.Compare(x.Result.Signature, f.Result.Signature) <= 0
		}) {
			return false
		}
	}
	for _, v := range o.Voided {
		if !slices.Contains(r.Voided, v) {
			return false
		}
	}
	return r.Best != nil || o.Best == nil
}

// TestRowsCover: a row covers another if and only if it has all that the other has, however
// it came to have it; the log does not matter. A row covers all that was merged into it.
func TestRowsCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		both := words(t, "both", &Row{})
		a, b := words(t, "ours", both), words(t, "theirs", both)
		ours, theirs := must(a.Encode()), must(b.Encode())
		got, want := a.Covers(b), hasAll(a, b)
		if got != want {
			t.Fatalf("covers %v, want %v: %+v and %+v", got, want, a, b)
		}
		if !bytes.Equal(must(a.Encode()), ours) || !bytes.Equal(must(b.Encode()), theirs) {
			t.Fatal("asking changed a row")
		}
		if !got && a.Best != nil {
			both := a.clone()
			if both.Log, both.Best = nil, nil; !both.Merge(&Row{Results: b.Results, Failures: b.Failures, Voided: b.Voided}) {
				t.Fatal("what is not covered is no news either")
			}
		}
		both = a.clone()
		both.Merge(b)
		if !both.Covers(a) || !both.Covers(b) {
			t.Fatal("what both know does not cover what one knows")
		}
	})
}

// factsOf are facts that a copy may have come to: of submitters that sign, or of ones that do not.
func factsOf(t *rapid.T, label string, signs bool) *Facts {
	set := func(what string) (s Set) {
		for _, i := range rapid.SliceOfN(rapid.Uint64Range(0, 5), 0, 4).Draw(t, label+what) {
			s.Add(i)
		}
		return s
	}
	delivery := rapid.Uint64Range(0, 1).Draw(t, label+"delivery")
	f := &Facts{}
	if signs {
		f = saidOf(records[0].ID(), delivery, set("held"), set("failed"))
	} else {
		f.Deliver(delivery, set("held"), set("failed"), nil)
	}
	if rapid.Bool().Draw(t, label+"cancelled") {
		f.Cancel = bytes.Repeat([]byte{rapid.ByteRange(1, 2).Draw(t, "cancel")}, ed25519.SignatureSize)
	}
	if rapid.Bool().Draw(t, label+"ending") {
		f.Ending = bytes.Repeat([]byte{rapid.ByteRange(1, 2).Draw(t, "wish")}, ed25519.SignatureSize)
	}
	f.Expired = rapid.Bool().Draw(t, label+"expired")
	f.UsefulCPU = time.Duration(rapid.IntRange(0, 2).Draw(t, label+"cost"))
	return f
}

// TestFactsCover: facts cover others if and only if merging these leaves which tasks are held,
// in which delivery, and whether the job is cancelled or ending as they are. Signed ones cover unsigned ones.
func TestFactsCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		signs := rapid.Bool().Draw(t, "signs")
		a, b := factsOf(t, "ours ", signs), factsOf(t, "theirs ", signs)
		both := *a
		both.Done, both.Failed = slices.Clone(a.Done), slices.Clone(a.Failed)
		both.Merge(b)
		want := both.Delivery == a.Delivery && both.wish() == a.wish() && slices.Equal(both.Held(), a.Held())
		if got := a.Covers(b); got != want {
			t.Fatalf("%+v covers %+v: %v, want %v", a, b, got, want)
		}
		if !both.Covers(a) || !both.Covers(b) {
			t.Fatalf("%+v and %+v together do not cover both", a, b)
		}
		signed := factsOf(t, "signed ", true)
		if unsigned := factsOf(t, "unsigned ", false); signed.Delivery >= unsigned.Delivery &&
			signed.Covers(unsigned) != (signed.wish() == 1 || unsigned.wish() == 0 || signed.wish() == unsigned.wish()) {
			t.Fatalf("%+v, signed, and %+v", signed, unsigned)
		}
	})
}

// TestLaterWords: of two words of a submitter one is later, or they are the same; the later
// one stands where both are merged, whichever copy heard it first.
func TestLaterWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := factsOf(t, "a ", true), factsOf(t, "b ", true)
		same := a.Delivery == b.Delivery && slices.Equal(a.Held(), b.Held())
		if same == (a.LaterThan(b) || b.LaterThan(a)) {
			t.Fatalf("%+v and %+v: later is %v and %v", a, b, a.LaterThan(b), b.LaterThan(a))
		}
		if !a.LaterThan(b) || b.LaterThan(a) {
			return // the same, or two that its submitter cannot both have said
		}
		x, y := *a, *b
		x.Merge(b)
		y.Merge(a)
		for _, f := range []Facts{x, y} {
			h, ok := f.Statement()
			if want, _ := a.Statement(); !ok || h.Digest != want.Digest || h.Delivery != want.Delivery {
				t.Fatalf("of %+v and an earlier %+v stands %+v", a, b, h)
			}
		}
		if _, ok := (&Facts{Done: a.Done}).Statement(); ok {
			t.Fatal("what nobody signed is a statement")
		}
	})
}
