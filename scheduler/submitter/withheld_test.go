package submitter

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// asks lists whom else than the leader the submitter asked for a job in the last step.
func (b *auditBench) asks() (out []task.PeerID) {
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Got != nil && s.To != b.self {
			out = append(out, s.To)
		}
	}
	return out
}

// untilOthersAsked lets time pass, in which the leader says that all runs, until another is asked.
func (b *auditBench) untilOthersAsked(most time.Duration) []task.PeerID {
	for end := b.now.Add(most); b.now.Before(end); {
		at, ok := b.s.NextWake()
		if !ok {
			break
		}
		b.now = at
		b.do(message.Wake{})
		if out := b.asks(); len(out) > 0 {
			return out
		}
		b.do(&message.Received{From: b.self, Message: &message.Message{Progress: &message.Progress{Job: b.id,
			Summary: message.JobSummary{State: message.JobRunning, Total: 3, Running: 3}}}})
	}
	return nil
}

// brings has a peer bring results.
func (b *auditBench) brings(from int, state string, results ...task.Result) {
	_, peer := schedtest.Identity(from)
	p := &message.Progress{Job: b.id, Summary: message.JobSummary{State: state}, Made: from > 4}
	for _, r := range results {
		p.Tasks = append(p.Tasks, message.TaskSummary{Index: r.Task.Index, Results: []task.Result{r}})
	}
	b.do(&message.Received{From: peer, Message: &message.Message{Progress: p}})
}

// A leader that brings nothing, and says that all runs: others that coordinate are asked, one after the other, and
// what they bring counts if workers signed it; nobody else's word does, nor what they say of the job.
func TestLeaderHoldsBack(t *testing.T) {
	const second, third, maker, stranger = 3, 4, 5, 6
	b := newAuditBench(t, 3, "off")
	if b.asks() != nil || b.untilOthersAsked(withheldAfter-time.Minute) != nil {
		t.Fatal("others are asked at once")
	}
	b.s.cfg.Coordinators = &crew{group: []int{second, third}}
	b.brings(second, message.JobRunning, b.ran(maker, 0, truth))
	if b.s.jobs[b.id].have.Count() > 0 {
		t.Error("who was not asked brings results")
	}
	first := b.untilOthersAsked(3 * withheldAfter)
	next := b.untilOthersAsked(3 * withheldAfter)
	if len(first) != 1 || len(next) != 1 || first[0] == next[0] {
		t.Fatalf("asked are %v, then %v", first, next)
	}
	asked := map[bool]int{true: second, false: third}[next[0] == peers([]int{second})[0]]
	forged := b.ran(maker, 1, "wrong")
	forged.Signature = append([]byte{^forged.Signature[0]}, forged.Signature[1:]...)
	b.brings(stranger, message.JobRunning, b.ran(maker, 0, truth))
	b.brings(second+third-asked, message.JobRunning, b.ran(maker, 0, truth))
	if n := b.s.jobs[b.id].have.Count(); n > 0 {
		t.Errorf("%d results of others than who was asked last", n)
	}
	b.brings(asked, message.JobCancelled, b.ran(maker, 0, truth), forged)
	st, _ := b.s.Job(b.id)
	if n := b.s.jobs[b.id].have.Count(); n != 1 || st.Final || b.s.jobs[b.id].state.Summary.State == message.JobCancelled {
		t.Fatalf("%d are held; the job is %+v", n, b.s.jobs[b.id].state.Summary)
	}
	if got := b.asks(); len(got) != 1 || got[0] != peers([]int{asked})[0] {
		t.Errorf("asked for more are %v", got)
	}
	b.brings(asked, message.JobRunning, b.ran(maker, 1, truth), b.ran(maker, 2, truth))
	sum := b.s.jobs[b.id].state.Summary
	if st, _ := b.s.Job(b.id); !st.Final || sum.State != message.JobDone || sum.Done != 3 {
		t.Errorf("the job is %+v", b.s.jobs[b.id].state.Summary)
	}
}

// An honest leader costs nobody a question: whatever it brings begins the wait anew.
func TestHonestLeaderIsNotDoubted(t *testing.T) {
	b := newAuditBench(t, 200, "off")
	b.s.cfg.Coordinators = &crew{group: []int{3, 4}}
	for i := range uint64(100) {
		if got := b.untilOthersAsked(withheldAfter / 2); got != nil {
			t.Fatalf("after task %d %v are asked", i, got)
		}
		b.deliver(i, nil, b.ran(5, i, truth))
	}
}

