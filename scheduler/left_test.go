package scheduler

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// leaseOfFirst is the lease of task 0 in this Step's letter to the worker.
func leaseOfFirst(t *testing.T, effects []message.Effect, worker task.PeerID) message.Lease {
	t.Helper()
	for _, e := range effects {
		if e, ok := e.(message.Send); ok && e.To == worker && e.Message.Place != nil {
			for _, l := range e.Message.Place.Leases {
				if l.Task.Index == 0 {
					return l
				}
			}
		}
	}
	t.Fatalf("no lease of task 0: %+v", effects)
	return message.Lease{}
}

// A lease says how much work its task has left from where it goes on: as was learned,
// else as its owner guessed, less what its checkpoint stands for.
func TestLeaseTellsTheWorkLeft(t *testing.T) {
	saved := func(cpu time.Duration, by task.PeerID) func(c *Coordinator, j *job) {
		return func(c *Coordinator, j *job) {
			c.members.hosts[by].speed = 2
			row := j.row(0)
			row.Best = &message.Checkpoint{CID: task.RawCID([]byte("state")), Fuel: 1, CPU: cpu}
			row.Note(message.AttemptLog{Attempt: message.Attempt{Epoch: 1, Seq: 1}, Worker: by, Start: task.At(schedtest.Start),
				Outcome: ledger.Moved})
			c.reports.waitAgain(j, 0)
		}
	}
	_, worker := schedtest.Identity(2)
	for _, tt := range []struct {
		name   string
		change func(c *Coordinator, j *job)
		want   time.Duration
	}{
		{"guessed", func(*Coordinator, *job) {}, time.Hour},
		{"learned", func(_ *Coordinator, j *job) { j.reference = 20 * time.Minute }, 20 * time.Minute},
		{"unknown", func(_ *Coordinator, j *job) {
			spec := *j.spec
			spec.Work = 0
			j.spec = &spec
		}, 0},
		{"saved by a fast host", saved(15*time.Minute, worker), 30 * time.Minute},
		{"saved beyond its end", saved(time.Hour, worker), 6 * time.Minute},
		{"beyond what travels", func(_ *Coordinator, j *job) { j.reference = 2 * task.MaxDuration }, task.MaxDuration},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, p, worker, step := school(t, 1, false)
			for _, j := range c.table.jobs {
				tt.change(c, j)
			}
			p.willing = true
			c.term.seq = 1
			step(7*time.Second-time.Nanosecond, message.Wake{}) // before it is asked again
			effects := c.Step(schedtest.Start.Add(8*time.Second), message.Wake{})
			if got := leaseOfFirst(t, effects, worker); got.Left != tt.want {
				t.Errorf("%v left, want %v", got.Left, tt.want)
			}
		})
	}
}

// The offer of a task that runs says what it has left by then.
func TestOfferTellsTheWorkLeft(t *testing.T) {
	c, _, worker, step := school(t, 1, true)
	_, there := schedtest.Identity(4)
	step(0, message.MemberSeen{Advert: overlay.Advert{Peer: there, Memory: 1 << 30, Speed: 1}})
	for _, j := range c.table.jobs {
		l := j.live[0].leases[0]
		if l.host.peer != worker {
			t.Fatalf("the task is at %s", l.host.peer)
		}
		c.now, l.start = schedtest.Start.Add(20*time.Minute), schedtest.Start
		l.take(leasing.Starts)
		l.move = &move{to: c.members.hosts[there], as: message.Attempt{Epoch: 1, Seq: 9}}
		c.transfers.offerMove(l)
		offer := c.outbox.letter(there).place.Leases[0]
		if offer.Await == nil || offer.Left != 40*time.Minute {
			t.Errorf("offered %+v, want 40m left", offer)
		}
		l.start = schedtest.Start.Add(-10 * time.Hour) // it takes longer than was guessed
		c.transfers.offerMove(l)
		if offer = c.outbox.letter(there).place.Leases[1]; offer.Left != 6*time.Minute {
			t.Errorf("%v left of what should have ended, want a tenth of an hour", offer.Left)
		}
	}
}
