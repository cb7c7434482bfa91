package ledger

import (
	"bytes"
	stdflag "flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// A dumbRow keeps every word that workers said of a task, and counts them anew for
// each question.
type dumbRow struct {
	said     []word
	failures map[Attempt]failure // to the one of the smallest signature
}

type failure struct {
	worker task.PeerID
	says   byte
}

type word struct {
	worker    string
	says, sig byte
	void      bool
}

func (d *dumbRow) add(w word) bool {
	for _, o := range d.said {
		if o.worker == w.worker && (!o.void || o.says == w.says && o.sig == w.sig) {
			return false
		}
	}
	d.said = append(d.said, w)
	return true
}

// agreed are the workers of the largest group that says the same, of two the one of
// the smaller digest.
func (d *dumbRow) agreed() (says byte, workers []string) {
	groups := map[byte][]string{}
	for _, w := range d.said {
		if !w.void && !slices.Contains(groups[w.says], w.worker) {
			groups[w.says] = append(groups[w.says], w.worker)
		}
	}
	digest := func(says byte) []byte {
		r := result("", task.Completed, says)
		sum := r.Digest()
		return sum[:]
	}
	for s, g := range groups {
		if len(g) > len(workers) || len(g) == len(workers) && bytes.Compare(digest(s), digest(says)) < 0 {
			says, workers = s, g
		}
	}
	slices.Sort(workers)
	return says, workers
}

// certain reports whether two failures are equal, and of two workers or both of the submitter's own.
func (d *dumbRow) certain(own task.PeerID) bool {
	for a, x := range d.failures {
		for b, y := range d.failures {
			if a != b && x.says == y.says && (x.worker != y.worker || x.worker == own) {
				return true
			}
		}
	}
	return false
}

func (d *dumbRow) verdict(rule Rule) Verdict {
	_, agreed := d.agreed()
	runs := map[string]bool{}
	for _, w := range d.said {
		if !w.void {
			runs[w.worker] = true
		}
	}
	switch {
	case len(agreed) >= rule.Replicas:
		return Done
	case len(d.failures) > rule.Retries, d.certain(rule.Own):
		return Failed
	case len(d.said) > 0 && len(runs) >= 2*rule.Replicas-1+rule.Retries:
		return Failed
	}
	return Open
}

// TestRowsAgreeWithCounting compares a row's verdict with a count of all reported results and failures, for any order
// of reports and voided results, with and without a submitter's own worker.
func TestRowsAgreeWithCounting(t *testing.T) {
	for _, own := range []task.PeerID{"", "a"} {
		rapid.Check(t, func(t *rapid.T) { rowAgreesWithCounting(t, own) })
	}
}

// TestRowsAgreeWithCountingSeed repeats draws in which two workers report equal failures before all retries are used.
func TestRowsAgreeWithCountingSeed(t *testing.T) {
	seed := stdflag.Lookup("rapid.seed").Value
	before := seed.String()
	defer func() { _ = seed.Set(before) }()
	if err := seed.Set("2790009373362281870"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) { rowAgreesWithCounting(t, "") })
}

func rowAgreesWithCounting(t *rapid.T, own task.PeerID) {
	row, dumb := &Row{}, &dumbRow{failures: map[Attempt]failure{}}
	rule := Rule{Replicas: rapid.IntRange(1, 3).Draw(t, "replicas"),
		Retries: rapid.IntRange(0, 2).Draw(t, "retries"), Own: own}
	for n := range rapid.IntRange(0, 25).Draw(t, "events") {
		a := Attempt{1, rapid.Uint64Range(0, 5).Draw(t, "attempt")}
		sig := byte(rapid.IntRange(0, 40).Draw(t, "signature"))
		worker := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "worker")
		switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
		case what == 0:
			says, workers := dumb.agreed()
			if got := row.Void(); got != (len(workers) > 0) {
				t.Fatalf("event %d: void %v of %v", n, got, workers)
			}
			for i := range dumb.said {
				if w := &dumb.said[i]; w.says == says && !w.void && len(workers) > 0 {
					w.void = true
				}
			}
		case what == 1:
			res := result(worker, task.HostError, 0)
			if row.AddResult(a, res) {
				t.Fatal("a host's fault changed the row")
			}
		case what < 4:
			res := result(worker, task.Trapped, sig)
			old, known := dumb.failures[a]
			if got, want := row.AddResult(a, res), !known || sig < old.says; got != want {
				t.Fatalf("a failure of %v changed the row: %v, want %v", a, got, want)
			}
			if !known || sig < old.says {
				dumb.failures[a] = failure{task.PeerID(worker), sig}
			}
		default:
			says := byte(rapid.IntRange(1, 2).Draw(t, "says"))
			res := result(worker, task.Completed, says)
			res.Signature = []byte{says, sig}
			if got, want := row.AddResult(a, res), dumb.add(word{worker, says, sig, false}); got != want {
				t.Fatalf("event %d: a result changed the row: %v, want %v", n, got, want)
			}
		}
		var got []string
		for _, res := range row.Agreed() {
			got = append(got, string(res.Worker))
		}
		if _, want := dumb.agreed(); !slices.Equal(got, want) {
			t.Fatalf("event %d: %v agree, want %v", n, got, want)
		}
		if got, want := row.Verdict(rule), dumb.verdict(rule); got != want {
			t.Fatalf("event %d: verdict %v, want %v", n, got, want)
		}
		if back, err := DecodeRow(must(row.Encode())); err != nil || !bytes.Equal(must(back.Encode()), must(row.Encode())) {
			t.Fatalf("event %d: the row is not read as it was written: %v", n, err)
		}
	}
}

