package scheduler

import (
	"slices"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// leasedRun is a run of a task with its receipt: what worker says, by its number, that had the
// lease of that number from leader.
func (s *signing) leasedRun(leader, worker int, seq uint64, id task.TaskID, outcome task.Outcome,
	says string) task.Result {
	s.t.Helper()
	leaderKey, from := schedtest.Identity(leader)
	key, to := schedtest.Identity(worker)
	receipt, err := task.NewReceipt(leaderKey, from, id, to, task.Receipt{Epoch: 5, Seq: seq, Issued: s.now.UnixMilli()})
	if err != nil {
		s.t.Fatal(err)
	}
	r := task.Result{Task: id, Outcome: outcome, Receipt: receipt}
	if outcome == task.Completed {
		r.Outputs = []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte(says)), Size: int64(len(says)),
			Inline: []byte(says)}}
	}
	if err := r.Sign(key); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestOneLeaseFailsOnce: a failure under one lease counts once, under whatever attempts it is told,
// at once or one after the other: it takes as many leases as the job allows for to end a task.
func TestOneLeaseFailsOnce(t *testing.T) {
	for name, told := range map[string][][]uint64{
		"at once": {{9, 10, 11}}, "one after the other": {{9}, {10}, {11}}, "the later first": {{11}, {10}, {9}},
		"all again": {{9, 10}, {9, 10, 11}}, "under its own lease last": {{10, 11, 12}, {9}},
	} {
		s := newSigning(t)
		fell := s.leasedRun(3, 66, 9, s.task(4), task.Trapped, "")
		for _, attempts := range told {
			row := &ledger.Row{}
			for _, seq := range attempts {
				row.AddResult(message.Attempt{Epoch: 5, Seq: seq}, fell)
			}
			s.tells(66, 4, row)
		}
		row := s.job.ledger.Rows[4]
		if v := s.job.ledger.Verdict(4); v != ledger.Open || len(row.Failures) != 1 {
			t.Errorf("%s: the task is %v, with %d failures of one lease", name, v, len(row.Failures))
		}
		for seq := range uint64(2) { // of others, of as many leases as there may be
			row := &ledger.Row{}
			row.AddResult(message.Attempt{Epoch: 5, Seq: 20 + seq}, s.leasedRun(3, 10, 20+seq, s.task(4), task.Trapped, ""))
			s.tells(5, 4, row)
		}
		if v := s.job.ledger.Verdict(4); v != ledger.Failed {
			t.Errorf("%s: after failures of three leases the task is %v", name, v)
		}
	}
}

// TestOneLeaseIsReportedOnce: the same of a worker that reports its one failure under several
// attempts: the task runs again, elsewhere too.
func TestOneLeaseIsReportedOnce(t *testing.T) {
	s := newSigning(t)
	fell := s.leasedRun(3, 66, 9, s.task(4), task.Trapped, "")
	for seq := range uint64(5) {
		s.report(66, message.Report{Ended: []message.Ending{{Attempt: message.Attempt{Epoch: 5, Seq: 9 + seq},
			Result: fell}}})
	}
	if row := s.job.ledger.Rows[4]; s.job.ledger.Verdict(4) != ledger.Open || len(row.Failures) != 1 {
		t.Fatalf("the task is %v, with %d failures of one lease", s.job.ledger.Verdict(4), len(row.Failures))
	}
	if !slices.ContainsFunc(s.worker(10), func(l message.Lease) bool { return l.Task == s.task(4) }) {
		t.Error("another gets no lease of it")
	}
}

