package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// bench is a worker with a leader and two slots, and what it did last.
type bench struct {
	*testing.T
	w      *Worker
	leader task.PeerID
	job    task.JobID
	spec   *task.Job
	now    time.Time
	last   []message.Effect
}

func newBench(t *testing.T) *bench {
	key, self := schedtest.Identity(1)
	_, leader := schedtest.Identity(0)
	rec := schedtest.Job(t, key, 100, nil)
	spec, err := rec.Open()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, w: New(self, message.DefaultTiming(), Default()), leader: leader, job: rec.ID(), spec: spec,
		now: schedtest.Start}
	b.step(message.OwnerState{State: overlay.Available, Slots: 2})
	b.step(message.LeaderChanged{Leader: leader, Epoch: 5})
	b.ack(&message.Ack{Epoch: 5})
	return b
}

func (b *bench) step(ev message.Event) { b.last = b.w.Step(b.now, ev) }
func (b *bench) ack(a *message.Ack) {
	b.step(&message.Received{From: b.leader, Message: &message.Message{Ack: a}})
}
func (b *bench) place(p *message.Place) {
	b.step(&message.Received{From: b.leader, Message: &message.Message{Place: p}})
}

// leases makes leases of the tasks given, as attempts of their own number.
func (b *bench) leases(epoch uint64, tasks ...uint64) *message.Place {
	p := &message.Place{Epoch: epoch}
	for _, i := range tasks {
		p.Leases = append(p.Leases, message.Lease{Task: b.task(i), Attempt: message.Attempt{Epoch: epoch, Seq: i},
			TTL: time.Second})
	}
	return p
}

func (b *bench) task(i uint64) task.TaskID { return task.TaskID{Job: b.job, Index: i} }

func (b *bench) end(i uint64, outcome task.Outcome) {
	b.step(message.Ended{Task: b.task(i), Attempt: message.Attempt{Epoch: 5, Seq: i},
		Result: task.Result{Task: b.task(i), Outcome: outcome}})
}

// started lists the tasks that the last step started.
func (b *bench) started() []uint64 {
	var out []uint64
	for _, e := range b.last {
		if e, ok := e.(message.Start); ok {
			out = append(out, e.Task.Index)
		}
	}
	return out
}

// reports lists what the last step reported.
func (b *bench) reports() (held, ended, refused []uint64, full bool) {
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok {
			r := e.Message.Report
			full = full || r.Full
			for _, h := range r.Held {
				held = append(held, h.Task.Index)
			}
			for _, x := range r.Ended {
				ended = append(ended, x.Result.Task.Index)
			}
			for _, x := range r.Refused {
				refused = append(refused, x.Task.Index)
			}
		}
	}
	return held, ended, refused, full
}

func (b *bench) want(what string, got, want []uint64) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// busy returns a worker that runs tasks 1 and 2 and has 3 and 4 waiting.
func busy(t *testing.T) *bench {
	b := newBench(t)
	b.place(b.leases(5, 3, 1, 2, 4))
	if p, ok := b.last[0].(message.Prepare); !ok || p.Job != b.job || len(b.started()) != 0 {
		t.Fatalf("got %+v, want the job prepared, once, before anything starts", b.last)
	}
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.want("started", b.started(), []uint64{1, 2})
	return b
}

func TestWorkerStartsInOrder(t *testing.T) {
	b := busy(t)
	b.end(2, task.Completed)
	b.want("started", b.started(), []uint64{3})
	_, ended, _, full := b.reports()
	b.want("reported at once", ended, []uint64{2})
	if full {
		t.Error("a result made a full report; those are for heartbeats")
	}
}

func TestWorkerRepeatsUntilAcknowledged(t *testing.T) {
	b := busy(t)
	b.end(1, task.Completed)
	for range 3 {
		b.now = b.now.Add(message.DefaultTiming().ReportEvery)
		b.step(message.Wake{})
		held, ended, _, _ := b.reports()
		b.want("repeated", ended, []uint64{1})
		b.want("held", held, []uint64{2, 3, 4})
	}
	b.ack(&message.Ack{Epoch: 5, Ended: []message.AttemptName{{Task: b.task(1),
		Attempt: message.Attempt{Epoch: 5, Seq: 1}}}})
	b.now = b.now.Add(message.DefaultTiming().ReportEvery)
	b.step(message.Wake{})
	_, ended, _, _ := b.reports()
	b.want("after the acknowledgement", ended, nil)
}

