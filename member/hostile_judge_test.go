package member

import (
	"fmt"
	"strings"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// did implements outside: it judges the effects of honest machines, and runs the tasks that a submitter audits.
func (g *gang) did(o *host, e message.Effect) {
	switch e := e.(type) {
	case message.Start:
		if e.Receipt == nil || !g.is(e.Receipt.Leader) && !g.leases[realLease{e.Task, e.Attempt, o.id}] {
			g.wrong(fmt.Sprintf("host %d starts task %v without a lease", o.n, e.Task))
		}
		if e.From != nil && !g.given[e.Task] && len(g.trusted)+len(g.led) == 0 { // honest workers save no states
			g.wrong(fmt.Sprintf("host %d starts task %v from a state of a worker without a lease", o.n, e.Task))
		}
	case message.Decided:
		g.decided(o, e)
	case message.JobChanged:
		if e.Final {
			g.finals[e.Job]++
		}
	case message.Audit:
		g.audit(o, e)
	case message.Persist:
		g.persisted(o, e)
	}
}

// decided records the faults that a host has found, which no honest member may have.
func (g *gang) decided(o *host, e message.Decided) {
	if e.Peer == "" || e.Action != "found wrong" && e.Action != "proven wrong" {
		return
	}
	g.faults[fault{o, e.Peer}] = true
	if named := g.s.of(e.Peer); named.s != nil {
		g.wrong(fmt.Sprintf("host %d names host %d for task %v: %s", o.n, named.n, e.Task, e.Reason))
	}
}

func (g *gang) persisted(o *host, e message.Persist) {
	if e.Value == nil {
		return
	}
	if decodes := decodesAs[e.Key[:min(len(e.Key), 4)]]; decodes != nil && g.rng.IntN(4) == 0 {
		if err := decodes(e.Value); err != nil {
			g.wrong(fmt.Sprintf("host %d stores %s, which cannot be read: %v", o.n, e.Key, err))
		}
	}
	if strings.HasPrefix(e.Key, submitter.ResultsPrefix) {
		g.judge(o, e.Value)
	}
}

// decodesAs has the decoders of what a ledger stores, by the first letters of the key.
// Rows are missing: a follower stores a task's row unread until it needs the row, and drops it if it cannot be read.
var decodesAs = map[string]func([]byte) error{
	"c/f/": func(b []byte) error { _, err := ledger.DecodeFacts(b); return err },
	"c/j/": func(b []byte) error { _, err := task.DecodeWhole(b); return err },
}

// audit runs a task again on an honest machine, with the right result.
func (g *gang) audit(o *host, e message.Audit) {
	b := []byte(answer(e.Task))
	r := task.Result{Task: e.Task, Outcome: task.Completed,
		Outputs: []task.Output{{Name: "stdout", CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}}
	key, _ := schedtest.Identity(o.n)
	if err := r.Sign(key); err != nil {
		g.s.tb.Fatal(err)
	}
	ev := message.Audited{Task: e.Task, First: e.First, Interpreted: e.Interpreted, StopAt: e.StopAt, Here: r}
	if value := o.disk[submitter.ResultKey(e.Task.Job, e.Task.Index)]; !e.First && value != nil {
		held, err := submitter.DecodeSummary(value)
		if err != nil {
			g.s.tb.Fatal(err)
		}
		ev.Held = held
	}
	g.tally["audits"]++
	o.tell(Answered{Of: o.m, To: o.m.Submitter(), Event: ev})
}

// judge tests the end of a task that a submitter stores.
func (g *gang) judge(o *host, value []byte) {
	sum, err := submitter.DecodeSummary(value)
	if err != nil {
		g.wrong(fmt.Sprintf("host %d stores a result that cannot be read: %v", o.n, err))
		return
	}
	for i := range sum.Results {
		g.judgeResult(o, &sum, &sum.Results[i])
	}
	if sum.Failed && len(sum.Results) == 0 && len(g.led) == 0 {
		g.wrong(fmt.Sprintf("host %d stores that task %d has failed, without a reason", o.n, sum.Index))
	}
}

func (g *gang) judgeResult(o *host, sum *message.TaskSummary, r *task.Result) {
	byHost := g.s.of(r.Worker).s != nil
	if g.s.jobs[r.Task.Job] == nil {
		g.wrong(fmt.Sprintf("host %d holds a result of task %v, which nobody submitted", o.n, r.Task))
		return
	}
	switch err := g.real(o, r); {
	case err != nil:
		g.wrong(fmt.Sprintf("host %d holds a result of task %v by %s: %v", o.n, r.Task, r.Worker, err))
	case byHost && r.Outcome == task.Completed && string(r.Outputs[0].Inline) != answer(r.Task):
		g.wrong(fmt.Sprintf("host %d holds %q of task %v", o.n, r.Outputs[0].Inline, r.Task))
	case g.faults[fault{o, r.Worker}]:
		g.wrong(fmt.Sprintf("host %d stores a result of task %v by a worker with a proven fault, reused %v", o.n, r.Task,
			sum.From != nil))
	case !byHost && r.Outcome == task.Completed:
		for _, j := range g.jobs {
			if j.id == r.Task.Job {
				g.lied[r.Worker] = j
			}
		}
	}
}

// end tests the jobs after the hostile members have left. Each is over once, and has the right results if no hostile
// member had a part in it.
func (g *gang) end() {
	for _, j := range g.jobs {
		st, _ := j.owner.m.Submitter().Job(j.id)
		if j.cancelled || st.Error != "" || len(g.led)+len(g.trusted) > 0 {
			continue
		}
		if n := g.finals[j.id]; n != 1 && !j.checked {
			g.wrong(fmt.Sprintf("job %s of host %d ended %d times", j.id, j.owner.n, n))
		}
		for i := range st.Tasks.Total {
			sum, err := submitter.DecodeSummary(j.owner.disk[submitter.ResultKey(j.id, i)])
			switch {
			case err != nil:
				g.wrong(fmt.Sprintf("job %s of host %d has no result of task %d: %v", j.id, j.owner.n, i, err))
			case g.helped[j.id] || sum.From != nil && g.helped[sum.From.Job]:
			case sum.Failed || string(sum.Results[0].Outputs[0].Inline) != answer(sum.Results[0].Task):
				g.wrong(fmt.Sprintf("job %s of host %d has a wrong result of task %d", j.id, j.owner.n, i))
			}
		}
	}
}
