package replay

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/task"
	"godwit/trace"
)

// A player is one host of a replaying swarm: its node is there while the host
// is, and gone while it is off.
type player struct {
	setup   testbed.Setup
	peer    task.PeerID
	addr    string // that others dial, the same at every start
	planned *trace.History
	clock   clock.Clock
	ends    string        // plan.EndAsTraced, endCrash or plan.EndGoodbye
	changed chan struct{} // notification that history was replaced, of capacity 1

	mu      sync.Mutex
	history *trace.History     // planned plus commands, in trace time, without Unobserved intervals
	node    *testbed.Node      // that is ready; nil while there is none
	abort   context.CancelFunc // cancels the current start of the node, else nil
	ups     []uptime           // one for each time that the host was there so far, in order
	held    bool               // stopped by a command
	paused  bool               // paused by a command
}

// newPlayer returns a player for a host with a planned history.
func newPlayer(h *trace.History, ends string) *player {
	return &player{planned: h, history: h, ends: ends, changed: make(chan struct{}, 1)}
}

// An uptime is one time that a host is there, and how long its node took to be.
type uptime struct {
	from, to time.Time // real
	ready    time.Time // real; zero: it was over before the node was ready
}

// interval is a period during which a host is up, in trace time.
type interval struct {
	from, to time.Time
	ends     trace.State // state before it ends
	last     bool        // true if the history ends with it
}

// nextUp returns the first interval of a history that ends after a time.
func nextUp(h *trace.History, after time.Time) (interval, bool) {
	for i := 0; i < h.Len(); i++ {
		if h.Spell(i).State == trace.Unavailable {
			continue
		}
		in := interval{from: h.Spell(i).Start}
		for i+1 < h.Len() && h.Spell(i+1).State != trace.Unavailable {
			i++
		}
		s := h.Spell(i)
		if in.to, in.ends, in.last = s.End, s.State, i == h.Len()-1; in.to.After(after) {
			return in, true
		}
	}
	return interval{}, false
}

// next returns nextUp of the current history.
func (p *player) next(after time.Time) (interval, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return nextUp(p.history, after)
}

// play starts and ends the node until the history ends, or ctx does, and leaves
// it as it is then.
func (p *player) play(ctx context.Context) error {
	if err := p.beginDown(ctx); err != nil {
		return err
	}
	at := p.planned.Since()
	for {
		in, more := p.next(at)
		due := p.clock.Real(in.from)
		if !more {
			due = p.clock.Real(p.planned.Until())
		}
		switch changed, alive := p.sleepUntil(ctx, due); {
		case changed:
			continue
		case !alive || !more:
			return nil
		}
		if entered, err := p.enter(ctx, in); err != nil || !entered && ctx.Err() != nil {
			return err
		} else if !entered {
			continue
		}
		if in, more = p.stay(ctx, in); !more || in.last {
			return nil
		}
		if err := p.leave(in); err != nil {
			return err
		}
		at = in.to
	}
}

// sleepUntil waits until a time, or until the history changes. alive is false if ctx ended first.
func (p *player) sleepUntil(ctx context.Context, at time.Time) (changed, alive bool) {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return false, ctx.Err() == nil
	case <-p.changed:
		return true, true
	case <-ctx.Done():
		return false, false
	}
}

// enter starts the node at the beginning of an interval, unless the node runs already. It returns false if the history
// no longer contains the interval.
func (p *player) enter(ctx context.Context, in interval) (bool, error) {
	up := uptime{from: p.clock.Real(in.from), to: p.clock.Real(in.to)}
	over, cancel := context.WithDeadline(ctx, up.to)
	defer cancel()
	p.mu.Lock()
	if now, ok := nextUp(p.history, in.from); !ok || !now.from.Equal(in.from) {
		p.mu.Unlock()
		return false, nil
	}
	n := p.node
	p.abort = cancel
	p.mu.Unlock()
	var err error
	if n != nil {
		up.ready = up.from // started before the run
	} else {
		n, err = p.begin(over, &up)
	}
	p.mu.Lock()
	p.node, p.ups, p.abort = n, append(p.ups, up), nil
	p.mu.Unlock()
	return err == nil, err
}

// begin starts the node. It returns nil without an error if over ends first.
func (p *player) begin(over context.Context, up *uptime) (*testbed.Node, error) {
	n, err := p.setup.Start(over)
	switch {
	case err == nil:
		up.ready = time.Now()
		return n, nil
	case over.Err() != nil, !time.Now().Before(up.to):
		return nil, nil
	}
	return nil, err
}

// stay waits until an interval ends, and returns the interval with its actual end. It returns false if ctx ends first.
func (p *player) stay(ctx context.Context, in interval) (interval, bool) {
	for {
		if now, ok := p.next(in.from); ok && now.from.Equal(in.from) {
			in = now
		}
		switch changed, alive := p.sleepUntil(ctx, p.clock.Real(in.to)); {
		case changed:
		case !alive:
			return in, false
		default:
			return in, true
		}
	}
}

// leave ends the node at the end of an interval.
func (p *player) leave(in interval) error {
	p.mu.Lock()
	p.ups[len(p.ups)-1].to = p.clock.Real(in.to)
	p.mu.Unlock()
	return p.end(p.ends == plan.EndGoodbye || p.ends == plan.EndAsTraced && in.ends == trace.Leaving)
}

// beginDown kills the node if the host is down at the start of the history. All nodes of a test-bed run before the
// start, because they found its overlay.
func (p *player) beginDown(ctx context.Context) error {
	if p.up() == nil || p.planned.Spell(0).State != trace.Unavailable ||
		!clock.SleepUntil(ctx, p.clock.Real(p.planned.Since())) {
		return nil
	}
	return p.end(p.ends == plan.EndGoodbye)
}

// end takes the node away, with a goodbye or as a machine without power goes.
func (p *player) end(goodbye bool) error {
	p.mu.Lock()
	n := p.node
	p.node, p.paused = nil, false
	p.mu.Unlock()
	switch {
	case n == nil:
		return nil
	case goodbye:
		return n.Stop()
	}
	return n.Kill()
}

// up returns the node, nil while there is none.
func (p *player) up() *testbed.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

// again starts the node, if it is not up, after the history has ended.
func (p *player) again(ctx context.Context) error {
	if p.up() != nil {
		return nil
	}
	n, err := p.setup.Start(ctx)
	if err == nil {
		p.mu.Lock()
		p.node = n
		p.mu.Unlock()
	}
	return err
}

// played is the history as it was, seen from outside: a machine whose node was
// not ready yet was off.
func (p *player) played() *trace.History {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := &trace.History{Host: p.history.Host}
	before, ups := trace.Unavailable, p.ups
	var up uptime
	for i := range p.history.Len() {
		s := p.history.Spell(i)
		if s.State == trace.Unavailable {
			before = s.State
			clock.Note(out, s.Start, s.State, 0)
			continue
		}
		if before == trace.Unavailable { // the next time that it is there
			if up = (uptime{}); len(ups) > 0 {
				up, ups = ups[0], ups[1:]
			}
		}
		before = s.State
		ready := s.End
		if !up.ready.IsZero() {
			ready = p.clock.Traced(up.ready)
		}
		if ready.After(s.Start) {
			clock.Note(out, s.Start, trace.Unavailable, 0)
		}
		if ready.Before(s.End) {
			clock.Note(out, clock.Later(ready, s.Start), s.State, s.CPU)
		}
	}
	out.Extend(p.history.Until())
	return out
}

// gone says whether asking a node failed because it is not there, or went
// meanwhile.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrNotExist)
}
