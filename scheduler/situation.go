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
func (m *migration) costs() migrate.Costs {
	rate := m.rate
	if rate == 0 {
		rate = usualRate
	}
	return migrate.Costs{Pause: usualPause, Rate: rate, Delay: usualDelay, Detect: m.c.cfg.LeaseTTL}
}

// learnHandOver takes what a hand-over took into the running means.
func (m *migration) learnHandOver(j *job, d *message.Handed) {
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
	state := min(d.State, max(mostMemory(j.spec), 1))
	if j.state64 == 0 {
		j.state64 = state
	}
	j.state64 += (state - j.state64) / learning.Weight
	rate := min(mostRate, max(leastRate, float64(d.State)/d.Took.Seconds()))
	if m.rate == 0 {
		m.rate = rate
	}
	m.rate += (rate - m.rate) / learning.Weight
}

// waitingTasks counts what waits.
func (d *dispatch) waitingTasks() int { return min(math.MaxInt32, d.c.claims.waits) }

// situate tells a policy that weighs how things stand. saves says that the tasks to
// be placed go on from their checkpoints.
func (d *dispatch) situate(saves bool) {
	if d.traits.Situate == nil {
		return
	}
	s := d.c.migration.costs()
	d.traits.Situate(place.Situation{
		Waiting: d.waitingTasks(), Delay: s.Delay, Detect: s.Detect, Rate: s.Rate, Pause: s.Pause, Saves: saves,
	})
}

// taskLeft is the work that a waiting task has left from its best checkpoint, 0 if
// nobody knows how much it is. It is at least a tenth of the whole: see tailOverrun.
func (d *dispatch) taskLeft(j *job, i uint64) time.Duration {
	return d.leftFrom(j, i, j.stateFor(i, ""), message.Attempt{})
}

// leftFrom is the work from a state of a task, nil for its beginning, to its end; 0 if
// nobody knows how much it is. The attempt that is to go on from the state, zero for
// none, did not make it.
func (d *dispatch) leftFrom(j *job, i uint64, from *message.Checkpoint, next message.Attempt) time.Duration {
	work, known := j.workOf(i)
	if !known || from == nil {
		return work
	}
	speed := 1.0 // of who saved it: mostly the last that had it
	if row := j.ledger.Rows[i]; row != nil {
		for _, l := range slices.Backward(row.Log) {
			if l.Attempt == next {
				continue
			}
			if h := d.c.members.hosts[l.Worker]; h != nil {
				speed = h.usual()
			}
			break
		}
	}
	return tailLeft(work, min(work, time.Duration(float64(from.CPU)*speed)))
}

// weigher returns the migration policy if it names tasks; nil if not.
func (m *migration) weigher() migrate.Mover {
	mover, _ := m.mover.(migrate.Mover)
	return mover
}

// heedsNotice reports whether a scan follows when a member gives notice: for policies
// that only heed notices, and those that name tasks.
func (m *migration) heedsNotice() bool {
	return m.mover != nil && (m.mover.Period() <= 0 || m.weigher() != nil)
}

// weighs reports whether the migration policy decides whether the task of a lease
// moves, of which so much is left: then the rule of tails leaves it alone. That
// one keeps what ends before the policy would look again, and what cannot move and
// may be copied. So each task is one's at a time; as it nears its end it becomes the
// other's, whose margins it has to pass anew.
func (m *migration) weighs(l *lease, left time.Duration) bool {
	mover := m.weigher()
	return mover != nil && left >= mover.Period() && m.maySend(l)
}

// maySend reports whether a lease may be moved while it runs.
func (m *migration) maySend(l *lease) bool {
	return l.is(leasing.Runs) && l.host.lost.IsZero() && m.mayMove(l) && l.tries.failed < maxHandOvers
}

// chosen asks the migration policy what should move.
func (m *migration) chosen(hosts []migrate.Host) []migrate.Move {
	mem := &m.c.dispatch.deciding
	if mover := m.weigher(); mover != nil {
		return mover.Moves(m.c.now, hosts, m.forecast, m.situation())
	}
	rng := mem.random(m.c.term.epoch, scanStream|m.scans)
	mem.moves = migrate.AppendMoves(mem.moves[:0], hosts, m.mover.Scan(m.c.now, hosts, m.forecast, rng))
	return mem.moves
}

// situation is what a policy that weighs is told beside members. What moves saves: see job.mayResume.
func (m *migration) situation() migrate.Situation {
	return migrate.Situation{Waiting: m.c.dispatch.waitingTasks(), Costs: m.costs(), Saves: true}
}

// runOf describes a lease to a policy that names tasks.
func (m *migration) runOf(l *lease) migrate.Run {
	r := migrate.Run{State: l.job.stateOf()}
	if work, known := l.job.workOf(l.task.index); known {
		r.Left, r.Unsaved = m.progressOf(l, work)
		r.Movable = m.weighs(l, r.Left)
	}
	return r
}

// idleSlots is how many tasks a member that stays would start at once.
func (m *migration) idleSlots(h *host) int {
	if h.notice || !m.c.members.idle.has(h) {
		return 0
	}
	return h.slots - h.load
}

// takes reports whether an idle member may be sent the task of a lease.
func (m *migration) takes(h *host, l *lease) bool {
	if h == nil || h == l.host || m.idleSlots(h) <= 0 || h.memory-h.memoryUsed < l.memory() {
		return false
	}
	_, paused := h.paused[l.job]
	return !paused && !l.barred(h.peer)
}