// newWithheld has a job whose leader brings nothing: two others coordinate, and three lend.
func newWithheld(t *testing.T, tasks uint64, change func(*task.Job)) *auditBench {
	b := &auditBench{subBench: newSubBench(t).unlimited()}
	rec := schedtest.Job(t, b.key, tasks, change)
	b.id = rec.ID()
	b.s.cfg.Coordinators = &crew{group: []int{3, 4}, lends: []int{5, 6, 7}}
	b.s.cfg.Where = b.s.cfg.Coordinators.(*crew)
	b.do(message.Offer{Record: rec})
	return b
}

// untilMembers lets time pass until members are asked who do not coordinate.
func (b *auditBench) untilMembers(most time.Duration) []task.PeerID {
	for end := b.now.Add(most); b.now.Before(end); {
		asked := b.untilOthersAsked(end.Sub(b.now))
		if slices.Contains(asked, peerOf(5)) {
			return asked
		}
	}
	return nil
}

// A leader that brings nothing, and gave no other coordinator a copy: members that ran tasks bring what they made.
func TestLeaderGivesNoCopies(t *testing.T) {
	b := newWithheld(t, 2, nil)
	b.brings(5, message.JobRunning, b.ran(5, 0, truth))
	if n := b.s.jobs[b.id].have.Count(); n > 0 {
		t.Error("who was not asked brings results")
	}
	if asked := b.untilMembers(25 * time.Minute); asked != nil {
		t.Fatalf("members are asked before coordinators had their turns: %v", asked)
	}
	if asked := b.untilMembers(time.Hour); len(asked) < 3 || slices.Contains(asked, b.self) {
		t.Fatalf("asked are %v", asked)
	}
	forged := b.ran(6, 1, "wrong")
	forged.Signature[0] ^= 1
	b.brings(6, message.JobDone, forged)
	b.brings(5, message.JobDone, b.ran(5, 0, truth))
	if n := b.s.jobs[b.id].have.Count(); n != 1 {
		t.Fatalf("%d are held", n)
	}
	if asked := b.untilMembers(5 * time.Minute); len(asked) < 3 {
		t.Fatalf("one had some, and others are not asked: %v", asked)
	}
	b.brings(7, message.JobRunning, b.ran(7, 1, truth))
	if st, _ := b.s.Job(b.id); !st.Final {
		t.Errorf("%+v", st)
	}
}

// Short tasks of which nothing comes are asked for sooner.
func TestShortTasksAreMissedSoon(t *testing.T) {
	b := newWithheld(t, 3, nil)
	r := b.ran(5, 0, truth)
	key, _ := schedtest.Identity(5)
	r.Wall = time.Second
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	b.deliver(0, nil, r)
	if asked := b.untilOthersAsked(50 * time.Second); asked != nil {
		t.Errorf("%v are asked at once", asked)
	}
	if asked := b.untilMembers(5 * time.Minute); asked == nil {
		t.Error("nobody is asked")
	}
}