// TestLogsAgreeWhateverTheOrder: copies that hear of the same placements in any order
// keep the same log, of the latest attempts.
func TestLogsAgreeWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var notes []AttemptLog
		for range rapid.IntRange(0, 45).Draw(t, "notes") {
			l := AttemptLog{Attempt: Attempt{1, rapid.Uint64Range(0, 40).Draw(t, "attempt")}, Worker: "w", Start: task.At(start)}
			if rapid.Bool().Draw(t, "ended") {
				l.End = task.At(start.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "after"))))
				l.Outcome = rapid.SampledFrom([]string{"completed", "trapped", "lost", "superseded", Moved}).Draw(t,
					"outcome")
				l.Lost = time.Duration(rapid.IntRange(0, 2).Draw(t, "lost"))
			}
			notes = append(notes, l)
		}
		var a, b Row
		for i := range notes {
			a.Note(notes[i])
		}
		for _, l := range rapid.Permutation(notes).Draw(t, "order") {
			b.Note(l)
		}
		if len(notes) <= MaxLog && !slices.Equal(a.Log, b.Log) {
			t.Fatalf("got  %v\nwant %v", b.Log, a.Log)
		}
		for _, row := range []*Row{&a, &b} {
			if len(row.Log) > MaxLog || !slices.IsSortedFunc(row.Log,
				func(x, y AttemptLog) int { return x.Attempt.Compare(y.Attempt) }) {
				t.Fatalf("%d notes, out of order or too many", len(row.Log))
			}
			for i := range row.Log {
				if again := row.Log[i]; row.Note(again) {
					t.Fatal("the same again changed the row")
				}
			}
		}
	})
}

// TestReruns: attempts beyond the first are reruns, unless a move began them.
func TestReruns(t *testing.T) {
	for _, c := range []struct {
		outcomes      []string
		moves, reruns uint64
	}{
		{nil, 0, 0}, {[]string{""}, 0, 0}, {[]string{"lost", ""}, 0, 1}, {[]string{Moved, ""}, 1, 0},
		{[]string{Moved}, 1, 0},
		{[]string{"lost", Moved, Moved, "completed"}, 2, 1}, {[]string{"trapped", "trapped", Overdue}, 0, 2},
	} {
		var row Row
		for i, o := range c.outcomes {
			row.Note(AttemptLog{Attempt: Attempt{1, uint64(i)}, Outcome: o})
		}
		if row.Moves() != c.moves || row.Reruns() != c.reruns {
			t.Errorf("%v: %d moves, %d reruns, want %d, %d", c.outcomes, row.Moves(), row.Reruns(), c.moves, c.reruns)
		}
	}
}

