package submitter

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestSubmitterRestoreReadsLittle: of a final job no result is read at a start,
// and of an open one each once.
func TestSubmitterRestoreReadsLittle(t *testing.T) {
	b := newSubBench(t)
	done, open := b.offer(2, 0), b.offer(5, 1)
	b.bring(done, message.JobRunning, "a", 0, 1)
	b.answer(done, 0, "")
	b.bring(open, message.JobRunning, "a", 1, 2)
	read := 0
	err := New(b.self, b.timing, Default(), b.key).Restore(func(prefix string) iter.Seq2[string, []byte] {
		return func(yield func(string, []byte) bool) {
			for key, value := range schedtest.ScanOf(b.disk)(prefix) {
				if strings.HasPrefix(key, ResultsPrefix) {
					read++
				}
				if !yield(key, value) {
					return
				}
			}
		}
	})
	if err != nil || read != 2 {
		t.Errorf("read %d results, %v; want 2", read, err)
	}
}

// TestSubmitterRestoreDamaged: what cannot be read is told, and asked for again;
// the rest is good.
func TestSubmitterRestoreDamaged(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(5, 0)
	b.bring(id, message.JobRunning, "a", 1, 2, 4)
	b.disk[ResultKey(id, 2)] = []byte("damaged")
	b.disk[ResultKey(id, 3)] = b.disk[ResultKey(id, 4)]
	b.disk[submitterJob+"x"] = b.disk[submitterJob+string(id)]
	b.disk[submitterJob+"y"] = []byte{1}
	b.disk[submitterForgotten+"z"] = []byte{2}
	b.s = New(b.self, b.timing, Default(), b.key)
	err := b.s.Restore(schedtest.ScanOf(b.disk))
	for _, want := range []string{ResultKey(id, 2), ResultKey(id, 3), submitterJob + "x", submitterJob + "y",
		submitterForgotten + "z"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
	if held := b.s.Held(id); !slices.Equal(held, []message.Range{{From: 1, To: 2}, {From: 4, To: 5}}) {
		t.Errorf("holds %v", held)
	}
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 1})
	b.bring(id, message.JobRunning, "a", 2)
	if !b.s.Held(id).Contains(2) {
		t.Error("the damaged result was not taken again")
	}
}

// TestRestoreErrorsAreFew: a broken disk does not fill the log.
func TestRestoreErrorsAreFew(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(100, 0)
	for i := range uint64(100) {
		b.disk[ResultKey(id, i)] = nil
	}
	err := New(b.self, b.timing, Default(), b.key).Restore(schedtest.ScanOf(b.disk))
	if err == nil || strings.Count(err.Error(), "\n") != durable.MaxErrors ||
		!strings.Contains(err.Error(), "and 84 more") {
		t.Errorf("got %v", err)
	}
}

// TestSubmitterRoots: what jobs and results on their way need is named, and no
// longer than they need it.
func TestSubmitterRoots(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(1, 0)
	module, output := task.RawCID([]byte("module")), summaryOf(id, 0, "a").Results[0].Outputs[0].CID
	want := func(when string, cids ...task.CID) {
		t.Helper()
		slices.Sort(cids)
		if got := b.s.Roots(); !slices.Equal(got, cids) {
			t.Errorf("%s: got %v, want %v", when, got, cids)
		}
	}
	want("offered", task.CID(id), module)
	b.bring(id, message.JobRunning, "a", 0)
	want("fetching", task.CID(id), module, output)
	b.answer(id, 0, "")
	want("over")
	sum, err := DecodeSummary(b.disk[ResultKey(id, 0)])
	if got := message.OutputsOf(&sum); err != nil || !slices.Equal(got, []task.CID{output}) {
		t.Errorf("outputs of the held result: %v, %v", got, err)
	}
}

// FuzzSubmitterRestore feeds the durable form, of which a disk may make anything.
func FuzzSubmitterRestore(f *testing.F) {
	b := newSubBench(f)
	id := b.offer(5, 0)
	b.bring(id, message.JobRunning, "a", 1, 2, 6)
	for key, value := range b.disk {
		f.Add(key, value)
	}
	forgotten, err := durable.Encode(&forgottenState{Until: 1 << 40, Left: []message.Range{{From: 0, To: 1 << 60}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(submitterForgotten+string(id), forgotten)
	job := b.disk[submitterJob+string(id)]
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		disk := map[string][]byte{submitterJob + string(id): job, key: value}
		b := newSubBench(t)
		if err := b.s.Restore(schedtest.ScanOf(disk)); err != nil {
			t.Skip()
		}
		b.step(message.Wake{})
		b.step(message.LeaderChanged{Leader: "other", Epoch: 2})
		if sum, err := DecodeSummary(value); err == nil {
			message.OutputsOf(&sum)
		}
	})
}
