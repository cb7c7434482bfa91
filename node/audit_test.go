package node

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// A listening machine only hears.
type listening struct{ heard []message.Event }

func (l *listening) Step(_ time.Time, ev message.Event) []message.Effect {
	l.heard = append(l.heard, ev)
	return nil
}

func (*listening) NextWake() (at time.Time, ok bool) { return at, false }

// An audit is answered to the machine that had it, with what is held of the task, be it on the
// disk or still to be written, and what came of it here. Of a task of which nothing is held
// nothing runs.
func TestAuditIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		const tasks, unknown, unwritten = 2, 2, 3
		id := p.submit(tasks, 10*time.Second)
		first := p.finish(id, tasks)[0]
		value, err := task.Encode(&first)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			index   uint64
			held    bool
			outcome task.Outcome
			why     string
			takes   time.Duration
			first   bool
		}{
			{0, true, task.Completed, "", 10 * time.Second, false},
			{unknown, false, task.HostError, "reading the result that is held", 0, false},
			{unwritten, true, task.HostError, "expanding", 0, false},
			{1, false, task.Completed, "", 10 * time.Second, true},
		} {
			to, begun := &listening{}, time.Now()
			e := message.Audit{Task: task.TaskID{Job: id, Index: tt.index}, Interpreted: true, First: tt.first}
			p.onLoop(t, func() {
				m := p.ordered()[0]
				if tt.index == unwritten {
					p.pending = append(p.pending, pending{of: m, from: m.Submitter(), machine: message.Persist{
						Key: submitter.ResultKey(id, unwritten), Value: value}})
				}
				p.doFor(t.Context(), pending{of: m, machine: e, from: to}, nil)
			})
			s.until("the audit is answered", func() (answered bool) {
				p.onLoop(t, func() { answered = len(to.heard) > 0 })
				return answered
			})
			took := time.Since(begun)
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(to.heard) != 1 {
				t.Fatalf("task %d: heard %+v", tt.index, to.heard)
			}
			got := to.heard[0].(message.Audited)
			if err := got.Here.Verify(); err != nil || got.Here.Worker != p.ID() || got.Task != e.Task || !got.Interpreted {
				t.Errorf("task %d: %+v, %v", tt.index, got, err)
			}
			if got.Here.Outcome != tt.outcome || !strings.Contains(got.Here.Message, tt.why) {
				t.Errorf("task %d: %v, %q", tt.index, got.Here.Outcome, got.Here.Message)
			}
			if held := len(got.Held.Results) > 0; held != tt.held || took < tt.takes || took > tt.takes+5*time.Second {
				t.Errorf("task %d: held is %+v, after %v", tt.index, got.Held, took)
			}
			if tt.index == 0 && got.Here.Digest() != got.Held.Results[0].Digest() {
				t.Error("the two results do not agree")
			}
		}
	})
}
