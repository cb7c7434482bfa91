package scheduler

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

func TestLag(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		begun *Begun
		heard time.Duration // after the lease was given
		want  time.Duration
	}{
		"nothing told":                {nil, 100 * ms, 0},
		"half of the ways":            {&Begun{Queued: 20 * ms, Ago: 70 * ms}, 100 * ms, 25 * ms},
		"said again":                  {&Begun{Queued: 20 * ms, Ago: 970 * ms}, 1000 * ms, 25 * ms},
		"no way at all":               {&Begun{Ago: 100 * ms}, 100 * ms, 1},
		"queued before its lease":     {&Begun{Queued: 90 * ms, Ago: 70 * ms}, 100 * ms, 30 * ms},
		"ran before its lease":        {&Begun{Queued: 90 * ms, Ago: 700 * ms}, 100 * ms, 1},
		"as long as anything may run": {&Begun{Queued: task.MaxDuration, Ago: task.MaxDuration}, 100 * ms, 1},
	} {
		if got := test.begun.lag(start, start.Add(test.heard)); got != test.want {
			t.Errorf("%s: it lags %v, want %v", name, got, test.want)
		}
	}
}

// TestLagIsWithin: whatever a worker says, its attempt began after its lease was given
// and before its end was heard; and where the ways are alike, when it did.
func TestLagIsWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(task.MaxDuration)).Draw(t, name))
		}
		heard := max(1, length("heard"))
		b := &Begun{Queued: length("queued"), Ago: length("ago")}
		if got := b.lag(start, start.Add(heard)); got < 1 || got > heard {
			t.Fatalf("it lags %v of %v", got, heard)
		}
		way := time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "way"))
		short := &Begun{Queued: b.Queued % 1e12, Ago: b.Ago % 1e12}
		if got, want := short.lag(start, start.Add(2*way+short.Queued+short.Ago)), short.Queued+way; got != want {
			t.Fatalf("it lags %v, want %v", got, want)
		}
	})
}

func TestBegunIsBounded(t *testing.T) {
	for _, b := range []Begun{{Queued: -1}, {Ago: -1}, {Queued: task.MaxDuration + 1}, {Ago: task.MaxDuration + 1}} {
		_, err := DecodeFrame(frameOf(t, &Report{Ended: []Ending{{Begun: &b}}}))
		if err == nil || !strings.Contains(err.Error(), "began") {
			t.Errorf("%+v: %v, want an error that says when it began", b, err)
		}
	}
}

func frameOf(t *testing.T, r *Report) []byte {
	t.Helper()
	b, err := EncodeFrame([]Message{{Report: r}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWorkerSaysWhenItBegan: a worker tells, with an end, how long the lease lay there
// and how long ago it was begun; more of that when it says the same again; and nothing
// after a restart, of which its clock does not tell.
func TestWorkerSaysWhenItBegan(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, 1, 2, 3))
	b.now = b.now.Add(time.Second)
	b.step(Prepared{ID: b.job, Job: b.spec})
	b.now = b.now.Add(300 * time.Millisecond)
	b.end(1, task.Completed)
	b.begun("told at once", Begun{Queued: time.Second, Ago: 300 * time.Millisecond})
	kept := map[string][]byte{}
	for _, e := range b.w.Keep() {
		if e, ok := e.(Persist); ok {
			kept[e.Key] = e.Value
		}
	}
	b.now = b.now.Add(time.Minute)
	b.step(Wake{})
	b.begun("said again", Begun{Queued: time.Second, Ago: time.Minute + 300*time.Millisecond})

	var e Ending
	for _, value := range kept {
		if err := task.Decode(value, &e); err != nil || e.Begun != nil {
			t.Errorf("on disk it began %+v (%v), want nothing", e.Begun, err)
		}
	}
	if len(kept) != 1 {
		t.Errorf("%d results on disk, want 1", len(kept))
	}
}

// begun checks what the last step told of the one attempt that ended.
func (b *bench) begun(what string, want Begun) {
	b.Helper()
	for _, e := range b.last {
		if e, ok := e.(Send); ok && e.Message.Report != nil && len(e.Message.Report.Ended) == 1 {
			if got := e.Message.Report.Ended[0].Begun; got == nil || *got != want {
				b.Errorf("%s: it began %+v, want %+v", what, got, want)
			}
			return
		}
	}
	b.Errorf("%s: no end was reported", what)
}

// TestStatusTellsWhenItBegan: the leader tells when a worker began an attempt from the
// first word of its end, half of the ways after the lease and the queue.
func TestStatusTellsWhenItBegan(t *testing.T) {
	c, _, worker, step := school(t, 1, true)
	l := c.hosts[worker].leases[0]
	key, _ := identity(2)
	r := task.Result{Task: l.taskID(), Worker: worker, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	given := l.start
	for _, b := range []Begun{{Queued: 100 * time.Millisecond, Ago: 500 * time.Millisecond}, {Queued: time.Second, Ago: time.Second}} {
		step(700*time.Millisecond, Received{From: worker, Message: Message{Report: &Report{Slots: 2, Ended: []Ending{{Attempt: l.attempt, Result: r, Begun: &b}}}}})
	}
	st, _ := c.Job(l.job.id, Page{Limit: 1})
	a := st.TasksList[0].Attempts[0]
	if got := a.Began.Sub(given); got != 150*time.Millisecond || !a.Start.Equal(given) || a.End.Sub(given) != 700*time.Millisecond {
		t.Errorf("it began %v after its lease, and ended after %v: want 150ms and 700ms", got, a.End.Sub(given))
	}
}
