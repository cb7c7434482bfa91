package exec

import (
	"cmp"
	"sync"
	"time"

	"godwit/migrate"
	"godwit/sandbox"
	"godwit/task"
)

// usualPause is how long a task is thought to stand still for a checkpoint before
// one was measured: 64 MiB for the first time (measured, SANDBOX.md).
const usualPause = 28 * time.Millisecond

// saveCosts are what checkpoints of a job's tasks took here. The zero value has
// seen none. A task's first checkpoint stores its whole state, which is new, and
// tells nothing of those that follow: it is left out.
type saveCosts struct {
	mu     sync.Mutex
	pause  time.Duration
	stored float64 // bytes that were new with a checkpoint
}

// paused takes in how long a run stood still for its checkpoints.
func (c *saveCosts) paused(made []sandbox.CheckpointStat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 1; i < len(made); i++ {
		if c.pause == 0 {
			c.pause = made[i].Pause
		}
		c.pause += time.Duration(paceShare * float64(made[i].Pause-c.pause))
	}
}

// storedNew takes in how much of a checkpoint was new.
func (c *saveCosts) storedNew(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored == 0 {
		c.stored = float64(bytes)
	}
	c.stored += paceShare * (float64(bytes) - c.stored)
}

// told is the pause and the new bytes of a checkpoint: usually, 0, before any was
// made.
func (c *saveCosts) told() (pause time.Duration, stored float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.pause, usualPause), c.stored
}

// workLeft is how much work an attempt has left, as far as is known. The zero value
// is of one of which its lease said nothing.
type workLeft struct {
	told time.Duration // by the lease, in time of the reference core; 0: unknown

	mu   sync.Mutex
	redo time.Duration // CPU time, of others, that told goes without and that has to be done again
	cpu  time.Duration // of the attempt, when it was last told
	at   time.Time     // of that, or of the beginning
}

// newWorkLeft returns that of an attempt that begins, or is offered, now.
func newWorkLeft(told time.Duration) *workLeft { return &workLeft{told: told, at: time.Now()} }

// did takes in how much CPU time the attempt has used here.
func (l *workLeft) did(cpu time.Duration) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cpu, l.at = cpu, time.Now()
}

// anew says that the state cannot be had that told goes from, which took so much CPU
// time: a leader's word.
func (l *workLeft) anew(cpu time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.redo = min(max(0, cpu), task.MaxDuration)
}

// running returns the running time to the end on a core of that speed, 0 if nobody
// knows. What was done since the CPU time was last told is taken to be the time since,
// or nothing where the task stands still: since when is told with its next state. A
// task on its way here is taken to run where it is.
func (l *workLeft) running(speed float64, stands bool) time.Duration {
	if l == nil || l.told <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	cpu := l.cpu - l.redo
	if !stands {
		cpu += time.Since(l.at)
	}
	if !(speed > 0) {
		speed = 1
	}
	longest := float64(task.MaxDuration)
	done := time.Duration(max(-longest, min(longest, float64(cpu)*speed)))
	return max(1, time.Duration(min(longest, float64(migrate.Remaining(l.told, done))/speed)))
}
