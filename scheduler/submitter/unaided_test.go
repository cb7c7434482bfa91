package submitter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// An unaidedBench is a submitter with a leader that is another node, and a core in which its own tasks take a while.
type unaidedBench struct {
	*auditBench
	takes time.Duration   // a task here
	ends  map[int]string  // what the machine makes of its runs, by their number; "" for a result
	order []uint64        // tasks that ran here
	given []task.TaskID   // that were not wanted any more
	runs  []message.Audit // at most one
	until time.Time       // when it ends
}

const theLeader, aWorker = 30, 5

func newUnaidedBench(tb testing.TB, tasks uint64, change func(*task.Job)) *unaidedBench {
	b := &unaidedBench{auditBench: &auditBench{subBench: newSubBench(tb).unlimited()}, takes: time.Minute, ends: map[int]string{}}
	b.s.cfg.Unaided = true
	rec := schedtest.Job(tb, b.key, tasks, func(j *task.Job) {
		if j.Retries = 1; change != nil {
			change(j)
		}
	})
	b.id = rec.ID()
	b.step(message.LeaderChanged{Leader: peerOf(theLeader), Epoch: 2})
	b.own(message.Offer{Record: rec})
	return b
}

// own takes a step, and has the machine run what it is to run.
func (b *unaidedBench) own(ev message.Event) {
	b.step(ev)
	for _, e := range b.last {
		switch e := e.(type) {
		case message.Audit:
			if !e.First {
				b.audits = append(b.audits, e)
				continue
			}
			if b.runs = append(b.runs, e); len(b.runs) > 1 {
				b.tb.Fatalf("%d tasks run here at once", len(b.runs))
			}
			b.until, b.order = b.now.Add(b.takes), append(b.order, e.Task.Index)
		case message.Unneeded:
			b.given = append(b.given, e.Task)
		}
	}
}

// ended answers what runs here.
func (b *unaidedBench) ended(here task.Result) {
	e := b.runs[0]
	b.runs = nil
	here.Task = e.Task
	if err := here.Sign(b.key); err != nil {
		b.tb.Fatal(err)
	}
	b.own(message.Audited{Task: e.Task, First: true, Here: here})
}

// makes is what comes of the task that runs here.
func (b *unaidedBench) makes() task.Result {
	switch why := b.ends[len(b.order)-1]; why {
	case "":
		r := schedtest.Result(b.tb, b.key, b.runs[0].Task, truth)
		r.Signature = nil
		return r
	case "fails":
		return task.Result{Outcome: task.ExitFailure, ExitCode: 1}
	case "owner":
		return task.Result{Outcome: task.Interrupted, Message: "stopped by its host"}
	default:
		return task.Result{Outcome: task.HostError, Message: why}
	}
}

// passes lets time pass, in which the leader brings results as often as bring says, if ever, and the machine runs
// what it is given. It ends early when the job does.
func (b *unaidedBench) passes(d time.Duration, every time.Duration) {
	end, next, from := b.now.Add(d), b.now.Add(every), uint64(0)
	for b.now.Before(end) && !b.s.jobs[b.id].state.Final {
		at, ok := b.s.NextWake()
		for _, t := range []time.Time{end, b.until, next} {
			switch {
			case t.Equal(b.until) && len(b.runs) == 0, t.Equal(next) && every == 0:
			case !ok || t.Before(at):
				at, ok = t, true
			}
		}
		b.now = later(b.now, at)
		switch {
		case len(b.runs) > 0 && !b.now.Before(b.until):
			b.ended(b.makes())
		case every > 0 && !b.now.Before(next):
			next = b.now.Add(every)
			from = b.s.jobs[b.id].have.NextMissing(from)
			b.leaderBrings(from)
		default:
			b.own(message.Wake{})
		}
	}
}