// TestCopiesTellOfEnds: what another's copy knows of a task is taken over, whatever is known here:
// a run ends it, a run ends one that had failed, and one whose outputs are gone runs again. What
// no lease shows, or a leader that nobody here knows, changes nothing.
func TestCopiesTellOfEnds(t *testing.T) {
	type counts struct{ done, failed uint64 }
	for name, tt := range map[string]struct {
		rows []func(s *signing) *ledger.Row
		want ledger.Verdict
		counts
	}{
		"a run":             {[]func(*signing) *ledger.Row{doneRow}, ledger.Done, counts{4, 0}},
		"failures":          {[]func(*signing) *ledger.Row{failedRow}, ledger.Failed, counts{3, 1}},
		"twice":             {[]func(*signing) *ledger.Row{doneRow, doneRow}, ledger.Done, counts{4, 0}},
		"failures, and run": {[]func(*signing) *ledger.Row{failedRow, doneRow}, ledger.Done, counts{4, 0}},
		"run, and failures": {[]func(*signing) *ledger.Row{doneRow, failedRow}, ledger.Done, counts{4, 0}},
		"void":              {[]func(*signing) *ledger.Row{doneRow, voidRow}, ledger.Open, counts{3, 0}},
		"void, and again":   {[]func(*signing) *ledger.Row{doneRow, voidRow, againRow}, ledger.Done, counts{4, 0}},
		"no lease":          {[]func(*signing) *ledger.Row{unleasedRow}, ledger.Open, counts{3, 0}},
		"failed, no lease":  {[]func(*signing) *ledger.Row{unleasedFailures}, ledger.Open, counts{3, 0}},
		"unknown leader":    {[]func(*signing) *ledger.Row{strangeRow}, ledger.Open, counts{3, 0}},
	} {
		s := newSigning(t)
		for _, row := range tt.rows {
			s.tells(5, 4, row(s))
		}
		if got := (counts{s.job.done, s.job.failed}); s.job.ledger.Verdict(4) != tt.want || got != tt.counts {
			t.Errorf("%s: the task is %v, %+v of the job, want %v, %+v", name, s.job.ledger.Verdict(4), got, tt.want, tt.counts)
		}
		ready := slices.Contains(s.job.ready, 4) || slices.Contains(s.job.sent, 4)
		if ready != (tt.want != ledger.Open) {
			t.Errorf("%s: it is brought to its submitter: %v", name, ready)
		}
		if leased := slices.ContainsFunc(s.worker(10), func(l message.Lease) bool {
			return l.Task == s.task(4)
		}); leased != (tt.want == ledger.Open) {
			t.Errorf("%s: it runs again: %v", name, leased)
		}
	}
}

func rowOfRuns(runs ...task.Result) *ledger.Row {
	row := &ledger.Row{}
	for _, r := range runs {
		row.AddResult(message.Attempt{Epoch: 5, Seq: 1}, r)
	}
	return row
}

func doneRow(s *signing) *ledger.Row {
	return rowOfRuns(s.leasedRun(3, 9, 9, s.task(4), task.Completed, "x"))
}

func againRow(s *signing) *ledger.Row {
	return rowOfRuns(s.leasedRun(3, 11, 12, s.task(4), task.Completed, "x"))
}

func failedRow(s *signing) *ledger.Row {
	var runs []task.Result
	for k := range 3 {
		runs = append(runs, s.leasedRun(3, 20+k, uint64(20+k), s.task(4), task.Trapped, ""))
	}
	return rowOfRuns(runs...)
}

func voidRow(s *signing) *ledger.Row {
	row := doneRow(s)
	row.Void()
	return row
}

func unleasedRow(s *signing) *ledger.Row {
	key, _ := schedtest.Identity(9)
	return rowOfRuns(schedtest.Result(s.t, key, s.task(4), "x"))
}

func unleasedFailures(s *signing) *ledger.Row {
	row := &ledger.Row{}
	for k := range 3 {
		row.AddResult(message.Attempt{Epoch: 5, Seq: uint64(k)}, trap(s.t, 20+k, s.task(4)))
	}
	return row
}

func strangeRow(s *signing) *ledger.Row {
	return rowOfRuns(s.leasedRun(66, 9, 9, s.task(4), task.Completed, "x"))
}
