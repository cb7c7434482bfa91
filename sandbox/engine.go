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
)

// An engine holds one compiled module and runs its tasks, one after the other.
// It lives in the child.
type engine struct {
	cache   wazero.CompilationCache // nil for none
	dir     string                  // of instrumented modules; "" for none
	mem     memories
	module  string // key of what is compiled; "" for nothing
	info    Info
	rt      wazero.Runtime
	host    *freeze.Host
	sum     [sha256.Size]byte // of the module as it came
	program *freeze.Program   // nil if it cannot be frozen
	refused error             // why
	code    wazero.CompiledModule
}

// newEngine keeps compiled code in cacheDir, which may be "". A cache that
// cannot be opened costs time, not the task.
func newEngine(cacheDir string) *engine {
	e := &engine{dir: cacheDir}
	if cacheDir != "" {
		if c, err := wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			e.cache = c
		}
	}
	return e
}

// load instruments and compiles a module, unless it is the one already loaded.
// The error is about the module. One that cannot be frozen is compiled as it is.
func (e *engine) load(ctx context.Context, key string, wasm []byte) error {
	info, err := check(wasm)
	if err != nil {
		return err
	}
	e.unload(ctx)
	e.info, e.sum = info, sha256.Sum256(wasm)
	if err := e.open(ctx); err != nil {
		return err
	}
	e.program, err = instrumented(ctx, e.dir, wasm, e.sum, freeze.Options{})
	switch {
	case err == nil:
		wasm = e.program.Wasm
	case errors.Is(err, freeze.ErrRefused):
		e.program, e.refused = nil, err
	default:
		return err
	}
	if e.code, err = e.rt.CompileModule(ctx, wasm); err != nil {
		return invalid(Malformed, "", "%v", err)
	}
	e.module = key
	return nil
}

// open makes a runtime with all that modules import.
func (e *engine) open(ctx context.Context) (err error) {
	cfg := wazero.NewRuntimeConfig() // the compiler where there is one
	if e.cache != nil {
		cfg = cfg.WithCompilationCache(e.cache)
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
	*e = engine{cache: e.cache, dir: e.dir, mem: e.mem}
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
	return wazero.NewModuleConfig().WithStdin(noInput{}).WithStdout(io.Discard).WithStderr(io.Discard)
}

// noInput stands in for wazero's own standard input, which nothing reads.
type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }
