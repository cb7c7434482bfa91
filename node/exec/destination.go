package exec

import (
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// arrivalName is what a hand-over is known by at its destination.
type arrivalName struct {
	of   overlay.ID
	task task.TaskID
	as   message.Attempt
}

// A destination is this side of a hand-over of an attempt that is to run here.
type destination struct {
	*session
	name    arrivalName
	streams atomic.Int64 // numbers given

	// Of the loop.

	from    task.PeerID // who hands it over; set before any state is inspected
	offered bool        // by the leader; until then no sandbox waits
	attempt *attempt    // of it
	instead *start      // begins in its place, when it is over

	// Of the session's goroutine.

	settled func(arrived bool) // called on the loop when it is over
	saving  *saving
	stages  chan<- sandbox.Stage // to the sandbox
	placed  []int                // rounds that the sandbox was given and has not answered

	result   handover.Finish // once done is closed
	settling atomic.Bool
}

// carryOut does what the machine wants, on the session's goroutine.
func (d *destination) carryOut(e handover.Effect) {
	switch e := e.(type) {
	case handover.Store:
		d.store(e.Blocks)
	case handover.Inspect:
		missing, err := d.saving.pages.missing(e.Manifest)
		answer := handover.Inspected{N: e.N, Missing: missing}
		if err == nil && d.attempt.receipt != nil {
			err = checkWord(e.Word, d.attempt, d.from, snapshot{manifest: e.Manifest, fuel: e.Fuel, cpu: e.CPU})
		}
		if err != nil {
			answer.Problem = err.Error()
		}
		d.answer(answer)
	case handover.Place:
		d.placed = append(d.placed, e.N)
		d.stage(sandbox.Stage{Manifest: e.Manifest})
	case handover.Thaw:
		d.saving.before = e.CPU
		d.saving.chain = d.chainOf(e.Word, e.Fuel, e.CPU)
		d.stage(sandbox.Stage{Manifest: e.Manifest, Last: true})
	case handover.Finish:
		d.finish(e)
	}
}

// stage gives the sandbox a stage. More than fit are a machine's mistake.
func (d *destination) stage(s sandbox.Stage) {
	select {
	case d.stages <- s:
	default:
		d.answer(handover.Cancel{Reason: "the sandbox does not take the state in"})
	}
}

func (d *destination) placedOne() {
	if len(d.placed) == 0 {
		return
	}
	n := d.placed[0]
	d.placed = d.placed[1:]
	d.step(handover.Placed{N: n})
}

// store takes blocks in. They are put on the disk beside the transfer; where that
// falls behind, the transfer waits.
func (d *destination) store(blocks []handover.Block) {
	pages := d.saving.pages
	if pages.hold(blocks) <= maxFresh {
		d.settleSoon()
		return
	}
	if err := pages.settle(pages.held()); err != nil {
		d.Content.Failed(err)
		d.answer(handover.Cancel{Reason: err.Error()})
	}
}

// settleSoon puts the blocks that came among the node's, in a goroutine.
func (d *destination) settleSoon() {
	if !d.settling.CompareAndSwap(false, true) {
		return
	}
	d.spawn(func() {
		defer d.settling.Store(false)
		pages := d.saving.pages
		for held := pages.held(); len(held) > 0; held = pages.held() {
			if err := pages.settle(held); err != nil {
				d.Log.Debug("pages of a task that comes are not stored yet", "err", err)
				return
			}
		}
	})
}

// finish settles what came of it.
func (d *destination) finish(f handover.Finish) {
	d.result = f
	arrived := f.Outcome == handover.Arrived
	if d.saving != nil { // else a stranger's
		d.Log.Info("a task's way here is over", "task", d.name.task.String(),
			"outcome", f.Outcome.String(), "reason", f.Reason, "bytes", f.Stats.Bytes, "took", f.Stats.Total)
		if arrived {
			d.settleSoon()
		} else {
			d.attempt.end()
		}
	}
	d.Host.Post(func() { d.settled(arrived) })
}

// best stores the newest state that is whole here as a tree, which is safe from
// collection until release.
func (d *destination) best() (saved *message.Checkpoint, release func()) {
	b := d.result.Best
	if b == nil || d.saving == nil {
		return nil, func() {}
	}
	root, err := d.saving.pages.tree(b.Manifest)
	if err == nil {
		err = d.Content.Blocks().Sync(d.ctx)
	}
	if err != nil {
		d.Log.Warn("what came of a task could not be stored", "task", d.name.task.String(), "err", err)
		return nil, func() {}
	}
	by := &saving{making: making{chain: d.chainOf(b.Word, b.Fuel, b.CPU)}}
	if len(by.chain) > 0 { // it did nothing itself: the state is as its source made it
		by.engine, by.pass = by.chain[0].Voucher.Engine, by.chain[0].Voucher.Pass
	}
	return d.vouched(d.attempt, message.Checkpoint{CID: root, Fuel: b.Fuel, CPU: b.CPU}, b.Manifest, by),
		d.Content.Hold([]task.CID{root})
}

// chainOf is that of a run that goes on from a state that was inspected, with its source's word.
func (d *destination) chainOf(said []byte, fuel uint64, cpu time.Duration) []task.Link {
	if d.attempt.receipt == nil {
		return nil
	}
	chain, err := chainOf(said, snapshot{fuel: fuel, cpu: cpu})
	if err != nil { // it was read before
		d.Log.Error("reading a state's word", "task", d.name.task.String(), "err", err)
	}
	return believed(d.attempt.job.spec, d.name.task, chain)
}

// cancel ends a hand-over from the loop.
func (d *destination) cancel(why string) {
	d.spawn(func() { d.tell(handover.Cancel{Reason: why}) })
}
