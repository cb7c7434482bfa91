package scheduler

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// TestFailedTaskGoesElsewhere: for a minute a task is not to go where it failed by what it does; what depends on the
// machine, and who was asked to run it once more, are not heeded.
func TestFailedTaskGoesElsewhere(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	end := func(worker task.PeerID, outcome task.Outcome, after time.Duration) (ledger.Failure, ledger.AttemptLog) {
		a := ledger.Attempt{Epoch: 1, Seq: uint64(after)}
		return ledger.Failure{Attempt: a, Result: task.Result{Worker: worker, Outcome: outcome}},
			ledger.AttemptLog{Attempt: a, Worker: worker, End: task.At(at.Add(after)), Outcome: outcome.String()}
	}
	row := &ledger.Row{}
	for _, e := range []struct {
		worker  task.PeerID
		outcome task.Outcome
		after   time.Duration
	}{{"a", task.Trapped, time.Second}, {"b", task.TimedOut, 2 * time.Second}, {"c", task.ExitFailure, 3 * time.Second},
		{"c", task.ExitFailure, 4 * time.Second}} {
		f, l := end(e.worker, e.outcome, e.after)
		row.Failures, row.Log = append(row.Failures, f), append(row.Log, l)
	}
	for name, tt := range map[string]struct {
		after time.Duration
		bars  bars
		want  []task.PeerID
	}{
		"at once":              {4 * time.Second, bars{}, []task.PeerID{"a", "c"}},
		"a minute later":       {elsewhereFor + 4*time.Second, bars{}, nil},
		"just before":          {elsewhereFor + 4*time.Second - 1, bars{}, []task.PeerID{"a", "c"}},
		"asked to run it anew": {4 * time.Second, bars{only: []task.PeerID{"c"}}, []task.PeerID{"a"}},
	} {
		j := &job{ledger: &ledger.Job{Rows: map[uint64]*ledger.Row{7: row}}, barred: map[uint64]bars{7: tt.bars}}
		if got := failedOn(j, 7, at.Add(tt.after)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: it is kept from %v, want %v", name, got, tt.want)
		}
		if got := failedOn(j, 8, at); got != nil {
			t.Errorf("%s: a task that never ran is kept from %v", name, got)
		}
	}
}
