package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"godwit/lab/traces"
	"godwit/task"
	"godwit/trace"
)

// A player is one host of a replaying swarm: its node is there while the host
// is, and gone while it is off.
type player struct {
	setup   nodeSetup
	peer    task.PeerID
	addr    string         // that others dial, the same at every start
	history *trace.History // in the trace's time, no spell Unobserved
	clock   clockwork
	ends    string // endAsTraced, endCrash or endGoodbye

	mu   sync.Mutex
	node *swarmNode // that is ready; nil while there is none
	ups  []uptime   // one for each time that the host was there so far, in order
}

// An uptime is one time that a host is there, and how long its node took to be.
type uptime struct {
	from, to time.Time // real
	ready    time.Time // real; zero: it was over before the node was ready
}

// How the node of a host that goes off ends.
const (
	endAsTraced = "traced"  // with a goodbye if the trace says leaving before, else killed
	endCrash    = "crash"   // killed
	endGoodbye  = "goodbye" // told to end
)

// replayName is the file, in a node's directory, of the history that plays its
// owner.
const replayName = "owner.csv"

// play starts and ends the node until the history ends, or ctx does, and leaves
// it as it is then.
func (p *player) play(ctx context.Context) error {
	for i := 0; i < p.history.Len(); i++ {
		if p.history.Spell(i).State == trace.Unavailable {
			continue
		}
		first := i
		for i+1 < p.history.Len() && p.history.Spell(i+1).State != trace.Unavailable {
			i++
		}
		last := p.history.Spell(i)
		up := uptime{from: p.clock.real(p.history.Spell(first).Start), to: p.clock.real(last.End)}
		if !sleepUntil(ctx, up.from) {
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
		if !sleepUntil(ctx, up.to) {
			return nil
		}
		if i == p.history.Len()-1 {
			return nil
		}
		if err := p.end(p.ends == endGoodbye || p.ends == endAsTraced && last.State == trace.Leaving); err != nil {
			return err
		}
	}
	return nil
}

// begin starts the node, unless its time is over first: then the node is nil.
func (p *player) begin(ctx context.Context, up *uptime) (*swarmNode, error) {
	over, cancel := context.WithDeadline(ctx, up.to)
	defer cancel()
	n, err := p.setup.start(over)
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
		return n.stop()
	}
	return n.kill()
}

// up returns the node, nil while there is none.
func (p *player) up() *swarmNode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

// again starts the node, if it is not up, after the history has ended.
func (p *player) again(ctx context.Context) error {
	if p.up() != nil {
		return nil
	}
	n, err := p.setup.start(ctx)
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
			note(out, s.Start, s.State, 0)
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
			ready = p.clock.traced(up.ready)
		}
		if ready.After(s.Start) {
			note(out, s.Start, trace.Unavailable, 0)
		}
		if ready.Before(s.End) {
			note(out, later(ready, s.Start), s.State, s.CPU)
		}
	}
	out.Extend(p.history.Until())
	return out
}

// writeReplay writes the history that plays the owner.
func (p *player) writeReplay() error {
	if err := os.MkdirAll(p.setup.dir, 0o700); err != nil {
		return fmt.Errorf("making a node's directory: %w", err)
	}
	h := p.clock.realHistory(p.history)
	t := &trace.Trace{Name: h.Host, Start: h.Since(), End: h.Until(), Hosts: []trace.Host{{History: h}}}
	path := filepath.Join(p.setup.dir, replayName)
	if err := traces.Write(path, t, trace.CSV); err != nil {
		return fmt.Errorf("writing what a host does: %w", err)
	}
	return nil
}

// sleepUntil waits for a time; false if ctx ended first.
func sleepUntil(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// gone says whether asking a node failed because it is not there, or went
// meanwhile.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrNotExist)
}
