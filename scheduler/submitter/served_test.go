package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A worker that says that it lost states has the whole task run. What one broken disk takes counts
// once, and what nobody is to have any more not at all; who loses again and again begins at nothing,
// as who refuses does. It is known after a restart, and taken back by states that are served.
func TestLostStates(t *testing.T) {
	const tasks = 9
	lost := func(ev *message.Audited) { ev.Unserved, ev.Lost = "they are gone", true }
	const late = task.KeptFor + time.Minute
	refuses := func(ev *message.Audited) { ev.Unserved, ev.Refused = "no", true }
	for name, tt := range map[string]struct {
		did      []func(*message.Audited) // with the states of each task; nil serves them
		apart    time.Duration            // between the leases of two tasks
		old      time.Duration            // of each when it is audited
		losses   int
		nothing  bool // it begins at nothing
		refusals int
	}{
		"serves":                     {[]func(*message.Audited){nil, nil, nil}, time.Hour, 0, 0, false, 0},
		"one disk":                   {[]func(*message.Audited){lost, lost, lost, lost}, 0, time.Hour, 1, false, 0},
		"twice":                      {[]func(*message.Audited){lost, lost}, time.Hour, 0, 2, false, 0},
		"always":                     {[]func(*message.Audited){lost, lost, lost}, time.Hour, 0, 0, true, 0},
		"always, but a day later":    {[]func(*message.Audited){lost, lost, lost}, time.Hour, late, 0, false, 0},
		"serves between":             {[]func(*message.Audited){lost, nil, lost, nil, lost}, time.Hour, 0, 1, false, 0},
		"refuses what it is to have": {[]func(*message.Audited){refuses, refuses}, time.Hour, 0, 0, false, 2},
		"refuses what none may have": {[]func(*message.Audited){refuses, refuses, refuses}, time.Hour, late, 0, false, 0},
	} {
		b := newAuditBench(t, tasks, "30%")
		honest := way{-1}
		key, worker := schedtest.Identity(2)
		b.s.audits.credit(worker).Confirm(1, 1, b.now)
		for i, did := range tt.did {
			b.now = b.now.Add(tt.apart + time.Second)
			r := honest.signs(b, 2, uint64(i))
			r.Receipt = &task.Receipt{Issued: b.now.Add(-tt.old).UnixMilli()}
			if err := r.Sign(key); err != nil {
				t.Fatal(err)
			}
			b.deliver(uint64(i), nil, r)
			if did != nil {
				b.answerPart(honest, did)
			}
			if k := b.s.audits.known(worker); (k.Known == 0) != (tt.nothing && i == len(tt.did)-1) {
				t.Errorf("%s: after %d %+v", name, i, k)
			}
			b.finish(honest)
			b.restart()
		}
		k := b.s.audits.known(worker)
		if k.Losses != tt.losses || k.Refusals != tt.refusals || k.Faults != 0 {
			t.Errorf("%s: %+v", name, k)
		}
		if c := b.checks(); c.Wrong+c.Open+c.Due != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
