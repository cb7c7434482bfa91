package sandbox

import (
	"sync"
	"time"
)

// A stopwatch counts the time during which a pool was not paused.
type stopwatch struct {
	mu      sync.Mutex
	since   time.Time     // of the last resume; zero while paused
	counted time.Duration // before that
}

func newStopwatch() *stopwatch { return &stopwatch{since: time.Now()} }

func (s *stopwatch) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.counted
	}
	return s.counted + time.Since(s.since)
}

func (s *stopwatch) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() {
		s.counted += time.Since(s.since)
		s.since = time.Time{}
	}
}

func (s *stopwatch) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
	}
}

func (s *stopwatch) paused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since.IsZero()
}

// minCheck is the shortest time between two looks at a limit: while paused no
// time passes, so what is left may stay tiny for long.
const minCheck = 10 * time.Millisecond

// after calls f once d has been counted from now on. The function returned
// stops that; it may be called at any time, also more than once.
func (s *stopwatch) after(d time.Duration, f func()) (stop func()) {
	end := s.now() + d
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	var check func()
	check = func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		left := end - s.now()
		if left <= 0 {
			stopped = true
			f()
			return
		}
		timer = time.AfterFunc(max(left, minCheck), check)
	}
	mu.Lock()
	timer = time.AfterFunc(d, check)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}
