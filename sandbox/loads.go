package sandbox

import (
	"context"
	"sync"
	"sync/atomic"
)

// loads are the modules that children make ready at present, so that no two compile one at the same time: whoever wants
// it meanwhile waits, and finds it kept. It is safe for any goroutine; the zero value has none.
type loads struct {
	mu    sync.Mutex
	under map[string]chan struct{} // closed when it is over, by module
	busy  atomic.Int32             // children that compile or run something
}

// begin notes that a child makes a module ready, until over is called, as often as one likes. Where another child does
// already it returns a channel instead that is closed when that is over.
func (l *loads) begin(module string) (over func(), other <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.under[module]; c != nil {
		return nil, c
	}
	if l.under == nil {
		l.under = map[string]chan struct{}{}
	}
	c := make(chan struct{})
	l.under[module] = c
	return sync.OnceFunc(func() {
		l.mu.Lock()
		delete(l.under, module)
		l.mu.Unlock()
		close(c)
	}), nil
}

// obtain returns a child for a task: a warm one, or one that is new. Where another child compiles the task's module
// just now it waits for that, but once only: a module that takes too long to compile holds up each task as long as one
// child may take, not as long as all together.
func (p *Pool) obtain(ctx context.Context, t *Task) (*child, error) {
	c, err := p.take(t.Module, &t.Tenant, p.need(t.Limits))
	if c != nil || err != nil {
		return c, err
	}
	over, other := p.loads.begin(t.Module)
	if other != nil && p.entries != nil {
		p.pending.Done() // what take began
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if c, err = p.take(t.Module, &t.Tenant, p.need(t.Limits)); c != nil || err != nil {
			return c, err
		}
		over, _ = p.loads.begin(t.Module)
	}
	if over == nil {
		over = func() {}
	}
	if c, err = p.start(t.Module); err != nil {
		over()
		return nil, err
	}
	c.loaded = over
	return c, nil
}

// Prepare makes a module ready for tasks to come: a child compiles it, what that comes to is kept, and the child
// waits for a task as after any other. It returns at once where a child waits already, or makes it ready. The error
// is as that of Run; a module that cannot run is none, since its first task will tell.
func (p *Pool) Prepare(ctx context.Context, module, path string) error {
	p.loads.mu.Lock()
	under := p.loads.under[module] != nil
	p.loads.mu.Unlock()
	if under {
		return nil
	}
	_, err := p.Run(ctx, Task{Name: "prepare/0", Module: module, ModulePath: path, ready: true})
	return err
}

// compilers is how many cores a child that loads a module may use for that: those that the machine's owner lends and
// no other child works on, and its own.
func (p *Pool) compilers() int {
	if p.cfg.Cores == nil {
		return 1
	}
	return min(max(p.cfg.Cores()-int(p.loads.busy.Load())+1, 1), childProcs)
}
