package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/api"
	"godwit/lab/testbed/clock"
	"godwit/trace"
)

// ErrServerDown is wrapped by the errors of Pause and Ping for a server without a running node.
var ErrServerDown = errors.New("its node does not run")

// stop kills the player's node and keeps it down until start. The player does this shortly after stop returns. stop
// returns false if the run has ended.
func (p *player) stop(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.edit(now, func(h *trace.History, at time.Time) { clock.Note(h, at, trace.Unavailable, 0) }) {
		return false
	}
	p.held = true
	return true
}

// awaitDown waits until the player's node has ended.
func (p *player) awaitDown(ctx context.Context) error {
	tick := time.NewTicker(upPoll)
	defer tick.Stop()
	for p.up() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// start resumes a paused node, or starts a node that is down. The host then remains up until its next planned failure.
func (p *player) start(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	paused, node := p.paused, p.node
	p.held = false
	if upAt(p.history, p.clock.Traced(now)) {
		p.mu.Unlock()
		if !paused || node == nil {
			return nil
		}
		return p.resume(ctx)
	}
	defer p.mu.Unlock()
	p.edit(now, func(h *trace.History, at time.Time) {
		clock.Note(h, at, trace.Available, 1)
		rest := clock.Cut(p.planned, at, p.planned.Until())
		for i := range rest.Len() {
			if s := rest.Spell(i); s.Start.After(at) {
				clock.Note(h, s.Start, s.State, s.CPU)
			}
		}
	})
	return nil
}

// edit replaces the history after now with the changes that add makes, and notifies the player. It returns false if the
// history has ended. The caller holds the lock.
func (p *player) edit(now time.Time, add func(h *trace.History, at time.Time)) bool {
	begin, end := p.history.Since(), p.planned.Until()
	at := p.clock.Traced(now).Truncate(time.Millisecond)
	if !at.Before(end) {
		return false
	}
	if last := spellAt(p.history, at); !at.After(last) {
		at = last.Add(time.Millisecond) // a history cannot have two changes at one time
	}
	h := clock.Cut(p.history, begin, at)
	add(h, at)
	h.Extend(end)
	p.history = h
	if p.abort != nil {
		p.abort()
	}
	select {
	case p.changed <- struct{}{}:
	default: // a notification is already pending
	}
	return true
}

// spellAt returns the start of the interval that contains a time before the end, or of the first interval.
func spellAt(h *trace.History, at time.Time) time.Time {
	if at.Before(h.Since()) {
		return h.Since()
	}
	return h.Spell(h.Find(at)).Start
}

// upAt reports whether a history is up at a time.
func upAt(h *trace.History, at time.Time) bool {
	in, ok := nextUp(h, at)
	return ok && !in.from.After(at)
}

// pause suspends the tasks of the node, which accepts no others until start.
func (p *player) pause(ctx context.Context) error {
	return p.tell(ctx, true, func(ctx context.Context, c *api.Client) error {
		_, err := c.Pause(ctx, 0)
		return err
	})
}

// resume resumes a paused node.
func (p *player) resume(ctx context.Context) error {
	return p.tell(ctx, false, func(ctx context.Context, c *api.Client) error {
		_, err := c.Resume(ctx)
		return err
	})
}

// tell sends a request to the node and stores whether it is paused afterwards.
func (p *player) tell(ctx context.Context, paused bool, send func(context.Context, *api.Client) error) error {
	node := p.up()
	if node == nil {
		return ErrServerDown
	}
	client := api.Dial(node.Dir)
	defer client.Close()
	if err := send(ctx, client); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.node == node {
		p.paused = paused
	}
	return nil
}

// ping returns the response time of the node.
func (p *player) ping(ctx context.Context) (time.Duration, error) {
	node := p.up()
	if node == nil {
		return 0, ErrServerDown
	}
	client := api.Dial(node.Dir)
	defer client.Close()
	begun := time.Now()
	if _, err := client.Status(ctx); err != nil {
		return 0, err
	}
	return time.Since(begun), nil
}

// States of a server.
const (
	StateUp       = "up"
	StateDown     = "down"     // failed according to the scenario
	StateStarting = "starting" // node not ready yet
	StatePaused   = "paused"
	StateStopped  = "stopped" // stopped by a command
)

// state returns the state of the server.
func (p *player) state(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.held:
		return StateStopped
	case p.node != nil && p.paused:
		return StatePaused
	case p.node != nil:
		return StateUp
	case upAt(p.history, p.clock.Traced(now)):
		return StateStarting
	}
	return StateDown
}

// Start resumes a paused server, or starts its node.
func (l *Live) Start(ctx context.Context, server string) error {
	return l.with(ctx, server, func(p *player) error { return p.start(ctx, time.Now()) })
}

// Pause suspends the tasks of a server, which accepts no others until Start. Its node remains a member of the overlay.
func (l *Live) Pause(ctx context.Context, server string) error {
	return l.with(ctx, server, func(p *player) error { return p.pause(ctx) })
}

// Stop kills a server's node like a failure. The node remains down until Start.
func (l *Live) Stop(ctx context.Context, server string) error {
	return l.with(ctx, server, func(p *player) error {
		if !p.stop(time.Now()) {
			return ErrEnded
		}
		return p.awaitDown(ctx)
	})
}

// Ping returns the response time of a server's node.
func (l *Live) Ping(ctx context.Context, server string) (took time.Duration, err error) {
	err = l.with(ctx, server, func(p *player) (err error) { took, err = p.ping(ctx); return err })
	return took, err
}

// ErrNoServer is wrapped by the errors for an unknown server, and ErrEnded is returned after the end of the run.
var (
	ErrNoServer = errors.New("the run has no such server")
	ErrEnded    = errors.New("the run is over")
)

// with calls do for the named server. It first waits until the run has begun.
func (l *Live) with(ctx context.Context, server string, do func(*player) error) error {
	if !clock.SleepUntil(ctx, l.r.clock.Begun) {
		return ctx.Err()
	}
	if l.over() {
		return ErrEnded
	}
	for _, p := range l.r.players {
		if p.planned.Host != server {
			continue
		}
		if err := do(p); err != nil {
			return fmt.Errorf("server %s: %w", server, err)
		}
		return nil
	}
	return fmt.Errorf("%q: %w", server, ErrNoServer)
}
