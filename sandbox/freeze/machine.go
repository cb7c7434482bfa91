package freeze

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Errors that running returns.
var (
	// ErrFrozen says that the guest stopped because Freeze was called; Snapshot has its state.
	ErrFrozen = errors.New("frozen")
	// ErrKilled is wrapped when the guest stopped because Kill was called.
	ErrKilled = errors.New("killed")
	// ErrNoRoom says that the guest cannot be frozen where it is because its memory is smaller than a
	// frame. It goes on running.
	ErrNoRoom = errors.New("the guest's memory is too small to borrow room for a frame")
)

// Config says how a Machine runs its guest. The zero value is usable.
type Config struct {
	// Module configures the instance; its name and start functions are overridden. Nil is wazero's default.
	Module wazero.ModuleConfig
	// Name is the instance's name in the runtime; empty for one of its own.
	Name string
	// Slice is the time that should pass between two yields, so how long a request waits. 0 means 1 ms.
	Slice time.Duration
	// TortureEvery unwinds and rewinds the guest in place at every n-th poll, for tests. 0 means never.
	TortureEvery int
	// TortureMost ends the torture after so many times. 0 means no limit.
	TortureMost int
	// MaxFuel kills the guest that used more. 0 means no limit.
	MaxFuel uint64
	// Resumes is how many bytes of resume functions are kept beside those that the frames at hand need, as WebAssembly.
	// 0 means 8 MiB.
	Resumes int
	// NotStopped is called, on the goroutine that runs the guest, when the guest goes on although it was to be frozen
	// or to stop for a checkpoint: those orders are void. nil for nothing.
	NotStopped func(error)
}

// phase says what the guest is doing.
type phase int

const (
	phaseIdle phase = iota
	phaseRun
	phaseUnwind
	phaseRewind
)

// Machine is one guest. One goroutine runs it with Start, Call and Resume; the methods of control (Pause,
// Continue, Freeze, Kill, Throttle, Checkpoint, Fuel) may be called by others meanwhile.
type Machine struct {
	host *Host
	prog *Program
	cfg  Config
	name string
	main api.Module
	mods []api.Module // main and the modules of resume functions

	mem                  api.Memory
	state, sp, end, fuel api.MutableGlobal
	refSP                [2]api.MutableGlobal

	phase   phase
	frames  []byte   // innermost first, each with its trailer; while stopped or rewinding
	chunks  [][]byte // what is left of the frames to be handed out while rewinding; the last is next
	borrow  []byte   // what was in the borrowed region
	code    resumes
	since   time.Time // when the guest was stopped to be unwound
	goesOn  []func(time.Duration)
	refs    *refMap
	pace    pace
	control control
	stats   Stats
	now     func() time.Time                     // tests have a clock of their own
	sleep   func(context.Context, time.Duration) // returns early when the context ends
}

// Stats counts what a machine did.
type Stats struct {
	Yields  int // times the guest handed over at a poll
	Unwinds int // times its stack was taken apart
	Resumes int // resume functions generated
	Dropped int // of them, dropped again since too many were kept
}

// Instantiate makes an instance of an instrumented module. compiled is prog.Wasm, compiled by the host's
// runtime. Nothing of the guest runs before Start.
func (h *Host) Instantiate(ctx context.Context, prog *Program, compiled wazero.CompiledModule, cfg Config) (*Machine,
	error) {
	m := &Machine{host: h, prog: prog, cfg: cfg, name: cfg.Name, code: resumes{slots: map[uint32]uint32{}},
		now: time.Now, sleep: sleep}
	if m.name == "" {
		m.name = h.name()
	}
	if m.cfg.Slice == 0 {
		m.cfg.Slice = time.Millisecond
	}
	if m.cfg.Resumes == 0 {
		m.cfg.Resumes = usualResumes
	}
	m.control.wake = sync.NewCond(&m.control.mu)
	if prog.traps != nil { // the engine would leave out the segment, and those after it
		return nil, fmt.Errorf("instantiate guest: %w", prog.traps)
	}
	mc := cfg.Module
	if mc == nil {
		mc = wazero.NewModuleConfig()
	}
	mod, err := h.rt.InstantiateModule(ctx, compiled, mc.WithName(m.name).WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiate guest: %w", err)
	}
	m.main = mod
	m.adopt(mod)
	if err := m.bind(ctx); err != nil {
		m.Close(ctx)
		return nil, err
	}
	return m, nil
}

func (m *Machine) adopt(mod api.Module) {
	m.mods = append(m.mods, mod)
	m.host.own(mod, m)
}

// bind looks up what the pass exported.
func (m *Machine) bind(ctx context.Context) error {
	var err error
	global := func(name string) api.MutableGlobal {
		g, ok := m.main.ExportedGlobal(ownPrefix + name).(api.MutableGlobal)
		if !ok && err == nil {
			err = fmt.Errorf("the instrumented module lacks the global %q", ownPrefix+name)
		}
		return g
	}
	m.state, m.sp, m.end, m.fuel = global("state"), global("sp"), global("end"), global("fuel")
	for k, name := range []string{ownGlobalNames[globalRefs], ownGlobalNames[globalExts]} {
		if m.prog.Layout.RefStacks[k] {
			m.refSP[k] = global(name)
		}
	}
	m.mem = m.main.ExportedMemory(ownPrefix + "mem")
	if err == nil && m.mem == nil {
		err = errors.New("the instrumented module lacks its memory")
	}
	if err != nil {
		return err
	}
	if m.prog.Layout.RefsMove {
		if err := m.callOwn(ctx, "reseat"); err != nil {
			return err
		}
		m.refs, err = m.readRefs(ctx)
	}
	return err
}

