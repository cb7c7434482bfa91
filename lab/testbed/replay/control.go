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

// ErrServerDown is wrapped by what Pause and Ping return of a server whose node does not run.
var ErrServerDown = errors.New("its node does not run")

// stop kills the player's node, and keeps it down until start.
func (p *player) stop(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
	p.edit(now, func(h *trace.History, at time.Time) { clock.Note(h, at, trace.Unavailable, 0) })
}

// start ends a pause, or starts the player's node. A host that was planned to be down now is up until it is planned to
// go down again.
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

// edit replaces the history from now on by what add adds, and wakes the player. The lock is held.
func (p *player) edit(now time.Time, add func(h *trace.History, at time.Time)) {
	begin, end := p.history.Since(), p.planned.Until()
	at := p.clock.Traced(now).Truncate(time.Millisecond)
	if !at.Before(end) {
		return
	}
	if last := spellAt(p.history, at); !at.After(last) {
		at = last.Add(time.Millisecond) // two changes are never at one time
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
	default: // the player has not yet seen the change before
	}
}

// spellAt is the start of the spell that a history has at a time before its end, or of its first.
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

// pause has the node suspend its tasks and take no others, until start.
func (p *player) pause(ctx context.Context) error {
	return p.tell(ctx, true, func(ctx context.Context, c *api.Client) error {
		_, err := c.Pause(ctx, 0)
		return err
	})
}

// resume ends a pause.
func (p *player) resume(ctx context.Context) error {
	return p.tell(ctx, false, func(ctx context.Context, c *api.Client) error {
		_, err := c.Resume(ctx)
		return err
	})
}

// tell sends the node a request after which it is paused or not.
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

// ping returns the time that the node takes to answer.
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

// The states of a server.
const (
	StateUp       = "up"
	StateDown     = "down"     // it has failed, as its scenario has it
	StateStarting = "starting" // it is up, and its node is not ready
	StatePaused   = "paused"
	StateStopped  = "stopped" // by a command
)

// state is what a server is doing at a time.
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

// Start ends a server's pause, or starts its node.
func (l *Live) Start(ctx context.Context, server string) error {
	return l.with(server, func(p *player) error { return p.start(ctx, time.Now()) })
}

// Pause has a server suspend its tasks and take no others until Start. Its node goes on being a member.
func (l *Live) Pause(ctx context.Context, server string) error {
	return l.with(server, func(p *player) error { return p.pause(ctx) })
}

// Stop kills a server's node, as a failure of the scenario does. It remains down until Start.
func (l *Live) Stop(server string) error {
	return l.with(server, func(p *player) error { p.stop(time.Now()); return nil })
}

// Ping returns the time that a server's node takes to answer.
func (l *Live) Ping(ctx context.Context, server string) (took time.Duration, err error) {
	err = l.with(server, func(p *player) (err error) { took, err = p.ping(ctx); return err })
	return took, err
}

// ErrNoServer is wrapped by what is returned for a server that the run does not have, and ErrEnded after the end of
// the run.
var (
	ErrNoServer = errors.New("the run has no such server")
	ErrEnded    = errors.New("the run is over")
)

// with finds a server by its name.
func (l *Live) with(server string, do func(*player) error) error {
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
