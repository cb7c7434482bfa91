package sandbox

import (
	"errors"
	"os"
	"time"
)

// A holder is who wants the children to stand still.
type holder uint8

const (
	byOwner holder = iota // Pause
	byThrottle
)

// Pause stops every child where it is, and those started later too, until
// Resume. A paused task uses no CPU, keeps its memory, and its wall-clock
// limit stands still; one that is being frozen goes on until that is done. When Pause returns the children stand
// still, as far as
// the system tells: see awaitStopped.
func (p *Pool) Pause() { p.hold(byOwner, true) }

// Resume lets the children go on.
func (p *Pool) Resume() { p.hold(byOwner, false) }

// hold notes who wants the children to stand still. They do while anybody does.
func (p *Pool) hold(who holder, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.held) > 0
	if delete(p.held, who); on {
		p.held[who] = true
	}
	switch now := len(p.held) > 0; {
	case now == before:
	case now:
		p.clock.pause()
		p.signal("suspending", suspend)
		p.awaitStopped()
	default:
		p.clock.resume()
		p.signal("resuming", resume)
	}
}

// signal tells every child; p.mu is held. All are told before one is waited for.
func (p *Pool) signal(what string, do func(*os.Process) error) {
	for c := range p.children {
		if !c.loose {
			p.signalTo(c, what, do)
		}
	}
}

// signalTo tells one child; p.mu is held.
func (p *Pool) signalTo(c *child, what string, do func(*os.Process) error) {
	select {
	case <-c.exited:
		return // its number may be another's by now
	default:
	}
	if err := do(c.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.cfg.Log.Warn(what+" a sandbox process", "pid", c.cmd.Process.Pid, "err", err)
	}
}

// stopPatience bounds the wait for children to stand still. A thread that runs
// stops at its processor's next tick, at most 10 ms; one in a page fault may
// take as long as the disk; one that waits for a processor, which on a busy
// machine those of the idle class do, is out of the owner's way already.
const stopPatience = 50 * time.Millisecond

// awaitStopped waits until the system shows every child as stopped, so that the
// owner of the machine has it back when Pause returns; p.mu is held.
func (p *Pool) awaitStopped() {
	deadline := time.Now().Add(stopPatience)
	for c := range p.children {
		for !c.loose && !isStopped(c.cmd.Process.Pid) {
			select {
			case <-c.exited:
			default:
				if time.Now().After(deadline) {
					return
				}
				waitBriefly()
				continue
			}
			break
		}
	}
}

// waitBriefly yields the processor to what is being stopped.
func waitBriefly() {
	t := time.NewTimer(200 * time.Microsecond)
	<-t.C
}