// leaderBrings has the leader bring the results of some tasks.
func (b *unaidedBench) leaderBrings(tasks ...uint64) {
	p := &message.Progress{Job: b.id, Summary: message.JobSummary{State: message.JobRunning}}
	for _, i := range tasks {
		key, _ := schedtest.Identity(aWorker)
		r := schedtest.Result(b.tb, key, b.task(i), truth)
		r.Wall, r.Receipt = b.takes, &task.Receipt{Epoch: 2, Seq: i}
		if err := r.Sign(key); err != nil {
			b.tb.Fatal(err)
		}
		p.Tasks = append(p.Tasks, message.TaskSummary{Index: i, Results: []task.Result{r}})
	}
	b.own(&message.Received{From: peerOf(theLeader), Message: &message.Message{Progress: p}})
}

func (b *unaidedBench) isOver() bool { return b.s.jobs[b.id].state.Final }

// A leader that leases nothing of a job, or keeps all for itself; one that brings a result now and then; an honest
// one: what comes of a job of twelve tasks of a minute in three hours, and how many ran at its submitter.
func TestUnaided(t *testing.T) {
	const tasks = 12
	for name, tt := range map[string]struct {
		every time.Duration // the leader brings a result; 0: never
		over  bool
		most  int // that run here
		least int
	}{
		"brings nothing":              {0, true, tasks, tasks},
		"brings one now and then":     {9 * time.Minute, true, tasks, tasks / 2},
		"is honest, and has one core": {time.Minute, true, 0, 0},
		"is honest, and is busy":      {3 * time.Minute, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUnaidedBench(t, tasks, nil)
			b.passes(3*time.Hour, tt.every)
			if n := len(b.order); b.isOver() != tt.over || n > tt.most || n < tt.least {
				t.Errorf("over: %v; %d tasks ran here: %v", b.isOver(), n, b.order)
			}
			if tt.every == 0 && (!slices.IsSortedFunc(b.order, func(x, y uint64) int { return int(y) - int(x) }) ||
				b.s.jobs[b.id].withheld.takes != 0) {
				t.Errorf("they ran as %v", b.order)
			}
		})
	}
}

// What this node makes is told to the leader as any result that is held, counts as its own run, and what comes
// meanwhile ends the run.
func TestUnaidedIsHeld(t *testing.T) {
	b := newUnaidedBench(t, 3, func(j *task.Job) { j.Verify, _ = task.ParseVerify("full") })
	b.passes(withheldAfter-time.Second, 0)
	if st, _ := b.s.Job(b.id); len(b.order) > 0 || st.Reason != "" {
		t.Fatalf("%v ran before it was time: %q", b.order, st.Reason)
	}
	b.passes(2*time.Second, 0)
	if st, _ := b.s.Job(b.id); !strings.Contains(st.Reason, "runs its tasks itself") || len(b.runs) != 1 {
		t.Fatalf("%q", st.Reason)
	}
	b.ended(b.makes())
	told := false
	for _, e := range b.last {
		if s, is := e.(message.Send); is && s.Message.Got != nil && s.To == peerOf(theLeader) {
			told = ledger.Set(s.Message.Got.Have).Contains(2)
		}
	}
	if got, _ := b.s.Standings(b.id, []uint64{2}); !told || got[0] != message.StandingFinal || len(b.audits) > 0 {
		t.Errorf("told the leader: %v; it is %q", told, got[0])
	}
	b.leaderBrings(1)
	if len(b.given) != 1 || b.given[0].Index != 1 {
		t.Errorf("ended are %v", b.given)
	}
	if b.ended(task.Result{Outcome: task.Interrupted}); len(b.runs) > 0 || b.s.jobs[b.id].withheld.own.tries > 0 {
		t.Errorf("%v runs once the leader brings something", b.runs)
	}
	b.own(message.CancelJob{Job: b.id})
	if b.passes(time.Hour, 0); len(b.order) != 2 {
		t.Errorf("of a cancelled job %v ran", b.order)
	}
}

