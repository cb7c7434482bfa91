package sandbox

import (
	"context"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"godwit/sandbox/wasi"
)

// An engine holds one compiled module and runs its tasks, one after the other.
// It lives in the child.
type engine struct {
	cache  wazero.CompilationCache // nil for none
	mem    memories
	module string // key of what is compiled; "" for nothing
	info   Info
	rt     wazero.Runtime
	code   wazero.CompiledModule
}

// newEngine keeps compiled code in cacheDir, which may be "". A cache that
// cannot be opened costs time, not the task.
func newEngine(cacheDir string) *engine {
	e := &engine{}
	if cacheDir != "" {
		if c, err := wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			e.cache = c
		}
	}
	return e
}

// load compiles a module, unless it is the one already loaded. The error is
// about the module.
func (e *engine) load(ctx context.Context, key string, wasm []byte) error {
	info, err := check(wasm)
	if err != nil {
		return err
	}
	e.unload(ctx)
	cfg := wazero.NewRuntimeConfig() // the compiler where there is one
	if e.cache != nil {
		cfg = cfg.WithCompilationCache(e.cache)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cfg))
	if err := wasi.Instantiate(ctx, rt); err != nil {
		return fmt.Errorf("offering WASI: %w", err)
	}
	code, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		rt.Close(ctx)
		return invalid(Malformed, "", "%v", err)
	}
	e.module, e.info, e.rt, e.code = key, info, rt, code
	return nil
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
	e.module, e.rt, e.code, e.info = "", nil, nil, Info{}
}

// run runs the loaded module on s from a fresh instance, and returns how it
// ended and its size of memory at the end. Host errors come as error.
func (e *engine) run(ctx context.Context, s *wasi.State, limit int64) (ending, int64, error) {
	if need := e.info.MemoryMin; need > limit {
		return ending{refused: true, err: fmt.Errorf("no start: it begins with %d bytes, the job allows %d", need, limit)}, 0, nil
	}
	if err := e.mem.begin(limit); err != nil {
		return ending{}, 0, err
	}
	ctx = wasi.With(experimental.WithMemoryAllocator(ctx, &e.mem), s)
	err := e.call(ctx)
	return ending{err: err, refused: e.mem.refused}, int64(e.mem.size), nil
}

// call instantiates and starts the guest. The instance is gone afterwards.
func (e *engine) call(ctx context.Context) (err error) {
	defer e.mem.Free() // for an instance that never came to be
	mod, err := e.rt.InstantiateModule(ctx, e.code, wazero.NewModuleConfig().
		WithName("").WithStartFunctions().
		WithStdin(noInput{}).WithStdout(io.Discard).WithStderr(io.Discard))
	if err != nil {
		return err
	}
	defer mod.Close(ctx)
	_, err = mod.ExportedFunction(startFunction).Call(ctx)
	return err
}

// noInput stands in for wazero's own standard input, which nothing reads.
type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }
