package submitter

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newLimitedBench is a leader bench with the default limit of what this machine runs again.
func newLimitedBench(tb testing.TB, n uint64, verify string, lends bool) *leaderBench {
	b := newLeaderBench(tb, n, verify, lends)
	b.s.cfg.OwnRuns = Default().OwnRuns
	return b
}

// runHere answers every audit, until none is left, and returns their number.
func (b *leaderBench) runHere(came func(message.Audit) task.Result) (n int) {
	for len(b.audits) > 0 {
		b.answer(came)
		n++
	}
	return n
}

// However many results are wrong, and with whichever `verify`, this machine runs a fifth of the job. The rest is not
// believed: it waits for its owner, who may allow more, also after a restart.
func TestOwnRunsAreLimited(t *testing.T) {
	const tasks = 100
	for _, verify := range []string{"full", "1e-3"} {
		b := newLimitedBench(t, tasks, verify, true)
		b.s.cfg.Pool.Least = 1
		ran := 0
		for i := range uint64(tasks) { // a new key each
			b.bring(10+int(i), i, "wrong")
			ran += b.runHere(b.says(truth))
		}
		for n := 0; n < 1000; n++ {
			if at, ok := b.s.NextWake(); !ok || at.Sub(schedtest.Start) > 12*time.Hour {
				break
			}
			b.wait()
			ran += b.runHere(b.says(truth))
		}
		if most := tasks/5 + 2; ran > most {
			t.Errorf("%s: %d runs here, want at most %d", verify, ran, most)
		}
		st, _ := b.s.Job(b.id)
		c := st.Checks
		if c.Accepted > 0 || c.Final != c.Wrong || !st.Final || !st.Settled() || c.Delivered || c.Waits != c.Due || c.Due == 0 {
			t.Fatalf("%s: %v, %+v", verify, st.Final, c)
		}
		if !strings.Contains(st.Reason, "godwit verify") {
			t.Errorf("%s: %q", verify, st.Reason)
		}
		b.act(message.CheckMore{Job: b.id, Tasks: 2 * tasks})
		b.reborn(true)
		b.act(message.OwnerState{Slots: 1})
		for n := 0; n < 1000 && !b.allChecks().Delivered; n++ {
			if b.runHere(b.says(truth)) == 0 {
				b.wait()
			}
		}
		if c := b.allChecks(); c.Wrong != tasks || !c.Delivered {
			t.Errorf("%s: its owner allowed all of it: %+v", verify, c)
		}
	}
}

// A small job may have twice its least sample run again, and a fifth of a larger one.
func TestLeastSampleOfOwnRuns(t *testing.T) {
	for n, want := range map[uint64]uint64{1: 20, 12: 20, 30: 20, 100: 20, 200: 40} {
		b := newLimitedBench(t, n, "full", true)
		if got := b.s.audits.leftHere(b.s.jobs[b.id]); got != want {
			t.Errorf("of %d tasks %d may run here, want %d", n, got, want)
		}
	}
}

// Interpreted runs cost what they take, unless they are short: else one wrong result would cost all the checks of a job.
func TestInterpretedRunsCostTheirTime(t *testing.T) {
	for interpreted, want := range map[time.Duration]float64{9 * time.Second: 10, shortRun: 2, shortRun + time.Second: 7} {
		b := newLimitedBench(t, 100, "full", true)
		wall := func(d time.Duration) func(message.Audit) task.Result {
			return func(a message.Audit) task.Result {
				r := schedtest.Result(t, b.key, a.Task, truth)
				r.Wall = d
				if err := r.Sign(b.key); err != nil {
					t.Fatal(err)
				}
				return r
			}
		}
		b.bring(2, 0, "wrong")
		b.answer(wall(time.Second))
		b.answer(wall(interpreted))
		if got := b.s.jobs[b.id].checks.budget.spent; got != want {
			t.Errorf("a run of a second and an interpreted one of %v cost %g tasks, want %g", interpreted, got, want)
		}
	}
}

// A worker's claim of how long its task took changes neither who runs it again nor how long others may take.
func TestClaimedTimesCountNothing(t *testing.T) {
	b := newLeaderBench(t, 20, "full", true)
	claim := func(i uint64) {
		key, _ := schedtest.Identity(2)
		r := b.ran(2, i, truth)
		r.Wall, r.CPU = 100*time.Hour, 100*time.Hour
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		b.deliver(i, nil, r)
		b.hear()
	}
	for i := range uint64(20) {
		claim(i)
	}
	b.wait()
	if len(b.again) > 0 {
		t.Errorf("%d tasks go to others by their worker's claim", len(b.again))
	}
	b = newLeaderBench(t, 1, "full", false)
	claim(0)
	b.untilAsked()
	p := b.s.jobs[b.id].checks.polls[0]
	if most := answerIn + answerRuns*b.now.Sub(schedtest.Start); p.answerBy().Sub(p.asked) > most {
		t.Errorf("others may take %v, the job exists for %v", p.answerBy().Sub(p.asked), b.now.Sub(schedtest.Start))
	}
}
