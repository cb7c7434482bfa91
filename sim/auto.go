package sim

import (
	"time"

	"godwit/migrate"
)

// savePredictor foretells the stays that automatic checkpoints are chosen by,
// where the scenario names no model: the default of live nodes.
const savePredictor = "blend"

// costs are what saving and moving take, as policies are told.
func costs(n *Network, c *Checkpoints) migrate.Costs {
	rate := n.Upload
	if rate == 0 || n.Download > 0 && n.Download < rate {
		rate = n.Download
	}
	return migrate.Costs{Pause: c.Pause, Rate: rate, Delay: n.Delay, Detect: n.Detect}
}

// facts are what policies are told of how things stand, but for who waits.
func (r *rules) facts() migrate.Situation {
	return migrate.Situation{
		Costs: costs(&r.network, &r.saves),
		Saves: (r.saves.Every > 0 || r.saves.Auto) && r.saves.Away && r.requeue,
	}
}

// every is the work between two checkpoints of a task whose run begins, on the
// reference core. By default all have the same; automatic ones are chosen by what
// is foretold of the host. The oracle, which knows when the host goes, makes one
// at the last moment, and none where the task ends before.
func (f *farm) every(i int32, h *simHost, t *simTask) int64 {
	if !f.saves.Auto {
		return int64(f.saves.Every)
	}
	speed := h.speed
	if !(speed > 0) {
		speed = 1 // it stands still: as the reference core when it goes on
	}
	left := float64(t.work-t.from) / speed
	c := &f.situation.Costs
	pause, transfer := c.PauseFor(t.state), c.Transfer(t.state)
	if f.seer != nil {
		return f.lastMoment(i, t, float64(pause+transfer)*speed)
	}
	now, peer := f.time(), f.peer(i)
	interval := migrate.Interval
	if f.saves.Thrifty {
		interval = migrate.Thrifty
	}
	every := interval(time.Duration(min(left, float64(longest))), pause, transfer, func(d time.Duration) float64 {
		p, _ := f.saveForecast.Stay(peer, now, d)
		return p
	})
	return int64(float64(every) * speed)
}

// lastMoment is the work after which a checkpoint that needs so much more is
// still safe before the host goes; 0 where none is needed or possible.
func (f *farm) lastMoment(i int32, t *simTask, need float64) int64 {
	lasts := f.seer.lasts(int(i), f.time(), f.time())
	if lasts >= float64(t.work-t.from) {
		return 0
	}
	return max(0, int64(lasts-need)-int64(time.Millisecond)) // less than which nobody cares for
}

// told is what policies are told of a task at a host.
func (f *farm) told(k int32, h *simHost) migrate.Run {
	t := &f.tasks.slots[k]
	r := migrate.Run{State: t.state, Movable: t.status == taskRunning && t.to == none && t.twin == none && f.runs(h),
		Copied: t.status != taskRunning || t.to != none || t.twin != none, Came: t.arrived}
	done, safe := t.from, int64(0)
	if t.onSaved || t.savedHost == none {
		safe = t.saved
	}
	if t.status == taskRunning {
		served := h.workClock - t.begunWork
		if _, n := f.checkpoints(t, served); n > 0 {
			safe = t.from + n*t.every
		}
		done += int64(f.worked(t, served))
	}
	r.Left, r.Unsaved = time.Duration(max(0, t.work-done)), time.Duration(max(0, done-safe))
	return r
}