// TestCheckpointsAgree: of any checkpoints, heard in any order, the one of most work
// is kept; of two of as much work all copies keep the same.
func TestCheckpointsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*Checkpoint
		for range rapid.IntRange(1, 6).Draw(t, "checkpoints") {
			all = append(all, &Checkpoint{CID: task.RawCID([]byte{byte(rapid.IntRange(0, 3).Draw(t, "content"))}),
				Fuel: rapid.Uint64Range(1, 3).Draw(t, "fuel"), CPU: time.Duration(rapid.IntRange(0, 2).Draw(t, "cpu"))})
		}
		var a, b Row
		for i, c := range all {
			before := a.Best
			changed := a.Save(c)
			if changed != (a.Best != before) || i == 0 && !changed {
				t.Fatal("whether it changed is wrong")
			}
		}
		for _, c := range rapid.Permutation(all).Draw(t, "order") {
			b.Save(c)
		}
		if !reflect.DeepEqual(a.Best, b.Best) {
			t.Fatalf("kept %+v and %+v", a.Best, b.Best)
		}
		for _, c := range all {
			if c.Fuel > a.Best.Fuel {
				t.Fatalf("%+v is of more work than %+v", c, a.Best)
			}
		}
		if a.Save(nil) {
			t.Fatal("no checkpoint changed the row")
		}
	})
	good := Checkpoint{CID: task.RawCID(nil), Fuel: 1}
	for name, c := range map[string]Checkpoint{
		"no fuel": {CID: good.CID}, "negative CPU": {CID: good.CID, Fuel: 1, CPU: -1}, "no content": {Fuel: 1},
		"no CID": {CID: "x", Fuel: 1},
	} {
		if c.Valid() || !good.Valid() {
			t.Errorf("%s: valid", name)
		}
	}
}

