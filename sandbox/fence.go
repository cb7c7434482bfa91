package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"godwit/sandbox/wall"
)

// need is how much memory a child may take for a task of these limits, in bytes, without the contents that it is sent.
func (p *Pool) need(l Limits) int64 {
	return l.Memory + fileCopies*(l.Files+l.Output) + p.cfg.HostBytes
}

// roomier is how many times the memory of its first task a child may take in all its life: tasks of one module differ
// little, and the limit cannot be raised again.
const roomier = 2

// limitMemory bounds the memory of a child for one task. It is the last line: a task that gets past the limits on
// memory, tables and files ends the child, not the machine. Address space cannot be limited, since the Go runtime
// reserves much more than it uses; data can, on Linux alone.
func (p *Pool) limitMemory(c *child, l Limits) error {
	need := p.need(l)
	if c.room == 0 {
		c.room = roomier * need
	}
	soft := need + c.once
	for _, n := range c.held {
		if c.lender == nil || n < lendFrom { // what is lent lies in files
			soft += n
		}
	}
	hard := c.room + MaxInputs + c.once
	if now := [2]int64{soft, hard}; c.within == now {
		return nil
	} else {
		c.within = now
	}
	err := wall.LimitData(c.cmd.Process.Pid, uint64(soft), uint64(hard))
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// noteWall tells the log once what keeps the children in.
func (p *Pool) noteWall(s wall.State) {
	p.walled.Do(func() {
		if runtime.GOOS == "linux" && !s.Filter {
			p.cfg.Log.Warn("tasks have no second wall behind WebAssembly: `godwit doctor` says why", "reason", s.Why[0])
		}
	})
}

// Wall starts a child without a task and reports which layers confine it. The child also runs while the pool's tasks
// are suspended, because it takes milliseconds and never executes a guest. The error wraps ErrUntested if the child
// does not answer within 10 seconds, or before ctx ends.
func (p *Pool) Wall(ctx context.Context) (wall.State, error) {
	ctx, cancel := context.WithTimeout(ctx, selfTime)
	defer cancel()
	c, err := p.take("", &Tenant{}, 0)
	if err == nil {
		c, err = p.launch("", true)
	}
	if err != nil {
		return wall.State{}, err
	}
	defer p.discard(c)
	defer context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })()
	var e event
	if _, err := readFrame(c.out, &e, 0); ctx.Err() != nil {
		return wall.State{}, fmt.Errorf("%w: a sandbox process did not answer in time", ErrUntested)
	} else if err != nil {
		return wall.State{}, fmt.Errorf("reading a sandbox process's confinement: %w", err)
	}
	if e.Wall == nil {
		return wall.State{}, errors.New("a sandbox process does not say what keeps it in")
	}
	return *e.Wall, nil
}

// Protect is for a node that starts: from then on its memory, and the descriptors that it was given, are out of the
// children's reach. An error says what could not be had; the rest holds.
func Protect() error { return wall.Protect() }