// Of replicas, and of a task that failed, one worker's word does not tell the end: those of several are put together.
func TestPooled(t *testing.T) {
	twice := func(j *task.Job) { j.Replicas = 2 }
	again := func(j *task.Job) { j.Retries = 1 }
	for name, tt := range map[string]struct {
		change       func(*task.Job)
		by           []int
		says         []string // "!" of a failure
		done, failed uint64
	}{
		"two agree":          {twice, []int{5, 6}, []string{truth, truth}, 1, 0},
		"two of three":       {twice, []int{5, 6, 7}, []string{truth, "x", truth}, 1, 0},
		"the same one twice": {twice, []int{5, 5}, []string{truth, truth}, 0, 0},
		"it failed":          {again, []int{5, 6}, []string{"!", "!"}, 0, 1},
		"it may fail once":   {again, []int{5}, []string{"!"}, 0, 0},
		"it failed once":     {again, []int{5, 6}, []string{"!", truth}, 1, 0},
	} {
		b := newWithheld(t, 1, tt.change)
		b.untilMembers(time.Hour)
		for k, says := range tt.says {
			r := b.ran(tt.by[k], 0, says)
			if says == "!" {
				key, _ := schedtest.Identity(tt.by[k])
				r = task.Result{Task: b.task(0), Outcome: task.ExitFailure, ExitCode: 1}
				if err := r.Sign(key); err != nil {
					t.Fatal(err)
				}
			}
			_, peer := schedtest.Identity(tt.by[k])
			b.s.jobs[b.id].withheld.asked[peer] = true
			b.do(&message.Received{From: peer, Message: &message.Message{Progress: &message.Progress{Job: b.id, Made: true,
				Tasks: []message.TaskSummary{{Failed: says == "!", Results: []task.Result{r}}}}}})
		}
		st, _ := b.s.Job(b.id)
		if st.Final != (tt.done+tt.failed > 0) ||
			st.Final && (st.Tasks.Done != tt.done || st.Tasks.Failed != tt.failed) {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// A pool takes no more than it may, whatever is brought.
func TestPoolIsBounded(t *testing.T) {
	b := newWithheld(t, 3*mostPooled, func(j *task.Job) { j.Replicas = 2 })
	b.untilMembers(time.Hour)
	j := b.s.jobs[b.id]
	for i := range uint64(2*mostPooled + 100) {
		r := b.ran(5, i, truth)
		of := message.TaskSummary{Index: i, Results: []task.Result{r}, Signed: true}
		j.withheld.pool.add(b.s, peerOf(5), j, &of)
		if p := &j.withheld.pool; p.n > mostPooled || len(p.rows) > mostPooled {
			t.Fatalf("%d of %d tasks", p.n, len(p.rows))
		}
	}
	n := j.withheld.pool.n
	of := message.TaskSummary{Index: 1, Results: []task.Result{b.ran(5, 1, truth)}}
	j.withheld.pool.add(b.s, peerOf(6), j, &of)
	if j.withheld.pool.n != n {
		t.Error("it takes what another made")
	}
}

// A leader that brings one result now and then, and never the others, is found by the few that are asked all the same.
func TestLeaderBringsLittle(t *testing.T) {
	b := newWithheld(t, 100, nil)
	for i := range uint64(90) {
		b.deliver(i, nil, b.ran(5, i, truth))
		if asked := b.untilMembers(withheldAfter - time.Minute); asked != nil {
			if b.now.Sub(schedtest.Start) < withheldMost {
				t.Fatalf("after %v %v are asked", b.now.Sub(schedtest.Start), asked)
			}
			b.brings(5, message.JobRunning, b.ran(5, 95, truth))
			if !b.s.jobs[b.id].have.Contains(95) || b.untilMembers(time.Minute) == nil {
				t.Error("what a member brings is not taken, or others are not asked then")
			}
			return
		}
	}
	t.Error("nobody is asked")
}

// Whatever a leader keeps for itself of what members made, brings late or never, and whoever comes back late: a job
// ends within a day.
func TestWithheldProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		replicas := rapid.IntRange(1, 2).Draw(rt, "replicas")
		b := newWithheld(t, 8, func(j *task.Job) { j.Replicas = replicas })
		made := map[int][]task.Result{} // by member, what the leader kept
		for i := range b.s.jobs[b.id].total {
			by := rapid.Permutation([]int{5, 6, 7}).Draw(rt, "by")[:replicas]
			var all []task.Result
			for _, w := range by {
				all = append(all, b.ran(w, i, truth))
			}
			if rapid.Bool().Draw(rt, "brought") {
				b.deliver(i, nil, all...)
				b.now = b.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "minutes")) * time.Minute)
				continue
			}
			for k, w := range by {
				made[w] = append(made[w], all[k])
			}
		}
		late, end := b.now.Add(6*time.Hour), b.now.Add(24*time.Hour)
		for b.now.Before(end) {
			if st, _ := b.s.Job(b.id); st.Final {
				return
			}
			for _, peer := range b.untilOthersAsked(end.Sub(b.now)) {
				for w, all := range made {
					if peerOf(w) != peer || b.now.Before(late) && rapid.Bool().Draw(rt, "is away") {
						continue
					}
					all = slices.DeleteFunc(slices.Clone(all), func(r task.Result) bool {
						return b.s.jobs[b.id].have.Contains(r.Task.Index)
					})
					if len(all) > 0 {
						b.brings(w, message.JobRunning, all[:rapid.IntRange(1, len(all)).Draw(rt, "tells")]...)
					}
				}
			}
		}
		rt.Errorf("%d of %d are held", b.s.jobs[b.id].have.Count(), b.s.jobs[b.id].total)
	})
}
