package exec

import (
	"errors"
	"maps"
	"sync"

	"godwit/sandbox"
)

// pools are the sandboxes of this machine: those that do as its owner says, and those that always
// interpret, which are few and there only once a program was to be interpreted. They are safe for
// any goroutine.
type pools struct {
	usual  *sandbox.Pool
	config sandbox.Config // of usual

	mu          sync.Mutex
	interpreted *sandbox.Pool // nil before the first use
	paused      bool
	share       float64 // as sandbox.Pool.Throttle was told last; 0 before that
	closed      bool
}

func newPools(c sandbox.Config) *pools { return &pools{usual: sandbox.NewPool(c), config: c} }

// of returns the pool for a program that is to be interpreted, or as the owner says.
func (s *pools) of(interpreted bool) *sandbox.Pool {
	if !interpreted {
		return s.usual
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interpreted == nil && !s.closed {
		c := s.config
		c.Interpret = func() bool { return true }
		c.MaxIdle = -1 // the next such task may come days later
		s.interpreted = sandbox.NewPool(c)
		if s.paused {
			s.interpreted.Pause()
		}
		if s.share > 0 {
			s.interpreted.Throttle(s.share)
		}
	}
	if s.interpreted == nil {
		return s.usual // which is closed, and says so
	}
	return s.interpreted
}

// each does something with all pools at once: a pause waits for all processes, and the owner for
// the pause. s.mu is held.
func (s *pools) each(do func(*sandbox.Pool)) {
	var g sync.WaitGroup
	if s.interpreted != nil {
		g.Go(func() { do(s.interpreted) })
	}
	do(s.usual)
	g.Wait()
}

// pause stops every sandbox, also those to come, or lets all go on.
func (s *pools) pause(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused = on; on {
		s.each((*sandbox.Pool).Pause)
		return
	}
	s.each((*sandbox.Pool).Resume)
}

// throttle lets the sandboxes run a share of the time.
func (s *pools) throttle(share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share = share
	s.each(func(p *sandbox.Pool) { p.Throttle(share) })
}

// excess is sandbox.Pool.Excess of all.
func (s *pools) excess() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.usual.Excess())
	if s.interpreted == nil {
		return out
	}
	for name, n := range s.interpreted.Excess() {
		out[name] += n
	}
	return out
}

// close ends every sandbox process; from then on none begins.
func (s *pools) close() error {
	s.mu.Lock()
	s.closed = true
	second := s.interpreted
	s.mu.Unlock()
	err := s.usual.Close()
	if second != nil {
		err = errors.Join(err, second.Close())
	}
	return err
}
