package scheduler

import (
	"math"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/scheduler/learning"
	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
)

// What policies that weigh are told beside members and forecasts: how much waits,
// and what it costs to save a task and to move it. Rates and sizes are as hand-overs
// took in this term; before the first they are usual ones.

const (
	// usualState is a usual guest's, in bytes. It goes at usualRate bytes a second:
	// an upload of 10 Mbit/s, which most homes have.
	usualState = 64 << 20
	usualRate  = 10e6 / 8
	// usualPause is how long 64 MiB of state stand still for a first checkpoint
	// (docs/measured.md); the leader does not hear how long others did.
	usualPause = 28 * time.Millisecond
	// usualDelay is the time of a message one way: half of a round trip of almost
	// any two nodes on the Internet (see Config.Lookahead).
	usualDelay = 50 * time.Millisecond
	// leastRate and mostRate bound what one hand-over may teach: it is a worker's
	// word.
	leastRate = 64 << 10
	mostRate  = 10 << 30
	// leastGiven is the least share of a host's speed that is told to policies, to
	// which 0 is unknown.
	leastGiven = 0.01
)

// costs are what saving and moving take. A member that vanished is believed to be
// there until its lease ends, at the latest.
func (q *migration) costs() migrate.Costs {
	rate := q.rate
	if rate == 0 {
		rate = usualRate
	}
	return migrate.Costs{Pause: usualPause, Rate: rate, Delay: usualDelay, Detect: q.c.cfg.LeaseTTL}
}

// learnHandOver takes what a hand-over took into the running means.
func (q *migration) learnHandOver(j *job, d *message.Handed) {
	if d.Took <= 0 {
		return
	}
	if j.handed == 0 {
		j.handed = d.Took
	}
	j.handed += (d.Took - j.handed) / learning.Weight
	if d.State <= 0 {
		return
	}
	state := min(d.State, max(j.spec.Memory, 1))
	if j.state64 == 0 {
		j.state64 = state
	}
	j.state64 += (state - j.state64) / learning.Weight
	rate := min(mostRate, max(leastRate, float64(d.State)/d.Took.Seconds()))
	if q.rate == 0 {
		q.rate = rate
	}
	q.rate += (rate - q.rate) / learning.Weight
}

// waitingTasks counts what waits.
func (q *dispatch) waitingTasks() int { return min(math.MaxInt32, q.c.claims.waits) }

// situate tells a policy that weighs how things stand. saves says that the tasks to
// be placed go on from their checkpoints.
func (q *dispatch) situate(saves bool) {
	if q.traits.Situate == nil {
		return
	}
	s := q.c.migration.costs()
	q.traits.Situate(place.Situation{
		Waiting: q.waitingTasks(), Delay: s.Delay, Detect: s.Detect, Rate: s.Rate, Pause: s.Pause, Saves: saves,
	})
}

// taskLeft is the work that a waiting task has left from its best checkpoint, 0 if
// nobody knows how much it is. It is at least a tenth of the whole: see tailOverrun.
func (q *dispatch) taskLeft(j *job, i uint64) time.Duration {
	if row := j.ledger.Rows[i]; row != nil && j.mayResume() {
		return q.leftFrom(j, i, row.Best, message.Attempt{})
	}
	return q.leftFrom(j, i, nil, message.Attempt{})
}

// leftFrom is the work from a state of a task, nil for its beginning, to its end; 0 if
// nobody knows how much it is. The attempt that is to go on from the state, zero for
// none, did not make it.
func (q *dispatch) leftFrom(j *job, i uint64, from *message.Checkpoint, next message.Attempt) time.Duration {
	work, known := j.work()
	if !known || from == nil {
		return work
	}
	speed := 1.0 // of who saved it: mostly the last that had it
	if row := j.ledger.Rows[i]; row != nil {
		for _, l := range slices.Backward(row.Log) {
			if l.Attempt == next {
				continue
			}
			if h := q.c.members.hosts[l.Worker]; h != nil {
				speed = h.usual()
			}
			break
		}
	}
	return tailLeft(work, min(work, time.Duration(float64(from.CPU)*speed)))
}

// weigher returns the migration policy if it names tasks; nil if not.
func (q *migration) weigher() migrate.Mover {
	m, _ := q.mover.(migrate.Mover)
	return m
}

// heedsNotice reports whether a scan follows when a member gives notice: for policies
// that only heed notices, and those that name tasks.
func (q *migration) heedsNotice() bool {
	return q.mover != nil && (q.mover.Period() <= 0 || q.weigher() != nil)
}

// weighs reports whether the migration policy decides whether the task of a lease
// moves, of which so much is left: then the rule of tails leaves it alone. That
// one keeps what ends before the policy would look again, and what cannot move and
// may be copied. So each task is one's at a time; as it nears its end it becomes the
// other's, whose margins it has to pass anew.
func (q *migration) weighs(l *lease, left time.Duration) bool {
	m := q.weigher()
	return m != nil && left >= m.Period() && q.maySend(l)
}

// maySend reports whether a lease may be moved while it runs.
func (q *migration) maySend(l *lease) bool {
	return l.is(leasing.Runs) && l.host.lost.IsZero() && q.mayMove(l) && l.tries.failed < maxHandOvers
}

// chosen asks the migration policy what should move.
func (q *migration) chosen(hosts []migrate.Host) []migrate.Move {
	mem := &q.c.dispatch.deciding
	if m := q.weigher(); m != nil {
		// What moves saves: see job.mayResume.
		return m.Moves(q.c.now, hosts, foretold{q.c}, migrate.Situation{Waiting: q.c.dispatch.waitingTasks(),
			Costs: q.costs(), Saves: true})
	}
	rng := mem.random(q.c.term.epoch, scanStream|q.scans)
	mem.moves = migrate.AppendMoves(mem.moves[:0], hosts, q.mover.Scan(q.c.now, hosts, foretold{q.c}, rng))
	return mem.moves
}

// runOf describes a lease to a policy that names tasks.
func (q *migration) runOf(l *lease) migrate.Run {
	r := migrate.Run{State: l.job.stateOf()}
	if work, known := l.job.work(); known {
		r.Left, r.Unsaved = q.progressOf(l, work)
		r.Movable = q.weighs(l, r.Left)
	}
	return r
}

// idleSlots is how many tasks a member that stays would start at once.
func (q *migration) idleSlots(h *host) int {
	if h.notice || !q.c.members.idle.has(h) {
		return 0
	}
	return h.slots - h.load
}

// takes reports whether an idle member may be sent the task of a lease.
func (q *migration) takes(h *host, l *lease) bool {
	if h == nil || h == l.host || q.idleSlots(h) <= 0 || h.memory-h.memoryUsed < l.job.spec.Memory {
		return false
	}
	_, paused := h.paused[l.job]
	return !paused && !l.job.worksOn(l.task.index, h.peer)
}
