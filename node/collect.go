package node

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"godwit/blocks"
	"godwit/internal/pause"
	"godwit/owner"
	"godwit/owner/sensor"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

const (
	// collectEvery is how often blocks that nobody needs are removed. The store
	// gives their space back over the hours after.
	collectEvery = time.Hour
	// collectFirst is when to do so after the start, when all is quiet.
	collectFirst = 10 * time.Minute
	// collectAge protects what was just stored: it may be part of something whose
	// root is not known yet, such as an upload.
	collectAge = time.Hour
	// crampedAge is the same when the disk is full. What is being fetched is
	// pinned, and what is stored by this machine is stored within minutes.
	crampedAge = 10 * time.Minute
	// crampedLook is how often to see whether the owner's cap on the disk is near,
	// and the least time between two collections for want of room.
	crampedLook = time.Minute
	// crampedShare of the cap is near: what one job brings may fill the rest.
	crampedShare = 0.9
)

// A collector removes the blocks that nobody needs.
type collector struct {
	*driver
	monitor *owner.Monitor
}

// run removes what nobody needs from time to time.
func (co collector) run(ctx context.Context) {
	next := time.Now().Add(collectFirst)
	look := time.NewTicker(crampedLook)
	defer look.Stop()
	for {
		age := collectAge
		select {
		case <-look.C:
			co.content.room.measure()
			switch {
			case co.content.room.near(), nearCap(co.monitor.Readings(), co.monitor.Decision().Disk):
				age = crampedAge
			case time.Now().Before(next):
				continue
			}
		case <-co.content.cramped:
			age = crampedAge
		case <-ctx.Done():
			return
		}
		if err := co.collect(ctx, age); err != nil && ctx.Err() == nil {
			co.log.Warn("blocks that nobody needs are not removed", "err", err)
		}
		next = time.Now().Add(collectEvery)
		if age == crampedAge {
			_ = pause.For(ctx, crampedLook)
		}
	}
}

// nearCap says whether what the node keeps is near what its owner allows; most is
// 0 where that is not known.
func nearCap(readings []sensor.Reading, most int64) bool {
	return most > 0 && slices.ContainsFunc(readings, func(r sensor.Reading) bool {
		return r.Kind == sensor.Disk && r.Blind == "" && r.Value >= crampedShare*float64(most)
	})
}

// collect removes the blocks that nothing here needs and that are older.
func (co collector) collect(ctx context.Context, age time.Duration) error {
	if err := co.content.gate.Renew(ctx); err != nil {
		return err
	}
	gone, err := co.content.blocks.Collect(ctx, co.roots(ctx), age)
	if gone.Blocks > 0 {
		co.log.Info("blocks removed that nobody needs", "blocks", gone.Blocks, "size", task.FormatSize(gone.Bytes))
	}
	return errors.Join(err, co.forgetPlain(ctx))
}

// roots gives what must stay: what the coordinators' and the workers' machines
// name, jobs of this node that are not over, what is being fetched, and all
// results that it holds, those of overlays that it has left too. Of a million results
// none is held longer than it takes to read it. An error is the last.
func (co collector) roots(ctx context.Context) blocks.Roots {
	return func(yield func(task.CID, error) bool) {
		roots, err := co.named(ctx)
		spaces, e := co.store.spaces(ctx)
		if err = errors.Join(err, e); err != nil {
			yield("", err)
			return
		}
		for _, c := range roots {
			if !yield(c, nil) {
				return
			}
		}
		for _, space := range spaces {
			for value := range co.results(ctx, space, &err) {
				for _, c := range outputsIn(value) {
					if !yield(c, nil) {
						return
					}
				}
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				yield("", err)
				return
			}
		}
	}
}

// results gives what is kept of the results of an overlay; failed says why it ended early.
func (co collector) results(ctx context.Context, space string, failed *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, value := range co.store.scan(ctx, space, submitter.ResultsPrefix, failed) {
			if ctx.Err() != nil || !yield(value) {
				return
			}
		}
	}
}

// named lists the roots that are known in memory.
func (co collector) named(ctx context.Context) ([]task.CID, error) {
	// First: what is fetched now may be named by a machine before it is asked.
	roots := co.content.pins.list()
	err := co.do(ctx, func() {
		for _, m := range co.ordered() {
			roots = append(roots, m.roots()...)
		}
		roots = append(roots, co.exec.Roots()...)
		for _, p := range co.pending { // results that wait for room on the disk
			if e, ok := p.machine.(message.Persist); ok && strings.HasPrefix(e.Key, submitter.ResultsPrefix) {
				roots = append(roots, outputsIn(e.Value)...)
			}
		}
	})
	return roots, err
}

// outputsIn lists the outputs of a result as it is kept, and the state that a proof begins with; one that
// cannot be read has none.
func outputsIn(value []byte) []task.CID {
	t, err := submitter.DecodeSummary(value)
	if err != nil {
		return nil
	}
	out := message.OutputsOf(&t)
	if c := t.Refuted.StateOf(); c != "" {
		out = append(out, c)
	}
	return out
}