func TestWorkerObeysNoLowerEpoch(t *testing.T) {
	b := busy(t)
	b.place(b.leases(4, 9))
	b.want("held", heldTasks(b.w), []uint64{1, 2, 3, 4})
	_, stranger := schedtest.Identity(7)
	b.step(&message.Received{From: stranger, Message: &message.Message{Place: b.leases(9, 9)}})
	b.want("from a stranger", heldTasks(b.w), []uint64{1, 2, 3, 4})
	// A leader of an older term is told of the newer one, so that it can begin
	// another, but none of its leases is taken.
	b.step(message.LeaderChanged{Leader: stranger, Epoch: 4})
	held, _, _, full := b.reports()
	b.want("told the outdated leader", held, []uint64{1, 2, 3, 4})
	if _, epoch := b.w.Leader(); epoch != 5 || !full {
		t.Errorf("epoch %d, full report %v; want 5 and true", epoch, full)
	}
	b.step(&message.Received{From: stranger, Message: &message.Message{Place: b.leases(4, 9)}})
	b.want("from an outdated leader", heldTasks(b.w), []uint64{1, 2, 3, 4})
	b.step(message.LeaderChanged{Leader: stranger, Epoch: 6})
	held, _, _, full = b.reports()
	b.want("told the new leader", held, []uint64{1, 2, 3, 4})
	if !full {
		t.Error("the new leader got no full report")
	}
}

func heldTasks(w *Worker) []uint64 {
	var out []uint64
	for id := range w.held {
		out = append(out, id.Index)
	}
	slices.Sort(out)
	return out
}

func TestWorkerDuplicatePlaceIsHarmless(t *testing.T) {
	b := busy(t)
	b.place(b.leases(5, 1, 2, 3))
	b.want("started again", b.started(), nil)
	b.want("held", heldTasks(b.w), []uint64{1, 2, 3, 4})
	// A later attempt of what runs is the same run under another name.
	b.place(&message.Place{Epoch: 5, Leases: []message.Lease{{Task: b.task(1),
		Attempt: message.Attempt{Epoch: 5, Seq: 50}}}})
	b.want("started again", b.started(), nil)
	b.end(1, task.Completed)
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Report.Ended[0].Attempt.Seq != 50 {
			t.Errorf("reported as %v, want the later attempt", s.Message.Report.Ended[0].Attempt)
		}
	}
}

func TestWorkerGivesBackWhenItsOwnerComes(t *testing.T) {
	b := busy(t)
	b.step(message.OwnerState{State: overlay.UserPresent, Reason: "the keyboard was touched"})
	_, _, refused, full := b.reports()
	b.want("refused", refused, []uint64{3, 4})
	if !full {
		t.Error("the leader was not told at once")
	}
	b.place(b.leases(5, 9))
	_, _, refused, _ = b.reports()
	b.want("refused", refused, []uint64{9})
	b.end(1, task.Interrupted)
	b.want("started", b.started(), nil)
}

func TestWorkerDrop(t *testing.T) {
	drop := func(b *bench, i uint64, reason string) {
		b.ack(&message.Ack{Epoch: 5, Drop: []message.AttemptName{{Task: b.task(i),
			Attempt: message.Attempt{Epoch: 5, Seq: i}, Reason: reason}}})
	}
	stops := func(b *bench) bool {
		return slices.ContainsFunc(b.last, func(e message.Effect) bool { _, ok := e.(message.Stop); return ok })
	}
	b := busy(t)
	drop(b, 4, message.DropRecall)
	_, _, refused, _ := b.reports()
	b.want("given back", refused, []uint64{4})
	drop(b, 1, message.DropRecall)
	if stops(b) {
		t.Error("a recall stopped what runs")
	}
	drop(b, 3, message.DropCancelled)
	b.want("held", heldTasks(b.w), []uint64{1, 2})
	drop(b, 1, message.DropCancelled)
	if !stops(b) {
		t.Error("a cancelled task runs on")
	}
	b.end(1, task.Interrupted)
	if _, ended, _, _ := b.reports(); len(ended) > 0 {
		t.Error("the end of a dropped task was reported")
	}
	drop(b, 2, message.DropSuperseded)
	b.end(2, task.Completed)
	_, ended, _, _ := b.reports()
	b.want("a result all the same", ended, []uint64{2})
}