// callOwn calls a function that the pass added, for effect.
func (m *Machine) callOwn(ctx context.Context, name string, args ...uint64) error {
	_, err := m.askOwn(ctx, name, args...)
	return err
}

// askOwn calls a function that the pass added, for its results.
func (m *Machine) askOwn(ctx context.Context, name string, args ...uint64) ([]uint64, error) {
	f := m.main.ExportedFunction(ownPrefix + name)
	if f == nil {
		return nil, fmt.Errorf("the instrumented module lacks the function %q", ownPrefix+name)
	}
	return f.Call(ctx, args...)
}

// Start runs the module's start function, if it has one. It must be called first, unless a snapshot is
// restored.
func (m *Machine) Start(ctx context.Context) error {
	if !m.prog.Layout.Start {
		return nil
	}
	_, err := m.run(ctx, m.main.ExportedFunction(ownPrefix+"start"), nil)
	return err
}

// Module is the guest's instance. Its functions must be called through the machine.
func (m *Machine) Module() api.Module { return m.main }

// Stats gives the counts so far; not while the guest runs.
func (m *Machine) Stats() Stats { return m.stats }

// Call runs an exported function to its end and gives its results, encoded as wazero does. If the guest is
// frozen it returns ErrFrozen: take a Snapshot, or go on with Resume.
func (m *Machine) Call(ctx context.Context, export string, args ...uint64) ([]uint64, error) {
	f := m.main.ExportedFunction(export)
	if f == nil {
		return nil, fmt.Errorf("the guest exports no function %q", export)
	}
	if len(m.frames) > 0 {
		return nil, errors.New("the guest is frozen in a call: resume it first")
	}
	return m.run(ctx, f, args)
}

// Resume runs a guest that was frozen to the end of the call that was frozen.
func (m *Machine) Resume(ctx context.Context) ([]uint64, error) {
	if len(m.frames) == 0 {
		return nil, errors.New("the guest is not frozen")
	}
	return m.run(ctx, nil, nil)
}

// run calls f, and as long as the guest comes back unwound, decides what to do with it. Without f it goes on where the
// guest is unwound.
func (m *Machine) run(ctx context.Context, f api.Function, args []uint64) ([]uint64, error) {
	defer func() { m.phase = phaseIdle; m.wentOn() }()
	defer context.AfterFunc(ctx, m.control.wake.Broadcast)() // a paused guest must notice too
	if f == nil {
		var err error
		if f, err = m.goOn(ctx); err != nil {
			return nil, err
		}
	}
	if m.phase == phaseIdle {
		m.phase = phaseRun
		m.grant()
	}
	for {
		results, err := f.Call(ctx, args...)
		m.settle()
		if err != nil {
			if m.phase == phaseRewind { // damaged frames can trap there
				m.mem.Write(0, m.borrow)
			}
			m.frames = nil
			if k := m.control.killed(); k != nil && !errors.Is(err, ErrKilled) {
				return nil, k
			}
			return nil, m.host.overflow(ctx, err)
		}
		if m.phase != phaseUnwind {
			return results, nil
		}
		if err := m.unwound(); err != nil {
			return nil, err
		}
		m.makeAhead(ctx)
		if again, err := m.stopped(ctx); err != nil || !again {
			return nil, m.halt(err)
		}
		if f, err = m.goOn(ctx); err != nil {
			return nil, err
		}
		args = nil
	}
}

// halt is what run returns when a guest that is unwound does not go on. One that was killed is no longer frozen.
func (m *Machine) halt(err error) error {
	if errors.Is(err, ErrKilled) {
		m.frames = nil
		return err
	}
	return errors.Join(err, ErrFrozen)
}

// WhenGoesOn has f called once, on the goroutine that runs the guest, when that goes on or its run ends: with how long
// it stood still, its stack taken apart and put together included. It may be called in a Checkpoint.
func (m *Machine) WhenGoesOn(f func(still time.Duration)) { m.goesOn = append(m.goesOn, f) }

func (m *Machine) wentOn() {
	for _, f := range m.goesOn {
		f(time.Since(m.since))
	}
	m.goesOn = nil
}

// Close ends the guest's instance and all that belongs to it.
func (m *Machine) Close(ctx context.Context) error {
	var errs []error
	if g := m.code.making; g != nil {
		g.wait()
		m.code.kept = append(m.code.kept, g.code...)
	}
	m.host.disown(m.mods)
	for k := len(m.mods) - 1; k >= 0; k-- {
		errs = append(errs, m.mods[k].Close(ctx))
	}
	for _, c := range m.code.kept {
		if c.compiled != nil { // making it failed
			errs = append(errs, c.compiled.Close(ctx))
		}
	}
	if m.cfg.Name == "" && len(m.mods) > 0 {
		m.host.release(m.name)
	}
	m.mods, m.code.kept = nil, nil
	return errors.Join(errs...)
}
