//go:build unix

package guests

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	wsys "github.com/tetratelabs/wazero/sys"

	"godwit/sandbox"
	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
)

// A machineJob is one run of a module by a machine of package freeze, in a
// process of its own: tortured runs keep much memory, and a crash is theirs.
type machineJob struct {
	guestJob
	Every     int // unwinds at each so many polls; 0 none
	Most      int // but not more often; 0 no limit
	Interpret bool
	Cache     string // of compiled code
}

// A machineEnd is what such a run came to.
type machineEnd struct {
	Outputs  map[string]string // digests, by name
	Fuel     uint64
	State    string // the hash that the sandbox would report
	Polls    int
	Unwinds  int
	Size     int           // bytes of the instrumented module
	Prepare  time.Duration // instrumenting, checking and compiling it
	Refused  string        // why the module cannot be frozen
	Failed   string        // how it ended, if not well
	MaxBytes int64         // resident, at most
}

const machineVerb = "corpus-machine"

func init() {
	if len(os.Args) > 1 && os.Args[1] == machineVerb {
		var job machineJob
		err := json.NewDecoder(os.Stdin).Decode(&job)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(job.run(context.Background()))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// machine runs a job in such a process.
func machine(t *testing.T, job machineJob) machineEnd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, machineVerb)
	var words strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), &words
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("a machine that unwinds at each %d polls: %v: %s", job.Every, err, clipped(words.String()))
		return machineEnd{Failed: err.Error()}
	}
	var end machineEnd
	if err := json.Unmarshal(out, &end); err != nil {
		t.Fatal(err)
	}
	return end
}

// run is what the process does.
func (j *machineJob) run(ctx context.Context) (end machineEnd) {
	code, err := os.ReadFile(j.Module)
	if err != nil {
		end.Failed = err.Error()
		return end
	}
	began := time.Now()
	prog, err := freeze.Instrument(code, freeze.Options{})
	if err != nil {
		end.Refused = err.Error()
		return end
	}
	end.Size = len(prog.Wasm)
	state, err := j.world()
	if err != nil {
		end.Failed = err.Error()
		return end
	}
	var limit limited
	reserve := func(least, most uint64) experimental.LinearMemory {
		limit.LinearMemory = j.reserve(least, most)
		return &limit
	}
	ctx = wasi.With(experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(reserve)), state)
	if err := j.play(ctx, prog, sha256.Sum256(code), state, &limit, began, &end); err != nil {
		end.Failed = err.Error()
	}
	end.Outputs = map[string]string{"stdout": digest(state.Stdout()), "stderr": digest(state.Stderr())}
	state.Written(func(name string, data []byte) { end.Outputs[name] = digest(data) })
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		end.MaxBytes = u.Maxrss << 10
	}
	return end
}

// world makes the state that the sandbox would begin with.
func (j *machineJob) world() (*wasi.State, error) {
	var env []string
	for _, e := range j.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	limits := wasi.Limits{Bytes: sandbox.DefaultFiles, Entries: sandbox.DefaultFileCount, Output: sandbox.DefaultOutput}
	s := wasi.New(j.Name, append([]string{programName}, j.Args...), env, limits)
	for _, f := range j.Files {
		b, err := os.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		if err := s.AddInput(f.Name, b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// play runs the guest to its end.
func (j *machineJob) play(ctx context.Context, prog *freeze.Program, module [sha256.Size]byte, state *wasi.State,
	limit *limited, began time.Time, end *machineEnd) error {
	cfg := wazero.NewRuntimeConfig()
	if j.Interpret {
		cfg = wazero.NewRuntimeConfigInterpreter()
	}
	if j.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(j.Cache)
		if err != nil {
			return err
		}
		cfg = cfg.WithCompilationCache(cache)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, cfg.WithMemoryCapacityFromMax(true).WithDebugInfoEnabled(false))
	defer rt.Close(ctx)
	if err := wasi.Instantiate(ctx, rt); err != nil {
		return err
	}
	host, err := freeze.NewHost(ctx, rt)
	if err != nil {
		return err
	}
	compiled, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		return err
	}
	end.Prepare = time.Since(began)
	begins, err := state.Digest()
	if err != nil {
		return err
	}
	m, err := host.Instantiate(ctx, prog, compiled, freeze.Config{TortureEvery: j.Every, TortureMost: j.Most})
	if err != nil {
		return err
	}
	defer m.Close(ctx)
	if err = m.Start(ctx); err == nil {
		_, err = m.Call(ctx, "_start")
	}
	end.Fuel, end.Polls, end.Unwinds = m.Fuel(), m.Stats().Yields, m.Stats().Unwinds
	var exit *wsys.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 0) {
		return err
	}
	return end.hash(ctx, m, prog, module, begins, state, limit.refused)
}

// hash is that of the whole state, as the sandbox has it.
func (end *machineEnd) hash(ctx context.Context, m *freeze.Machine, prog *freeze.Program, module,
	begins [sha256.Size]byte, state *wasi.State, marks uint64) error {
	forget := func([sha256.Size]byte, []byte) error { return nil }
	s, err := m.State(ctx)
	if err != nil {
		return err
	}
	system, err := state.Save(begins, marks, forget)
	if err != nil {
		return err
	}
	rec := freeze.Recorder{Module: module}
	man, err := rec.Record(s, m.Memory(), system, prog.Layout.Options.KeepNaNs, forget)
	if err != nil {
		return err
	}
	h, err := man.Hash()
	end.State = fmt.Sprintf("%x", h)
	return err
}

// limited is memory that notes whether the guest was refused any: the sandbox keeps that
// mark with the state.
type limited struct {
	experimental.LinearMemory
	refused uint64 // 1 if it was
}

func (l *limited) Reallocate(size uint64) []byte {
	b := l.LinearMemory.Reallocate(size)
	if b == nil {
		l.refused = 1
	}
	return b
}

// reserve gives a guest all the address space it may use, so that its memory never moves.
func (j *guestJob) reserve(_, _ uint64) experimental.LinearMemory {
	limit := j.Memory
	if limit <= 0 {
		limit = sandbox.DefaultMemory
	}
	b, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return reservation(b)
}