func TestWorkerPrepareFails(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, 1, 2))
	b.step(message.Prepared{ID: b.job, Err: "no holder"})
	_, _, refused, _ := b.reports()
	b.want("refused", refused, []uint64{1, 2})
	b.place(b.leases(5, 3))
	if _, ok := b.last[0].(message.Prepare); !ok {
		t.Errorf("got %+v, want another try", b.last)
	}
}

func TestWorkerMemory(t *testing.T) {
	b := newBench(t)
	b.step(message.OwnerState{Slots: 4, Memory: 2*b.spec.Memory + 1})
	b.place(b.leases(5, 1, 2, 3))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.want("started", b.started(), []uint64{1, 2})
	b.end(1, task.Completed)
	b.want("started", b.started(), []uint64{3})
}

func TestWorkerReleasesIdleJobs(t *testing.T) {
	b := busy(t)
	for i := range uint64(4) {
		b.end(i+1, task.Completed)
	}
	b.now = b.now.Add(Default().KeepJob)
	b.step(message.Wake{})
	released := message.Effect(message.Release{Job: b.job})
	if !slices.ContainsFunc(b.last, func(e message.Effect) bool { return e == released }) {
		t.Errorf("got %+v, want the job released", b.last)
	}
}

// A job that nobody needs any more is not prepared to its end, and is prepared anew for
// who needs it later.
func TestWorkerReleasesWhatIsBeingPrepared(t *testing.T) {
	b := newBench(t)
	has := func(want message.Effect) bool {
		return slices.ContainsFunc(b.last, func(e message.Effect) bool {
			switch e.(type) {
			case message.Release:
				return e == want
			case message.Prepare:
				return e.(message.Prepare).Job == b.job && want == message.Effect(nil)
			}
			return false
		})
	}
	b.place(b.leases(5, 1, 2))
	if !has(nil) {
		t.Fatalf("got %+v, want the job prepared", b.last)
	}
	b.step(message.OwnerState{State: overlay.UserPresent})
	if !has(message.Release{Job: b.job}) {
		t.Errorf("the owner is back: got %+v, want the job released", b.last)
	}
	b.step(message.OwnerState{State: overlay.Available, Slots: 2})
	b.place(b.leases(5, 3))
	if !has(nil) {
		t.Errorf("got %+v, want the job prepared again", b.last)
	}
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.want("started", b.started(), []uint64{3})
	b.end(3, task.Completed)
	b.now = b.now.Add(Default().KeepJob - 1)
	b.step(message.Wake{})
	if has(message.Release{Job: b.job}) {
		t.Error("a job that is ready was released at once")
	}
}

// Leases of a sealed job are refused without its key, and with another, and the job is let go;
// with the key they start.
func TestWorkerNeedsKey(t *testing.T) {
	b := newBench(t)
	b.spec.Sealed = task.KeyCommitment(schedtest.ContentKey)
	wrong := slices.Clone(schedtest.ContentKey)
	wrong[0]++
	for i, key := range [][]byte{nil, wrong, schedtest.ContentKey} {
		p := b.leases(5, uint64(2*i+1), uint64(2*i+2))
		if key != nil {
			p.Keys = map[task.JobID][]byte{b.job: key}
		}
		b.place(p)
		if e, ok := b.last[0].(message.Prepare); !ok || !slices.Equal(e.Key, key) {
			t.Fatalf("with the key %x: %+v, want it prepared with that", key, b.last)
		}
		b.step(message.Prepared{ID: b.job, Job: b.spec})
		_, _, refused, _ := b.reports()
		if good := i == 2; good {
			b.want("started", b.started(), []uint64{5, 6})
			b.want("refused", refused, nil)
			continue
		}
		b.want("started", b.started(), nil)
		b.want("refused", refused, []uint64{uint64(2*i + 1), uint64(2*i + 2)})
		if !slices.Contains(b.last, message.Effect(message.Release{Job: b.job})) {
			t.Errorf("with the key %x the job is kept: %+v", key, b.last)
		}
		for _, e := range b.last {
			if s, ok := e.(message.Send); ok && !strings.Contains(s.Message.Report.Refused[0].Reason, "key") {
				t.Errorf("it is refused because %q", s.Message.Report.Refused[0].Reason)
			}
		}
	}
}