// What cannot be run here is said, and does not keep other tasks from running.
func TestUnaidedInVain(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*task.Job)
		owner  message.OwnerState
		ends   map[int]string
		says   string
		over   bool
	}{
		"no core":       {owner: message.OwnerState{}, says: "lends no core"},
		"little memory": {owner: message.OwnerState{Slots: 1, Memory: 1}, says: "of memory, and this machine lends 1B"},
		"a sick machine": {owner: message.OwnerState{Slots: 1}, says: "cannot run them: no such module",
			ends: map[int]string{0: "no such module", 1: "no such module"}, over: true},
		"its owner comes": {owner: message.OwnerState{Slots: 1}, ends: map[int]string{0: "owner", 2: "owner"},
			over: true},
		"tasks that fail": {owner: message.OwnerState{Slots: 1}, ends: map[int]string{0: "fails", 1: "fails"},
			over: true},
		"replicas that must agree": {change: func(j *task.Job) { j.Replicas = 2 }, owner: message.OwnerState{Slots: 1},
			over: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUnaidedBench(t, 3, tt.change)
			b.ends = tt.ends
			b.own(tt.owner)
			b.passes(withheldAfter+90*time.Second, 0)
			if st, _ := b.s.Job(b.id); !strings.Contains(st.Reason, tt.says) {
				t.Errorf("it says %q", st.Reason)
			}
			if b.passes(time.Hour, 0); b.isOver() != tt.over {
				t.Errorf("over: %v; ran %v", b.isOver(), b.order)
			}
			failed := b.s.jobs[b.id].failed
			if want := map[bool]uint64{true: 1}[name == "tasks that fail"]; failed != want {
				t.Errorf("%d failed", failed)
			}
			b.restart() // and what it made is there
			if n := b.s.jobs[b.id].have.Count(); tt.over && n != 3 {
				t.Errorf("%d are held after a restart", n)
			}
		})
	}
}

// Whatever a leader does with a job, however its submitter's machine is lent, killed or interrupted: as long as it
// has an idle core now and then the job ends, with what was right.
func TestUnaidedProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const tasks = 6
		b := newUnaidedBench(t, tasks, func(j *task.Job) { j.Replicas = rapid.IntRange(1, 2).Draw(rt, "replicas") })
		b.takes = time.Duration(rapid.IntRange(1, 7200).Draw(rt, "seconds")) * time.Second
		for n := 0; !b.isOver(); n++ {
			if n > 400 {
				st, _ := b.s.Job(b.id)
				rt.Fatalf("%d of %d are held after %v: %q", b.s.jobs[b.id].have.Count(), tasks, b.now.Sub(schedtest.Start),
					st.Reason)
			}
			good := n > 100 // of the machine, not of the leader
			switch k := rapid.IntRange(0, 9).Draw(rt, "next"); {
			case k == 0 && !good:
				b.restart()
				b.runs = nil
				b.step(message.LeaderChanged{Leader: peerOf(theLeader), Epoch: 2})
			case k == 1:
				b.own(message.OwnerState{Slots: map[bool]int{true: 1}[good || rapid.Bool().Draw(rt, "lends")]})
			case k == 2 && len(b.runs) > 0 && !good:
				b.ended(task.Result{Outcome: task.Interrupted})
			case k == 3 && b.s.jobs[b.id].have.Count() < tasks:
				b.leaderBrings(b.s.jobs[b.id].have.NextMissing(0))
			case k == 4:
				b.own(message.LeaderChanged{Leader: peerOf(theLeader + n%2), Epoch: uint64(3 + n)})
				b.own(message.LeaderChanged{Leader: peerOf(theLeader), Epoch: uint64(4 + n)})
			default:
				b.passes(time.Duration(rapid.IntRange(1, 3600).Draw(rt, "passes"))*time.Second, 0)
			}
		}
		for i := range uint64(tasks) {
			sum, err := DecodeSummary(b.disk[ResultKey(b.id, i)])
			if err != nil || string(sum.Results[0].Outputs[0].Inline) != truth {
				rt.Fatalf("task %d is %+v: %v", i, sum, err)
			}
		}
	})
}

// A hostile leader brings invented results that claim an hour each. This machine checks some, knows by then that a task
// takes a second, and runs the rest after a minute in which nothing usable came.
func TestUnaidedGoesByMeasuredTimes(t *testing.T) {
	b := newSiege(t, attack{tasks: 60, verify: "5%", lends: true, keys: 1, leads: true, share: 100, claims: time.Hour}, 1)
	from := b.now
	b.run()
	if took := b.now.Sub(from); !b.over() || took > withheldAfter/2 {
		t.Errorf("over: %v, after %v, of which %d tasks ran here alone", b.over(), took, b.alone)
	}
}
