package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	decoder "godwit/sandbox/wasm"
)

// An engine holds one compiled module and runs its tasks, one after the other.
// It lives in the child.
type engine struct {
	engineKind
	mem     memories
	module  string // key of what is compiled; "" for nothing
	info    Info
	rt      wazero.Runtime
	host    *freeze.Host
	sum     [sha256.Size]byte // of the module as it came
	program *freeze.Program   // nil if it cannot be frozen
	refused error             // why
	traps   error             // why each instance of a module that cannot be frozen traps; nil if none does
	code    wazero.CompiledModule
}

// engineKind is what all modules of an engine share.
type engineKind struct {
	interpret bool       // nothing is compiled
	cache     *codeCache // nil where the engine takes none
	behind    wazero.CompilationCache
}

// newEngine returns an engine that compiles modules, or interprets them. One
// that takes no compiled code from outside costs time, not the task.
func newEngine(interpret bool) *engine {
	e := &engine{engineKind: engineKind{interpret: interpret}}
	if c, behind, err := newCodeCache(); err == nil && !interpret {
		e.cache, e.behind = c, behind
	}
	return e
}

// made is what a load came to that is to be kept for the next process; nil for
// what was there.
type made struct {
	verdict *verdict
	code    *code
}

// load instruments and compiles a module, with the help of what was kept of it,
// which may be empty. The error is about the module. One that cannot be frozen
// is compiled as it is.
func (e *engine) load(ctx context.Context, wasm []byte, l loading) (m made, err error) {
	info, err := check(wasm)
	if err != nil {
		return m, err
	}
	e.unload(ctx)
	e.info, e.sum = info, l.sum
	if m.verdict, err = e.instrument(ctx, wasm, l); err != nil {
		return m, err
	}
	e.cache.begin(parseCode(l.code))
	if err := e.open(ctx); err != nil {
		return m, err
	}
	if e.program != nil {
		wasm = e.program.Wasm
	} else if wasm, err = e.bare(wasm); err != nil {
		return m, invalid(Malformed, "", "%v", err)
	}
	if l.compilers > 1 && len(l.code) == 0 {
		ctx = experimental.WithCompilationWorkers(ctx, compilersFor(wasm, l.compilers))
	}
	if e.code, err = compile(ctx, e.rt, wasm); err != nil {
		return m, invalid(Malformed, "", "%v", err)
	}
	e.module = l.key
	m.code = e.cache.end()
	return m, nil
}

// bare prepares a module that cannot be frozen, as the pass does others, for what the engine gets wrong.
func (e *engine) bare(wasm []byte) ([]byte, error) {
	m, err := decoder.Decode(wasm)
	if err != nil {
		return nil, err
	}
	e.traps = m.CheckElements()
	return freeze.WithoutRemainders(wasm)
}

// loading says which module is loaded, and what was kept of it.
type loading struct {
	key           string
	sum           [sha256.Size]byte
	verdict, code []byte
	compilers     int // goroutines that may compile it
}

// instrument sets the program, or why there is none. It returns the verdict if
// that is new.
func (e *engine) instrument(ctx context.Context, wasm []byte, l loading) (fresh *verdict, err error) {
	v, err := parseVerdict(l.verdict)
	if err == nil {
		e.program, err = v.program(wasm)
	}
	if err != nil && !errors.Is(err, freeze.ErrRefused) { // what is kept is none, or of no use
		e.program, fresh, err = instrumented(ctx, wasm, freeze.Options{}, l.compilers)
	}
	if errors.Is(err, freeze.ErrRefused) {
		e.program, e.refused, err = nil, err, nil
	}
	return fresh, err
}

// open makes a runtime with all that modules import.
func (e *engine) open(ctx context.Context) (err error) {
	cfg := wazero.NewRuntimeConfig() // the compiler where there is one
	if e.interpret {
		cfg = wazero.NewRuntimeConfigInterpreter()
	} else if e.behind != nil {
		cfg = cfg.WithCompilationCache(e.behind)
	}
	e.rt = wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cfg))
	if err := wasi.Instantiate(ctx, e.rt); err != nil {
		return fmt.Errorf("offering WASI: %w", err)
	}
	e.host, err = freeze.NewHost(ctx, e.rt)
	return err
}

// runtimeConfig is what every runtime here has. The memory limit of a task is
// kept by memories, not by wazero, so that a refused growth is seen; the pages
// that wazero allows are the most that 32 bits can address. Closing on
// context end is off: it makes guests 5 to 16 times slower.
func runtimeConfig(cfg wazero.RuntimeConfig) wazero.RuntimeConfig {
	return cfg.WithMemoryCapacityFromMax(true).WithDebugInfoEnabled(false)
}

func (e *engine) unload(ctx context.Context) {
	if e.rt != nil {
		e.rt.Close(ctx)
	}
	*e = engine{engineKind: e.engineKind, mem: e.mem}
}

// prepare makes ready for a task that may have so much memory. The context
// that it returns is for all calls of the guest; refusal says why the task
// cannot begin.
func (e *engine) prepare(ctx context.Context, s *wasi.State, limit int64) (guests context.Context, refusal *ending,
	err error) {
	if need := e.info.MemoryMin; need > limit {
		return ctx, &ending{refused: true, err: fmt.Errorf("no start: it begins with %d bytes, the job allows %d", need,
			limit)}, nil
	}
	if err := e.mem.begin(limit); err != nil {
		return ctx, nil, err
	}
	return wasi.With(experimental.WithMemoryAllocator(ctx, &e.mem), s), nil, nil
}

// plain runs a module that cannot be frozen from a fresh instance, which is
// gone afterwards.
func (e *engine) plain(ctx context.Context) error {
	if e.traps != nil {
		return e.traps
	}
	mod, err := e.rt.InstantiateModule(ctx, e.code, instanceConfig().WithName("").WithStartFunctions())
	if err != nil {
		return err
	}
	defer mod.Close(ctx)
	_, err = mod.ExportedFunction(startFunction).Call(ctx)
	return err
}

// instanceConfig gives an instance nothing of the host.
func instanceConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithStdin(noInput{}).WithStdout(io.Discard).WithStderr(io.Discard).
		WithRandSource(noInput{})
}

// noInput stands in for wazero's own standard input, and for its random numbers: nothing reads them, and to seed
// those took as long as the rest of an instance.
type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }
