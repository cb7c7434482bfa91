package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// foreseenFor and mostForeseenFor are the least and the longest time for which a forecast of a job's end is as good
	// as new: to make one takes up to two tenths of a second of processor time.
	foreseenFor, mostForeseenFor = 5 * time.Second, time.Minute
	// foreseenPart is which part of the time to the end a forecast is as good as new for: less than anybody reads of it.
	foreseenPart = 60
	// foreseenWhile is how many times as long it is still told, while another is made.
	foreseenWhile = 5
	// maxForeseen bounds the jobs whose forecasts are kept.
	maxForeseen = 256
)

// foretold are the forecasts that were made lately.
type foretold struct {
	turn chan struct{} // has a token of who makes one: one is made at a time

	mu     sync.Mutex
	seen   map[task.JobID]JobEnd
	making map[task.JobID]bool // while others are told the one before
}

func newForetold() foretold {
	return foretold{turn: make(chan struct{}, 1), seen: map[task.JobID]JobEnd{}, making: map[task.JobID]bool{}}
}

// age is what a forecast that was made is still good for.
type age uint8

const (
	gone  age = iota
	old       // to be told while another is made
	fresh     // as good as new
)

// at is the newest forecast of a job in a state, and what it is good for.
func (f *foretold) at(id task.JobID, state string, now time.Time) (JobEnd, age) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, known := f.seen[id]
	if !known || e.State != state {
		return e, gone
	}
	good := min(max(time.Duration(e.Low/foreseenPart*float64(time.Second)), foreseenFor), mostForeseenFor)
	switch past := now.Sub(e.At); {
	case past < good:
		return e, fresh
	case past < foreseenWhile*good:
		return e, old
	}
	return e, gone
}

// begins reports whether nobody makes another of a job yet, and notes that somebody does.
func (f *foretold) begins(id task.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.making[id] {
		return false
	}
	f.making[id] = true
	return true
}

// made keeps a forecast.
func (f *foretold) made(e JobEnd) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= maxForeseen {
		clear(f.seen)
	}
	f.seen[e.Job] = e
}

// stand notes how the job stands by now.
func (e *JobEnd) stand(st *message.JobStatus, now time.Time) {
	e.State, e.Left, e.Rate = st.State, st.Tasks.Waiting+st.Tasks.Running, 0
	if since := now.Sub(st.Submitted).Seconds(); since > 0 {
		e.Rate = float64(st.Tasks.Done) / since
	}
}

// End forecasts when a job ends. One that was made a moment ago is told again; where the end is far away also one that
// was made minutes ago, and another is made for who asks next.
func (s *seer) End(ctx context.Context, id task.JobID) (JobEnd, error) {
	st, err := s.queries.Job(ctx, id, 0, 0)
	if err != nil {
		return JobEnd{}, fmt.Errorf("forecasting the end of job %s: %w", id, err)
	}
	now := s.now()
	e, is := s.foretold.at(id, st.State, now)
	if is == gone {
		return s.again(ctx, id, st.State)
	}
	if is == old && s.foretold.begins(id) {
		s.spawn(func() { s.renew(id, st.State) })
	}
	e.stand(&st, now)
	return e, nil
}

// again makes a forecast, unless somebody else just did.
func (s *seer) again(ctx context.Context, id task.JobID, state string) (JobEnd, error) {
	select {
	case s.foretold.turn <- struct{}{}:
		defer func() { <-s.foretold.turn }()
	case <-ctx.Done():
		return JobEnd{}, fmt.Errorf("forecasting the end of job %s: %w", id, ctx.Err())
	}
	if e, is := s.foretold.at(id, state, s.now()); is == fresh {
		return e, nil
	}
	e, err := s.foresee(ctx, id)
	if err != nil {
		return e, fmt.Errorf("forecasting the end of job %s: %w", id, err)
	}
	s.foretold.made(e)
	return e, nil
}

// renew makes a forecast for who asks next.
func (s *seer) renew(id task.JobID, state string) {
	if _, err := s.again(s.tasks, id, state); err != nil {
		s.log.Debug("the end of a job is not foretold anew", "job", id, "err", err)
	}
	s.foretold.mu.Lock()
	defer s.foretold.mu.Unlock()
	delete(s.foretold.making, id)
}
