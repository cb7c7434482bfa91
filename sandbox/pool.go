package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Config is what a Pool needs to know.
type Config struct {
	// Command starts a child: a program and its arguments, in which Main gets
	// the process's standard input and output. It must have one element.
	Command []string
	// CacheDir keeps compiled modules between processes; "" for none. No child
	// has access to it. Removing any of its files is safe at any time; that
	// named key makes the others of no use.
	CacheDir string
	// Interpret reports whether children interpret modules instead of compiling
	// them, from the next task on; nil never. It is many times slower, and no
	// machine code is made of what strangers write.
	Interpret func() bool
	// KeepPriority reports whether children keep this process's priority from the next task on; nil never. Otherwise they
	// have the lowest, and run only on what other programs leave of the processor.
	KeepPriority func() bool
	// ScratchDir is the children's working directory; "" for the pool's own.
	// They put nothing there themselves.
	ScratchDir string
	// MaxIdle is how many children may wait for a next task; 0 means
	// DefaultMaxIdle, negative none.
	MaxIdle int
	// IdleFor is how long each waits; 0 means DefaultIdleFor.
	IdleFor time.Duration
	// InputCache is how many bytes of input files a child may keep for its
	// next tasks; 0 means DefaultInputCache.
	InputCache int64
	// HostBytes is how much memory a child may use beside what the task's
	// limits allow, most of it to compile; 0 means DefaultHostBytes. Only
	// Linux enforces it.
	HostBytes int64
	// LoadFor is how much processor time the largest module may take until it is compiled;
	// 0 means DefaultLoadFor. Smaller ones get less: a minute, and 10 s for each MiB. One that
	// takes longer cannot run on this machine.
	LoadFor time.Duration
	// Cores tells how many cores children may use at present. One that compiles a large module uses two of them where
	// they are free. nil: each uses one.
	Cores func() int
	// Started is called with the process ID of each child before it gets a
	// task, to put it under limits of the caller's; nil for nothing.
	Started func(pid int)
	Log     *slog.Logger // nil for none
}

// The defaults of Config.
const (
	DefaultMaxIdle          = 4                // about as many as a desktop runs at once
	DefaultIdleFor          = 30 * time.Second // an overlay with work hands it out much sooner
	DefaultInputCache int64 = 64 << 20
	DefaultLoadFor          = 10 * time.Minute // Go's compiler, of 48 MB, takes half a minute
	DefaultHostBytes  int64 = 1 << 30          // a 30 MB module takes about half of it to compile
)

// ErrClosed is returned by Run on a closed Pool.
var ErrClosed = errors.New("sandbox: pool is closed")

// A Pool runs tasks in child processes and keeps some of them warm. It is safe
// for concurrent use. It sets no bound on how many run at once: that is its
// caller's, who knows the machine.
type Pool struct {
	cfg      Config
	launcher *launcher
	clock    *stopwatch
	entries  *entries // nil for none
	loads    loads
	walled   sync.Once
	checks   chan struct{} // holds one during Check

	mu       sync.Mutex
	closed   bool
	children map[*child]bool // all that are alive
	idle     []*child        // those that wait, longest first
	held     map[holder]bool // who wants all of them to stand still
	throttle *throttle       // nil for none
	pending  sync.WaitGroup  // children being started or buried
}

// A child is a process that serves the tasks of one module and, once it has run one, of one tenant.
type child struct {
	*process
	tenant *Tenant          // of the guests that it has run; nil if it has run none. Pool.mu guards it
	module string           // key
	strict bool             // it interprets
	keeps  bool             // it keeps this process's priority
	ready  bool             // it has compiled the module
	made   *makings         // what it sends of the module; nil once it is loaded
	loaded func()           // tells others that it is loaded; nil for nobody
	room   int64            // bytes that a task may need for it to run here; 0 before the first
	once   int64            // bytes of contents for the run at hand
	within [2]int64         // the limits of its memory that limitMemory set last
	loose  bool             // it does not stand still with the others; Pool.mu guards it
	held   map[string]int64 // bytes of the contents it keeps, by key
	reaper *time.Timer      // ends it if it stays idle; nil while it runs

	// The task that it runs and the memory that this may have; Pool.mu guards them. "" and 0
	// while it is idle.
	runs  string
	asked int64
}

// NewPool returns a pool without any child. Close ends it.
func NewPool(cfg Config) *Pool {
	if cfg.MaxIdle == 0 {
		cfg.MaxIdle = DefaultMaxIdle
	}
	if cfg.IdleFor <= 0 {
		cfg.IdleFor = DefaultIdleFor
	}
	if cfg.LoadFor <= 0 {
		cfg.LoadFor = DefaultLoadFor
	}
	cfg.InputCache = bounded(cfg.InputCache, DefaultInputCache, MaxInputs)
	cfg.HostBytes = bounded(cfg.HostBytes, DefaultHostBytes, 1<<40)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	store, err := openEntries(cfg.CacheDir)
	if err != nil {
		cfg.Log.Warn("compiled modules are not kept", "err", err)
	}
	return &Pool{cfg: cfg, launcher: newLauncher(), clock: newStopwatch(), entries: store, children: map[*child]bool{}, checks: make(chan struct{}, 1),
		held: map[holder]bool{}}
}

