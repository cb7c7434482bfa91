package freeze

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Compiling resume functions takes milliseconds, tens for large ones. It is done beside the guest's goroutine, so that
// a checkpoint is taken meanwhile, and whoever wants the guest again does not wait for it to go on first.

// making is resume functions that are being made. Its results may be read once wait has returned.
type making struct {
	c    *control
	done bool // c.mu guards it
	code []*resumeCode
	err  error
}

// wait returns when the making has ended.
func (g *making) wait() {
	g.c.mu.Lock()
	defer g.c.mu.Unlock()
	for !g.done {
		g.c.wake.Wait()
	}
}

// waitUnlessWanted returns when the making has ended, or reports false as soon as someone wants the guest as it is.
func (g *making) waitUnlessWanted(ctx context.Context) bool {
	g.c.mu.Lock()
	defer g.c.mu.Unlock()
	for !g.c.wanted() && ctx.Err() == nil {
		if g.done {
			return true
		}
		g.c.wake.Wait()
	}
	return false
}

// errWanted says that the guest was not put together again, since someone wants it as it is.
var errWanted = errors.New("the guest is wanted unwound")

// makeAhead begins to make the resume functions for a guest that was just unwound, unless it stays so.
func (m *Machine) makeAhead(ctx context.Context) {
	m.control.mu.Lock()
	stays := m.control.freeze || m.control.kill != nil || m.control.stopAt > 0
	m.control.mu.Unlock()
	if stays {
		return
	}
	if frames, err := m.prog.parseFrames(m.frames); err == nil { // rewind reports the error
		m.beginResumes(ctx, frames)
	}
}

// beginResumes has the resume functions made that the frames need and that are not there yet.
func (m *Machine) beginResumes(ctx context.Context, frames []frame) {
	if m.code.making != nil {
		return // for the same frames
	}
	missing := m.code.missing(frames)
	if len(missing) == 0 {
		return
	}
	g := &making{c: &m.control, code: missing}
	m.code.making = g
	go func() {
		for _, c := range g.code {
			if g.err = c.compile(ctx, m); g.err != nil {
				break
			}
		}
		g.c.set(func(*control) { g.done = true })
	}()
}

// makeResumes has them made and links them. The error is errWanted if something came between.
func (m *Machine) makeResumes(ctx context.Context, frames []frame) error {
	m.beginResumes(ctx, frames)
	g := m.code.making
	if g == nil {
		return nil
	}
	if !g.waitUnlessWanted(ctx) {
		return errWanted
	}
	return m.linkResumes(ctx, g)
}

// linkResumes links what was made to the guest.
func (m *Machine) linkResumes(ctx context.Context, g *making) error {
	m.code.making = nil
	if g.err != nil {
		return g.err
	}
	for _, c := range g.code {
		if err := m.link(ctx, c); err != nil {
			return err
		}
	}
	if err := m.shed(ctx); err != nil {
		return fmt.Errorf("end resume functions: %w", err)
	}
	return nil
}

// goOn gives the function with which an unwound guest goes on, after all that is wanted of it as it is.
func (m *Machine) goOn(ctx context.Context) (api.Function, error) {
	for {
		c := &m.control
		c.mu.Lock()
		wanted := c.wanted()
		c.mu.Unlock()
		if !wanted {
			f, err := m.rewind(ctx)
			if !errors.Is(err, errWanted) {
				return f, err
			}
		}
		if again, err := m.stopped(ctx); err != nil || !again {
			return nil, m.halt(err)
		}
	}
}
