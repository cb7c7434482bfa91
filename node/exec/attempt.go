package exec

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/pause"
	"godwit/scheduler/message"
	"godwit/task"
)

// An attempt is one that runs here, or is to when its state has come.
type attempt struct {
	name     message.AttemptName
	of       Client
	job      *Job            // as it was ready when the attempt began; nil for one that was not
	holders  []task.PeerID   // of the job's blocks, as its start named them
	audit    *audit          // that it is the run of; nil for the attempt of a lease
	receipt  *task.Receipt   // of its lease; nil for none
	context  context.Context // ends with it
	end      context.CancelFunc
	begun    time.Time
	stop     chan struct{} // closed by save
	save     func()        // ends it with its state, from any goroutine; nil if that cannot be saved
	saved    atomic.Bool   // save was called
	stuck    bool          // it could not be stopped with its state, and never can be; of the loop
	controls *controls     // where its hand-over finds it; nil as save
}

// newAttempt returns an attempt that begins now.
func (c *core) newAttempt(w start, job *Job, saves bool) *attempt {
	a := &attempt{name: message.AttemptName{Task: w.Task, Attempt: w.Attempt}, of: w.of, job: job, audit: w.audit,
		holders: sure(w.Holders), receipt: w.Receipt, begun: c.Host.Now()}
	a.context, a.end = context.WithCancel(c.ctx)
	if saves {
		a.controls, a.stop = newControls(), make(chan struct{})
		a.save = sync.OnceFunc(func() {
			a.saved.Store(true)
			close(a.stop)
		})
	}
	return a
}

// shown are the states of a chain that are shown with one that the attempt leaves.
func (a *attempt) shown(chain []task.Link) []task.Link {
	if a.job == nil {
		return (*task.Job)(nil).Shown(chain)
	}
	return a.job.spec.Shown(chain)
}

// savable reports whether the attempt can be ended with its state.
func (a *attempt) savable() bool { return a.save != nil && !a.stuck }

// A start is an attempt that its worker has begun and that waits here for a core:
// another overlay's tasks still run on what is now this one's share.
type start struct {
	of Client
	message.Start
	audit *audit // that it begins in place of a lease's attempt; nil for none
}

func (s *start) is(id task.TaskID, as message.Attempt) bool { return s.Task == id && s.Attempt == as }

// after does something on the loop if the attempt has not ended by then.
func (c *core) after(a *attempt, d time.Duration, do func()) {
	c.spawn(func() {
		if pause.For(a.context, d) == nil {
			c.Host.Post(do)
		}
	})
}
