package exec

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// as is an attempt by its number.
func as(seq uint64) message.Attempt { return message.Attempt{Epoch: 1, Seq: seq} }

// Each Start is answered by exactly one Ended: at the end of the task, when it is
// stopped, when it did not come to begin.
func TestEachStartEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		job := h.prepared(t, x, 4, time.Minute)
		h.on(func() { x.Lend(owner.Decision{Cores: 2}) })
		for i := range uint64(4) {
			h.do(x, message.Start{Task: task.TaskID{Job: job, Index: i}, Attempt: as(i)})
		}
		h.on(func() {
			if x.Count() != 2 || len(x.Tasks()) != 2 {
				t.Errorf("%d run on two cores: %+v", x.Count(), x.Tasks())
			}
		})
		h.do(x, message.Stop{Task: task.TaskID{Job: job, Index: 3}, Attempt: as(3)}) // waits
		h.do(x, message.Stop{Task: task.TaskID{Job: job, Index: 0}, Attempt: as(0)}) // runs
		<-time.After(90 * time.Second)
		h.on(func() { x.Drop(func(Client) bool { return true }) }) // nothing waits
		<-time.After(time.Minute)
		want := map[uint64]task.Outcome{0: task.Interrupted, 1: task.Completed, 2: task.Completed, 3: task.Interrupted}
		got := h.ended()
		for _, e := range got {
			i := e.Task.Index
			if err := e.Result.Signable(x.Self); err != nil || e.Result.Outcome != want[i] || e.Attempt.Seq != i {
				t.Errorf("task %d ended as %+v, %v", e.Task.Index, e.Result, err)
			}
			delete(want, e.Task.Index)
		}
		if len(got) != 4 || len(want) != 0 {
			t.Errorf("%d ends; without one are %v", len(got), want)
		}
	})
}

// A task that is no longer prepared, or whose host is at fault, is a result as well.
func TestHostErrorIsAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		job := h.prepared(t, x, 1, time.Minute)
		h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
		h.do(x, message.Release{Job: job})
		if roots := x.Roots(); len(roots) != 0 {
			t.Errorf("a job that was released needs %v", roots)
		}
		h.do(x, message.Start{Task: task.TaskID{Job: job}, Attempt: as(1)})
		synctest.Wait()
		got := h.ended()
		if len(got) != 1 || got[0].Result.Outcome != task.HostError || got[0].Result.Signable(x.Self) != nil {
			t.Errorf("it ended as %+v", got)
		}
	})
}

// A task whose state is wanted ends with it, and goes on from there.
func TestStopWithState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		id := task.TaskID{Job: h.prepared(t, x, 1, time.Minute)}
		h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
		receipt := &task.Receipt{Leader: "a leader", Epoch: 1, Seq: 1}
		h.do(x, message.Start{Task: id, Attempt: as(1), Receipt: receipt})
		<-time.After(20 * time.Second)
		h.do(x, message.Stop{Task: id, Attempt: as(1), Save: true})
		synctest.Wait()
		heard := h.heard()
		saved, ok := heard[len(heard)-2].(message.Checkpointed)
		end, ended := heard[len(heard)-1].(message.Ended)
		if !ok || !ended || saved.Checkpoint.CPU != 20*time.Second || end.Result.Outcome != task.Interrupted {
			t.Fatalf("heard %+v", heard)
		}
		again, err := task.Vouch(x.Key, receipt, saved.Checkpoint.ToVouch(id, [32]byte(saved.Checkpoint.Voucher.Hash), nil))
		if v := saved.Checkpoint.Voucher; err != nil || v == nil || !bytes.Equal(v.Signature, again.Signature) {
			t.Errorf("it vouches as %+v, want %+v (%v)", v, again, err)
		}
		h.do(x, message.Start{Task: id, Attempt: as(2), From: &saved.Checkpoint})
		<-time.After(41 * time.Second)
		if got := h.ended(); len(got) != 2 || got[1].Result.Outcome != task.Completed || got[1].Result.CPU != 40*time.Second {
			t.Errorf("it went on to %+v", got)
		}
	})
}

// unsavable is a Runner that saves nothing.
type unsavable struct{ Sleeper }

func (*unsavable) Saves() bool { return false }

// Where nothing can be saved, whoever wants a state hears so, and the task goes on.
func TestNothingIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &unsavable{})
		id := task.TaskID{Job: h.prepared(t, x, 1, time.Minute)}
		h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
		h.do(x, message.Start{Task: id, Attempt: as(1)})
		h.do(x, message.Stop{Task: id, Attempt: as(1), Save: true})
		h.do(x, message.HandOver{Task: id, Attempt: as(1), Named: as(1), As: as(2)})
		h.do(x, message.Expect{Task: id, Attempt: as(3), FromAttempt: as(2)})
		h.do(x, message.HandOver{Task: id, Attempt: as(9), Named: as(9), As: as(10)}) // is not here: its end is on the way
		var why []string
		for _, ev := range h.heard() {
			switch ev := ev.(type) {
			case message.NotSaved:
				why = append(why, ev.Reason)
			case message.NotHanded:
				why = append(why, ev.Reason)
			case message.NotArrived:
				why = append(why, ev.Reason)
			}
		}
		want := "its state cannot be saved|its state cannot be saved|a state of that job cannot be taken here"
		if got := strings.Join(why, "|"); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
		<-time.After(61 * time.Second)
		if got := h.ended(); len(got) != 1 || got[0].Result.Outcome != task.Completed {
			t.Errorf("it ended as %+v", got)
		}
	})
}

// What runs is told to go: it is saved after the time to wait for the leader's word,
// where tasks may move, and ends at once where they may not.
func TestSentAway(t *testing.T) {
	for _, tt := range []struct {
		name        string
		moves       bool
		leave       bool
		others      bool
		stay, leavs int
		after       time.Duration
		saved       bool
	}{
		{"on the owner's word", true, false, true, 0, 1, orderWait, true},
		{"to nobody", true, false, false, 0, 1, orderWait, true},
		{"with the node", true, true, true, 0, 1, 300 * time.Millisecond, true},
		{"where tasks do not move", false, false, true, 0, 1, 0, false},
		{"where tasks do not move, to nobody", false, false, false, 1, 0, time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHost()
				h.moves = tt.moves
				x := h.executor(t, &Sleeper{})
				id := task.TaskID{Job: h.prepared(t, x, 1, time.Minute)}
				h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
				begun := time.Now()
				h.do(x, message.Start{Task: id, Attempt: as(1)})
				h.on(func() {
					if tt.leave {
						x.Leave(300*time.Millisecond, time.Second)
					}
					if stay, leave := x.MoveOut(tt.others, "the owner is back"); stay != tt.stay || leave != tt.leavs {
						t.Errorf("%d stay and %d leave", stay, leave)
					}
				})
				for len(h.ended()) == 0 {
					<-time.After(10 * time.Millisecond)
				}
				if took := time.Since(begun) - tt.after; took < 0 || took > 20*time.Millisecond {
					t.Errorf("it ended %v after it was to", took)
				}
				_, saved := h.heard()[len(h.heard())-2].(message.Checkpointed)
				if saved != tt.saved {
					t.Errorf("saved: %v; heard %+v", saved, h.heard())
				}
			})
		})
	}
}
