package scheduler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// What a lost attempt did is guessed from its states, the time until it was heard
// last, and what its member left it.
func TestEstimate(t *testing.T) {
	const second = time.Second
	at := func(s int) time.Time { return schedtest.Start.Add(time.Duration(s) * second) }
	for name, c := range map[string]struct {
		change func(l *lease)
		every  time.Duration
		want   time.Duration
	}{
		"ran until now":            {func(*lease) {}, 0, 60 * second},
		"heard last before":        {func(l *lease) { l.expires = at(40).Add(Default().LeaseTTL) }, 0, 40 * second},
		"lost before":              {func(l *lease) { l.host.lost = at(30) }, 0, 30 * second},
		"stood still before":       {func(l *lease) { l.host.still = at(20) }, 0, 20 * second},
		"others leave it a half":   {func(l *lease) { l.host.withheld = 50 }, 0, 30 * second},
		"all withheld: stands now": {func(l *lease) { l.host.withheld, l.host.still = 100, at(20) }, 0, 20 * second},
		"stood still for a while":  {func(l *lease) { l.host.stood = 15 * second }, 0, 45 * second},
		"stood still before it began": {func(l *lease) { l.host.stood, l.saved.stood = 15*second, 15*second }, 0,
			60 * second},
		"its worker died before": {func(l *lease) { l.host.born = at(25).UnixNano() }, 0, 25 * second},
		"others of its task had a fifth": {func(l *lease) {
			l.job.row(l.task.index).Note(message.AttemptLog{Attempt: message.Attempt{Epoch: 1, Seq: 1}, Start: task.At(at(-50)),
				End: task.At(at(-40)), Outcome: "interrupted", CPU: 2 * second})
		}, 0, 12 * second},
		"what others are thought to have had": {func(l *lease) {
			l.job.row(l.task.index).Note(message.AttemptLog{Attempt: message.Attempt{Epoch: 1, Seq: 1}, Start: task.At(at(-50)),
				End: task.At(at(-40)), Outcome: "lost", CPU: 2 * second, Lost: 2 * second})
		}, 0, 60 * second},
		"saved each so often":         {func(*lease) {}, 10 * second, 10 * second},
		"at the pace before its save": {func(l *lease) { saveAt(l, 10*second, at(40)) }, 0, 15 * second},
		"of it, no more than its own": {func(l *lease) { l.saved.base = 4 * second; saveAt(l, 24*second, at(40)) }, 0,
			30 * second},
	} {
		r := newRan(t, func(j *task.Job) { j.Checkpoint.Every = c.every })
		r.c.now = at(60)
		l := &lease{job: r.job, task: &liveTask{index: 4}, host: &host{}, state: leasing.Placed, start: schedtest.Start,
			expires: at(60).Add(Default().LeaseTTL)}
		c.change(l)
		if got := r.c.reports.estimate(l); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What was counted as lost with a worker is of use when that tells that it had handed
// the task over.
func TestHandedAfterLost(t *testing.T) {
	r := newRan(t, nil)
	i, a := uint64(4), message.Attempt{Epoch: 1, Seq: 1}
	log := message.AttemptLog{Attempt: a, Worker: "w", Start: task.At(schedtest.Start)}
	r.job.row(i).Note(log)
	log.End, log.Outcome = task.At(schedtest.Start.Add(time.Second)), "lost"
	log.CPU, log.Lost = 4*time.Second, 4*time.Second
	useful, wasted, moved := r.job.useful, r.job.wasted, r.job.migrations
	r.c.reports.note(r.job, i, log)
	if got := r.job.wasted - wasted; got != 4*time.Second {
		t.Fatalf("%v is lost at first", got)
	}
	e := &message.Ending{Attempt: a, Handed: &message.Handed{To: "v", As: message.Attempt{Epoch: 1, Seq: 2}}}
	e.Result.Task, e.Result.CPU = task.TaskID{Job: r.job.id, Index: i}, 3*time.Second
	for range 2 { // it is said again where the answer is lost
		r.c.transfers.measureHandOver(r.job, e)
		if u, w, m := r.job.useful-useful, r.job.wasted-wasted, r.job.migrations-moved; u != 3*time.Second || w != 0 ||
			m != 1 {
			t.Errorf("useful %v, lost %v, moved %d times; want 3s, 0 and once", u, w, m)
		}
	}
}

// What a replica's copy tells of an attempt takes the place of what was estimated.
func TestCostOfMergedRow(t *testing.T) {
	r := newRan(t, nil)
	i, log := uint64(4), message.AttemptLog{Attempt: message.Attempt{Epoch: 1, Seq: 1}, Worker: "w",
		Start: task.At(schedtest.Start), End: task.At(schedtest.Start.Add(time.Second)), Outcome: "lost"}
	log.CPU, log.Lost = 4*time.Second, 4*time.Second
	r.c.reports.note(r.job, i, log)
	log.Outcome, log.CPU, log.Lost = "interrupted", 3*time.Second, time.Second
	theirs := &ledger.Row{Log: []message.AttemptLog{log}}
	for range 2 {
		r.c.absorbRow("", r.job, i, theirs)
		if r.job.useful != 2*time.Second || r.job.wasted != time.Second {
			t.Errorf("useful %v, lost %v; want 2s and 1s", r.job.useful, r.job.wasted)
		}
	}
}

// saveAt has a state of the lease held that stands for so much CPU time.
func saveAt(l *lease, cpu time.Duration, asked time.Time) {
	l.saved.heldAt = asked
	l.job.row(l.task.index).Best = &message.Checkpoint{CID: "state", Fuel: 1, CPU: cpu}
}

// A job that was kept away from a member while that took nothing is let in again when
// it does; one that was kept away for another reason is not.
func TestReadmit(t *testing.T) {
	r := newRan(t, nil)
	other := &job{}
	h := &host{slots: 1, state: overlay.Available}
	r.c.members.pauseJob(h, other, time.Minute, "a result was no good")
	h.slots, h.state = 0, overlay.UserPresent
	r.c.members.pauseJob(h, r.job, time.Minute, "its owner is there")
	if len(h.paused) != 2 {
		t.Fatalf("%d jobs are kept away, want 2", len(h.paused))
	}
	r.c.members.readmit(h)
	if _, kept := h.paused[other]; !kept || len(h.paused) != 1 {
		t.Errorf("kept away are %v", h.paused)
	}
}

// Claims of any size do not make a job's costs negative, or smaller.
func TestClaimedTimesDoNotWrap(t *testing.T) {
	claims := []time.Duration{-1, 0, time.Second, math.MaxInt64, math.MinInt64}
	rapid.Check(t, func(t *rapid.T) {
		var j job
		row := &ledger.Row{}
		claim := func() time.Duration { return rapid.SampledFrom(claims).Draw(t, "claim") }
		var last time.Duration
		for i := range rapid.IntRange(1, 30).Draw(t, "attempts") {
			uBefore, wBefore := cost(row)
			row.AddResult(ledger.Attempt{Epoch: 1, Seq: uint64(i)}, task.Result{Worker: task.PeerID(fmt.Sprint(i)),
				Outcome: task.Completed, CPU: claim(), Signature: []byte{byte(i)}})
			row.Note(ledger.AttemptLog{Attempt: ledger.Attempt{Epoch: 1, Seq: uint64(i)}, CPU: claim(), Lost: claim()})
			u, w := cost(row)
			j.took(u-uBefore, w-wBefore)
			if u < 0 || w < 0 || j.useful < 0 || j.wasted < 0 || j.useful+j.wasted < last {
				t.Fatalf("useful %v, wasted %v; of the row %v and %v", j.useful, j.wasted, u, w)
			}
			if len(row.Log) < ledger.MaxLog {
				last = j.useful + j.wasted
			}
		}
		var facts job
		facts.useful = math.MaxInt64 - 5
		if facts.took(claim(), 10); facts.useful < 0 || facts.wasted != 10 {
			t.Fatalf("%v, %v", facts.useful, facts.wasted)
		}
	})
}