// take returns a warm child for a module with room for a task that needs so much memory, or nil. A child that has run a
// guest serves only the same tenant again. After nil without an error the caller must call start.
func (p *Pool) take(module string, of *Tenant, need int64) (*child, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	for {
		i := p.warm(module, of, need)
		if i < 0 {
			break
		}
		c := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		c.reaper.Stop()
		select {
		case <-c.exited: // lost while idle
			delete(p.children, c)
			p.bury(c)
		default:
			return c, nil
		}
	}
	p.pending.Add(1) // before Close can begin to wait
	return nil, nil
}

// warm returns the index in p.idle of the best child for a task, or -1; p.mu is held. A child of the tenant's own comes
// before one that has run nothing, which any tenant can use later. Among equals the one idle for the shortest time wins.
func (p *Pool) warm(module string, of *Tenant, need int64) int {
	fresh := -1
	for i, c := range slices.Backward(p.idle) {
		switch {
		case c.module != module || c.room < need || c.strict != p.strict() || c.keeps != p.keepsPriority():
		case c.tenant != nil && *c.tenant == *of:
			return i
		case c.tenant == nil && fresh < 0:
			fresh = i
		}
	}
	return fresh
}

// strict reports whether modules are interpreted now.
func (p *Pool) strict() bool { return p.cfg.Interpret != nil && p.cfg.Interpret() }

// keepsPriority reports whether a child that starts now keeps this process's priority.
func (p *Pool) keepsPriority() bool { return p.cfg.KeepPriority != nil && p.cfg.KeepPriority() }

// start launches a child for a module. The child is suspended at once if the pool's tasks are.
func (p *Pool) start(module string) (*child, error) { return p.launch(module, false) }

// launch starts a child for a module, with env added to its environment. A loose child runs even while the pool's tasks
// are suspended.
func (p *Pool) launch(module string, loose bool, env ...string) (*child, error) {
	defer p.pending.Done()
	keeps := p.keepsPriority()
	if keeps {
		env = append(env, plainPriority)
	}
	proc, err := p.launcher.launch(p.cfg.Command, p.cfg.ScratchDir, env...)
	if err != nil {
		return nil, err
	}
	c := &child{process: proc, module: module, strict: p.strict(), keeps: keeps, loose: loose, held: map[string]int64{}}
	if p.cfg.Started != nil {
		p.cfg.Started(proc.cmd.Process.Pid)
	}
	p.mu.Lock()
	p.children[c] = true
	if p.clock.paused() && !loose {
		_ = suspend(c.cmd.Process)
	}
	p.mu.Unlock()
	if err := writeFrame(c.in, request{Setup: &setup{c.strict, p.cfg.LoadFor}}); err != nil {
		err = fmt.Errorf("setting up a sandbox process: %w: %s", err, c.stderr)
		p.discard(c)
		return nil, err
	}
	return c, nil
}

// give takes back a child that is ready for another task.
func (p *Pool) give(c *child) {
	if !p.keep(c) {
		p.discard(c)
	}
}

// keep makes c idle, and reports false if idle children are not wanted.
func (p *Pool) keep(c *child) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.cfg.MaxIdle < 0 {
		return false
	}
	c.runs, c.asked = "", 0
	p.idle = append(p.idle, c)
	c.reaper = time.AfterFunc(p.cfg.IdleFor, func() { p.reap(c) })
	if len(p.idle) > p.cfg.MaxIdle {
		oldest := p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
		oldest.reaper.Stop()
		p.drop(oldest)
	}
	return true
}

// reap ends a child that is still idle.
func (p *Pool) reap(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, c); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.drop(c)
	}
}

// drop ends a child that was idle; p.mu is held.
func (p *Pool) drop(c *child) {
	delete(p.children, c)
	_ = c.cmd.Process.Kill()
	p.bury(c)
}

// bury waits for a dying child out of the way; p.mu is held and the pool not
// closed, so that Close waits for it.
func (p *Pool) bury(c *child) {
	p.pending.Add(1)
	go func() {
		defer p.pending.Done()
		c.kill()
	}()
}

// discard ends a child that is not idle, and waits for its end.
func (p *Pool) discard(c *child) {
	p.mu.Lock()
	delete(p.children, c)
	p.mu.Unlock()
	c.kill()
}

// retire ends a child out of the way.
func (p *Pool) retire(c *child) {
	p.mu.Lock()
	delete(p.children, c)
	_ = c.cmd.Process.Kill()
	closed := p.closed
	if !closed {
		p.bury(c)
	}
	p.mu.Unlock()
	if closed {
		c.kill()
	}
}

// Close kills every child and returns when all are gone. Runs that are under
// way end with ErrClosed.
func (p *Pool) Close() error {
	p.Throttle(1)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	for _, c := range p.idle {
		c.reaper.Stop()
	}
	p.idle = nil
	p.mu.Unlock()
	p.pending.Wait() // those being started are in children now
	p.mu.Lock()
	children := p.children
	p.children = map[*child]bool{}
	p.mu.Unlock()
	for c := range children {
		_ = c.cmd.Process.Kill()
	}
	for c := range children {
		<-c.exited
		c.closeEnds()
	}
	p.launcher.close()
	return nil
}

// isClosed reports whether Close was called.
func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
