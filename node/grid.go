package node

import (
	"context"
	"errors"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/task"
)

// A gridQuery asks a leader for the tasks of a job by state, in at most so many bins.
type gridQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Job     task.JobID `json:"job"`
	Bins    int        `json:"bins"` // at most message.MaxBins
}

func (q gridQuery) ask(c *scheduler.Coordinator) (any, error) {
	if g, ok := scheduler.Grid(c, q.Job, q.Bins); ok {
		return g, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownJob, q.Job)
}

// maxMissed bounds the results of a job that are read to find those that failed.
const maxMissed = 20_000

// Grid counts the tasks of a job by state, in at most so many bins of consecutive tasks. The leader knows; of a
// job that this node submitted, and that no leader has any more, what is held here tells.
func (q *queries) Grid(ctx context.Context, id task.JobID, bins int) (*message.Grid, error) {
	var led message.Grid
	l, err := q.askLeaders(ctx, methodGrid, func(o overlay.ID) any { return gridQuery{o, id, bins} }, &led)
	if err == nil && led.Fits(bins) {
		_, loans, err := q.lentOf(ctx, id)
		if err != nil {
			q.log.Debug("asking what is lent of a job", "job", id, "err", err)
		}
		lendIn(&led, loans, l.peer)
		return &led, nil
	}
	own, ownErr := q.ownGrid(ctx, id, bins)
	if errors.Is(ownErr, ErrUnknownJob) && err != nil {
		return nil, err
	}
	return own, ownErr
}

// lendIn takes what is lent out of what a leader, who was told that it is held, counts as done. Of its own
// loan that leader knows.
func lendIn(g *message.Grid, loans []message.LoanStatus, by task.PeerID) {
	for i := range loans {
		set, err := loans[i].Set()
		if err != nil || loans[i].Leader == by {
			continue
		}
		for _, r := range set {
			g.Lend(r)
		}
	}
}

// ownGrid is the grid of a job that this node submitted, by what it holds.
func (q *queries) ownGrid(ctx context.Context, id task.JobID, bins int) (*message.Grid, error) {
	var g *message.Grid
	var st message.JobStatus
	if err := q.look(ctx, func() {
		m := q.overlays.submitted(id)
		if m == nil {
			return
		}
		st, _ = m.Submitter().Job(id)
		g = message.NewGrid(st.Tasks.Total, bins)
		for _, r := range m.Submitter().Held(id) {
			g.Do(r)
		}
		if message.FinalState(st.State) {
			g.FailRest()
		}
	}); err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownJob, id)
	}
	return g, q.missed(ctx, id, g, st.Tasks.Failed)
}

// missed moves those tasks of a grid that failed, of which there are so many.
func (q *queries) missed(ctx context.Context, id task.JobID, g *message.Grid, failed uint64) error {
	for i := range g.Bins {
		failed -= min(failed, g.Bins[i].Failed)
	}
	for next, read := uint64(0), 0; failed > 0 && read < maxMissed; {
		h, err := q.heldBy(ctx, id, from(next, heldPage))
		if err != nil {
			return err
		}
		if len(h.results) == 0 {
			break
		}
		for i := range h.results {
			if next = h.results[i].Index + 1; h.results[i].Failed && failed > 0 {
				g.Missed(h.results[i].Index)
				failed--
			}
		}
		read += len(h.results)
	}
	g.Unplaced = failed
	return nil
}
