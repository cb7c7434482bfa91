package exec

import (
	"context"
	"fmt"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/task"
)

// A Readier is a Runner that can make a program ready before a task wants it.
type Readier interface {
	// Ready does so with a module, which lies in a file, and returns when that is done.
	Ready(ctx context.Context, module task.CID, path string) error
}

// A Checker is a Runner that can validate a program from a stranger without danger to the node.
type Checker interface {
	// Check returns a *sandbox.ModuleError if the module cannot run on any worker.
	Check(ctx context.Context, module []byte) error
}

// Ready has a program that is stored here made ready to run, since a task is about to want it: the first task of a
// large one would wait until it is compiled. It does so only while the owner lends a core on which nothing runs, and
// one program at a time: the others are compiled when their first tasks come, as ever. It is called on the loop.
func Ready(x *Executor, module task.CID) {
	r, ok := x.Runner.(Readier)
	if !ok || x.lent.Cores <= len(x.running) || !x.readies.CompareAndSwap(false, true) {
		return
	}
	x.spawn(func() {
		defer x.readies.Store(false)
		if err := ready(x.core, r, module); err != nil && x.ctx.Err() == nil {
			x.Log.Debug("a program could not be made ready", "module", module, "err", err)
		}
	})
}

func ready(c *core, r Readier, module task.CID) error {
	defer c.Content.Hold([]task.CID{module})()
	name := stagedName{CID: module}
	path, err := c.staging.take(c.ctx, name, blocks.AtMost(sandbox.MaxModule), nil)
	if err != nil {
		return fmt.Errorf("making a program ready: %w", err)
	}
	defer c.staging.drop(name)
	if err := r.Ready(c.ctx, module, path); err != nil {
		return fmt.Errorf("making a program ready: %w", err)
	}
	return nil
}