// TestMalformedRows: what breaks the order that a row promises, to the word.
func TestMalformedRows(t *testing.T) {
	res := func(worker string, says byte) task.Result { return result(worker, task.Completed, says) }
	many := func(n int) []AttemptLog {
		logs := make([]AttemptLog, n)
		for i := range logs {
			logs[i].Attempt.Seq = uint64(i)
		}
		return logs
	}
	for name, c := range map[string]struct {
		row  Row
		want string
	}{
		"results out of order": {Row{Results: []task.Result{res("b", 1), res("a", 1)}},
			"ledger: results of a row are out of order"},
		"a result twice": {Row{Results: []task.Result{res("a", 1), res("a", 1)}},
			"ledger: results of a row are out of order"},
		"a failure twice": {Row{Failures: []Failure{{Attempt{1, 1}, res("a", 1)}, {Attempt{1, 1}, res("b", 1)}}},
			"ledger: failures of a row are out of order"},
		"a log out of order": {Row{Log: []AttemptLog{{Attempt: Attempt{2, 1}}, {Attempt: Attempt{1, 9}}}},
			"ledger: log of a row is out of order"},
		"an attempt twice": {Row{Log: []AttemptLog{{Attempt: Attempt{1, 1}}, {Attempt: Attempt{1, 1}}}},
			"ledger: log of a row is out of order"},
		"a log of 33": {Row{Log: many(MaxLog + 1)},
			"ledger: row: decoding *ledger.Row: a []ledger.AttemptLog of 33, the most is 32"},
		"void results unsorted": {Row{Voided: []VoidName{{Worker: "b"}, {Worker: "a"}}},
			"ledger: voided results of a row are out of order"},
		"too many void": {Row{Voided: make([]VoidName, MaxResults+1)},
			"ledger: row: decoding *ledger.Row: a []ledger.VoidName of 4097, the most is 4096"},
		"a checkpoint of none": {Row{Best: &Checkpoint{}}, "ledger: row has a checkpoint that is none"},
	} {
		if _, err := DecodeRow(must(c.row.Encode())); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	full := Row{Log: many(MaxLog)}
	if _, err := DecodeRow(must(full.Encode())); err != nil {
		t.Errorf("a log of %d: %v", MaxLog, err)
	}
	for name, b := range map[string][]byte{"nothing": nil, "a list": {0x80}, "cut": must(full.Encode())[:9],
		"more behind": append(must(full.Encode()), 0)} {
		if _, err := DecodeRow(b); err == nil || !strings.HasPrefix(err.Error(), "ledger: row: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestMalformedFacts: the same for a job's facts and its sets.
func TestMalformedFacts(t *testing.T) {
	wide := make(Set, MaxRanges+1)
	for i := range wide {
		wide[i] = Range{uint64(2 * i), uint64(2*i + 1)}
	}
	for name, c := range map[string]struct {
		facts Facts
		want  string
	}{
		"half a signature": {Facts{Cancel: make([]byte, 32)}, "ledger: facts: a signature of 32 bytes"},
		"delivery 2^32+1": {Facts{Delivery: MaxDelivery + 1},
			"ledger: facts: delivery 4294967297, the last is 4294967296"},
		"an empty range": {Facts{Done: Set{{3, 3}}}, "ledger: range 0 of a set, 3 to 3, is empty or out of order"},
		"a backward range": {Facts{Failed: Set{{1, 2}, {9, 4}}},
			"ledger: range 1 of a set, 9 to 4, is empty or out of order"},
		"ranges that touch": {Facts{Done: Set{{1, 2}, {2, 4}}},
			"ledger: range 1 of a set, 2 to 4, is empty or out of order"},
		"ranges that mix": {Facts{Done: Set{{1, 5}, {3, 9}}},
			"ledger: range 1 of a set, 3 to 9, is empty or out of order"},
		"ranges unsorted": {Facts{Done: Set{{8, 9}, {1, 2}}},
			"ledger: range 1 of a set, 1 to 2, is empty or out of order"},
		"65,537 ranges": {Facts{Done: wide},
			"ledger: facts: decoding *ledger.Facts: a ledger.Set of 65537, the most is 65536"},
	} {
		if _, err := DecodeFacts(must(c.facts.Encode())); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	most := Facts{Cancel: make([]byte, 64), Delivery: MaxDelivery, Done: wide[:9], Failed: Set{{0, math.MaxUint64}}}
	value := must(most.Encode())
	if back, err := DecodeFacts(value); err != nil || !bytes.Equal(must(back.Encode()), value) {
		t.Errorf("the most there can be: %v", err)
	}
}

// TestDeliver: what a submitter lacks is open again, and of what it holds that failed which
// was known to have.
func TestDeliver(t *testing.T) {
	f := Facts{Done: Set{{0, 10}}, Failed: Set{{20, 25}}}
	f.Deliver(1, Set{{0, 3}, {5, 22}}, f.Failed, nil)
	if got, want := fmt.Sprint(f.Done, f.Failed), fmt.Sprint(Set{{0, 3}, {5, 20}}, Set{{20, 22}}); got != want ||
		f.Delivery != 1 {
		t.Errorf("held are %s in delivery %d, want %s", got, f.Delivery, want)
	}
}

// TestDigestSeesFacts: a digest changes with each fact that copies have to agree on.
func TestDigestSeesFacts(t *testing.T) {
	digest := func(change func(*Job)) [32]byte {
		l := New()
		j, err := l.Add(records[0])
		if err != nil {
			t.Fatal(err)
		}
		change(j)
		return l.Digest()
	}
	seen := map[[32]byte]string{New().Digest(): "no job"}
	for name, change := range map[string]func(*Job){
		"a job":              func(*Job) {},
		"cancelled":          func(j *Job) { j.Facts.Cancel = []byte{1} },
		"another delivery":   func(j *Job) { j.Facts.Delivery = 1 },
		"one done":           func(j *Job) { j.Facts.Done = Set{{1, 2}} },
		"two done":           func(j *Job) { j.Facts.Done = Set{{1, 3}} },
		"done, signed":       func(j *Job) { j.Facts.Done, j.Facts.Signed = Set{{1, 2}}, []byte{1} },
		"one failed":         func(j *Job) { j.Facts.Failed = Set{{1, 2}} },
		"a result":           func(j *Job) { j.Row(4).AddResult(Attempt{1, 1}, result("a", task.Completed, 1)) },
		"another result":     func(j *Job) { j.Row(4).AddResult(Attempt{1, 1}, result("a", task.Completed, 2)) },
		"of another task":    func(j *Job) { j.Row(5).AddResult(Attempt{1, 1}, result("a", task.Completed, 1)) },
		"of another worker":  func(j *Job) { j.Row(4).AddResult(Attempt{1, 1}, result("b", task.Completed, 1)) },
		"a failure":          func(j *Job) { j.Row(4).AddResult(Attempt{1, 1}, result("a", task.Trapped, 1)) },
		"of another attempt": func(j *Job) { j.Row(4).AddResult(Attempt{1, 2}, result("a", task.Trapped, 1)) },
		"a checkpoint":       func(j *Job) { j.Row(4).Save(&Checkpoint{CID: task.RawCID(nil), Fuel: 1}) },
		"of more work":       func(j *Job) { j.Row(4).Save(&Checkpoint{CID: task.RawCID(nil), Fuel: 2}) },
		"a void result": func(j *Job) {
			j.Row(4).AddResult(Attempt{1, 1}, result("a", task.Completed, 1))
			j.Row(4).Void()
		},
	} {
		d := digest(change)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}
