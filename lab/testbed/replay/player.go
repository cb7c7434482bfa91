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
	addr    string         // that others dial, the same at every start
	history *trace.History // in the trace's time, no spell Unobserved
	clock   clock.Clock
	ends    string // plan.EndAsTraced, endCrash or plan.EndGoodbye

	mu   sync.Mutex
	node *testbed.Node // that is ready; nil while there is none
	ups  []uptime      // one for each time that the host was there so far, in order
}

// An uptime is one time that a host is there, and how long its node took to be.
type uptime struct {
	from, to time.Time // real
	ready    time.Time // real; zero: it was over before the node was ready
}

// play starts and ends the node until the history ends, or ctx does, and leaves
// it as it is then.
func (p *player) play(ctx context.Context) error {
	if err := p.beginDown(ctx); err != nil {
		return err
	}
	for i := 0; i < p.history.Len(); i++ {
		if p.history.Spell(i).State == trace.Unavailable {
			continue
		}
		first := i
		for i+1 < p.history.Len() && p.history.Spell(i+1).State != trace.Unavailable {
			i++
		}
		last := p.history.Spell(i)
		up := uptime{from: p.clock.Real(p.history.Spell(first).Start), to: p.clock.Real(last.End)}
		if !clock.SleepUntil(ctx, up.from) {
			return nil
		}
		n, err := p.up(), error(nil)
		if n != nil {
			up.ready = up.from // it was started before
		} else {
			n, err = p.begin(ctx, &up)
		}
		p.mu.Lock()
		p.node, p.ups = n, append(p.ups, up)
		p.mu.Unlock()
		if err != nil {
			return err
		}
		if !clock.SleepUntil(ctx, up.to) {
			return nil
		}
		if i == p.history.Len()-1 {
			return nil
		}
		if err := p.end(p.ends == plan.EndGoodbye || p.ends == plan.EndAsTraced && last.State == trace.Leaving); err != nil {
			return err
		}
	}
	return nil
}

// beginDown takes away a node that was started before the history began, if its host is off then: the nodes of a
// test-bed all are there to found its overlay.
func (p *player) beginDown(ctx context.Context) error {
	if p.up() == nil || p.history.Spell(0).State != trace.Unavailable ||
		!clock.SleepUntil(ctx, p.clock.Real(p.history.Since())) {
		return nil
	}
	return p.end(p.ends == plan.EndGoodbye)
}

// begin starts the node, unless its time is over first: then the node is nil.
func (p *player) begin(ctx context.Context, up *uptime) (*testbed.Node, error) {
	over, cancel := context.WithDeadline(ctx, up.to)
	defer cancel()
	n, err := p.setup.Start(over)
	switch {
	case err == nil:
		up.ready = time.Now()
		return n, nil
	case ctx.Err() != nil, !time.Now().Before(up.to):
		return nil, nil
	}
	return nil, err
}

// end takes the node away, with a goodbye or as a machine without power goes.
func (p *player) end(goodbye bool) error {
	p.mu.Lock()
	n := p.node
	p.node = nil
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
