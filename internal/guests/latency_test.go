//go:build unix

package guests

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"godwit/sandbox"
	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// A stage is a runtime set up as a sandbox process sets up its own, in this
// process, where single steps can be timed.
type stage struct {
	ctx  context.Context
	rt   wazero.Runtime
	host *freeze.Host
	prog *freeze.Program
	code wazero.CompiledModule
	load time.Duration // to compile prog, or read it from the cache
}

// stageMemory is what a guest may have, and what is reserved for it.
const stageMemory = int(sandbox.DefaultMemory)

func newStage(b *testing.B, prog *freeze.Program, cache string) *stage {
	b.Helper()
	ctx := context.Background()
	s := &stage{ctx: experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(reserve)), prog: prog}
	c, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		b.Fatal(err)
	}
	s.rt = wazero.NewRuntimeWithConfig(ctx,
		wazero.NewRuntimeConfig().WithCompilationCache(c).WithMemoryCapacityFromMax(true).WithDebugInfoEnabled(false))
	if err := wasi.Instantiate(ctx, s.rt); err != nil {
		b.Fatal(err)
	}
	if s.host, err = freeze.NewHost(ctx, s.rt); err != nil {
		b.Fatal(err)
	}
	since := time.Now()
	if s.code, err = s.rt.CompileModule(ctx, prog.Wasm); err != nil {
		b.Fatal(err)
	}
	s.load = time.Since(since)
	return s
}

// reservation is memory that grows in place, and costs nothing before it is
// written to.
type reservation []byte

func reserve(_, _ uint64) experimental.LinearMemory {
	m, err := syscall.Mmap(-1, 0, stageMemory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return reservation(m)
}

func (r reservation) Reallocate(size uint64) []byte {
	if size > uint64(len(r)) {
		return nil
	}
	return r[:size:size]
}

func (r reservation) Free() {
	if err := syscall.Munmap(r); err != nil {
		panic(err)
	}
}

// begin makes a machine at a program's beginning.
func (s *stage) begin(b *testing.B, args []string) (*freeze.Machine, context.Context) {
	b.Helper()
	state := wasi.New("bench", append([]string{"task.wasm"}, args...), nil,
		wasi.Limits{Bytes: sandbox.DefaultFiles, Entries: sandbox.DefaultFileCount, Output: sandbox.DefaultOutput})
	ctx := wasi.With(s.ctx, state)
	m, err := s.host.Instantiate(ctx, s.prog, s.code, freeze.Config{})
	if err != nil {
		b.Fatal(err)
	}
	return m, ctx
}

func instrumented(b *testing.B, w worker) *freeze.Program {
	b.Helper()
	wasm, err := os.ReadFile(built(b, w.source, w.flags, false))
	if err != nil {
		b.Fatal(err)
	}
	prog, err := freeze.Instrument(wasm, freeze.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return prog
}

// BenchmarkStop measures from an order until the guest stands still with its
// stack taken apart, at random times.
func BenchmarkStop(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // as in a sandbox process
	for _, w := range workers {
		b.Run(w.name, func(b *testing.B) {
			s := newStage(b, instrumented(b, w), cacheDir("bench"))
			defer s.rt.Close(s.ctx)
			rng := rand.New(rand.NewPCG(1, 1))
			var m *freeze.Machine
			ended := make(chan error, 1)
			start := func() {
				var ctx context.Context
				m, ctx = s.begin(b, w.args)
				m := m
				go func() {
					_, err := m.Call(ctx, "_start")
					m.Close(ctx)
					ended <- err
				}()
			}
			var took []time.Duration
			start()
			for b.Loop() {
				for sampled := false; !sampled; {
					<-time.After(time.Duration(2+rng.IntN(12)) * time.Millisecond)
					stopped := make(chan time.Time, 1)
					asked := time.Now()
					m.Checkpoint(func(context.Context, *freeze.Machine) error { stopped <- time.Now(); return nil })
					select {
					case at := <-stopped:
						took = append(took, at.Sub(asked))
						sampled = true
					case <-ended: // of itself: begin again
						runtime.GC()
						start()
					}
				}
			}
			m.Kill("measured")
			<-ended
			reportQuantiles(b, took)
		})
	}
}

// BenchmarkThaw measures from a state at a random point until the guest has
// passed its first poll in a new runtime, whose cache has the instrumented
// module: once where the resume functions of that point are mostly not there
// yet, and once more where they are.
func BenchmarkThaw(b *testing.B) {
	for _, w := range workers {
		b.Run(w.name, func(b *testing.B) {
			prog := instrumented(b, w)
			cache := filepath.Join(b.TempDir(), "cache")
			newStage(b, prog, cache).rt.Close(context.Background())
			a := newStage(b, prog, filepath.Join(b.TempDir(), "other"))
			defer a.rt.Close(a.ctx)
			whole, ctx := a.begin(b, w.args)
			_, _ = whole.Call(ctx, "_start") // C programs exit, which is an error
			fuel := whole.Fuel()
			whole.Close(ctx)
			rng := rand.New(rand.NewPCG(1, 1))
			var first, again, load []time.Duration
			for b.Loop() {
				m, ctx := a.begin(b, w.args)
				m.FreezeAt(rng.Uint64N(fuel*9/10) + 1)
				if _, err := m.Call(ctx, "_start"); !errors.Is(err, freeze.ErrFrozen) {
					b.Fatal(err)
				}
				state, err := m.State(ctx)
				if err != nil {
					b.Fatal(err)
				}
				memory := slices.Clone(m.Memory())
				m.Close(ctx)
				for _, took := range []*[]time.Duration{&first, &again} {
					runtime.GC()
					s := newStage(b, prog, cache)
					load = append(load, s.load)
					*took = append(*took, s.thaw(b, ctx, state, memory))
					s.rt.Close(ctx)
				}
			}
			slices.Sort(again)
			slices.Sort(load)
			b.ReportMetric(milliseconds(again[len(again)/2]), "ms-again-p50")
			b.ReportMetric(milliseconds(load[len(load)/2]), "ms-load")
			reportQuantiles(b, first)
		})
	}
}

// thaw goes on from a state up to the guest's next poll. The context carries
// the guest's world.
func (s *stage) thaw(b *testing.B, ctx context.Context, state *freeze.State, memory []byte) time.Duration {
	b.Helper()
	since := time.Now()
	m, err := s.host.Restore(ctx, s.prog, s.code, freeze.Config{}, state,
		func(put func(uint64, []byte) error) error { return put(0, memory) })
	if err != nil {
		b.Fatal(err)
	}
	m.FreezeAt(state.Fuel + 1)
	if _, err := m.Resume(ctx); !errors.Is(err, freeze.ErrFrozen) {
		b.Fatal(err)
	}
	took := time.Since(since)
	m.Close(ctx)
	return took
}

// reportQuantiles sorts what it is given.
func reportQuantiles(b *testing.B, took []time.Duration) {
	b.ReportMetric(milliseconds(quantile(took, .5)), "ms-p50")
	b.ReportMetric(milliseconds(quantile(took, .99)), "ms-p99")
	b.ReportMetric(0, "ns/op")
}

// quantile is the smallest value that at least this share of them, above 0, is no more than. It
// sorts them.
func quantile(of []time.Duration, share float64) time.Duration {
	slices.Sort(of)
	return of[int(math.Ceil(share*float64(len(of))))-1]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// checkpoints runs testdata/bench/memory.c in a process of its own, and gives
// what each of its checkpoints cost.
func checkpoints(b *testing.B, memory int64, every time.Duration, args ...string) []sandbox.CheckpointStat {
	b.Helper()
	tk := newTask(b, "memory", built(b, filepath.Join(benchDir, "memory.c"), nil, false))
	tk.Args, tk.StateHash, tk.Pages, tk.Every, tk.Limits.Memory = args, false, &hashes{}, every, memory
	rep := run(b, warmPool(b), tk)
	if rep.Outcome != task.Completed || rep.NotFrozen != "" {
		b.Fatalf("%v: %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	return rep.Checkpoints
}

// hashes is a Store that forgets all but the names of blocks.
type hashes struct {
	m     sync.Map
	bytes atomic.Int64 // that were stored
}

func (s *hashes) Has(h [sha256.Size]byte) bool {
	_, ok := s.m.Load(h)
	return ok
}

func (s *hashes) Put(h [sha256.Size]byte, block []byte) error {
	s.m.Store(h, nil)
	s.bytes.Add(int64(len(block)))
	return nil
}

func (s *hashes) Get([sha256.Size]byte) ([]byte, error) { return nil, os.ErrNotExist }

// BenchmarkPause measures for how long checkpoints stop a guest of 64 MiB that
// goes on, and that changes 1 % of them all the time.
func BenchmarkPause(b *testing.B) {
	var first, later []time.Duration
	for b.Loop() {
		all := checkpoints(b, sandbox.DefaultMemory, 300*time.Millisecond, "64", "10", "2500000")
		full := stored(all, 64<<20)
		if full < 0 || len(all) < full+2 {
			b.Fatalf("it ended after %d checkpoints", len(all))
		}
		first = append(first, all[0].Pause)
		for _, c := range all[full+1:] {
			later = append(later, c.Pause)
		}
	}
	slices.Sort(first)
	b.ReportMetric(milliseconds(first[len(first)/2]), "ms-first")
	reportQuantiles(b, later)
}

// BenchmarkSecondCheckpoint touches 1 % of 512 MiB between two checkpoints.
func BenchmarkSecondCheckpoint(b *testing.B) {
	const size = 512 << 20
	var took []time.Duration
	worst := 0.0
	for b.Loop() {
		all := checkpoints(b, 1<<30, 2*time.Second, "512", "10", "800000")
		full := stored(all, size)
		if full < 0 || len(all) < full+2 {
			b.Fatalf("it ended after %d checkpoints", len(all))
		}
		for _, c := range all[full+1:] {
			took = append(took, c.Pause)
			worst = max(worst, float64(c.StoredBytes)/size)
		}
	}
	b.ReportMetric(worst*100, "%-stored")
	reportQuantiles(b, took)
}

// BenchmarkFirstCheckpoint measures for how long a guest stands still until its
// first states are taken, most of which is done before: one of 64 and 512 MiB that
// writes to 1 % of it all the time, and one that writes to each page.
func BenchmarkFirstCheckpoint(b *testing.B) {
	for _, c := range []struct {
		name     string
		size     int64
		permille string
	}{
		{"64MiB", 64 << 20, "10"},
		{"512MiB", 512 << 20, "10"},
		{"all-of-512MiB", 512 << 20, "1000"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				for _, s := range untilStored(b, c.size, c.permille) {
					took = append(took, s.Pause)
				}
			}
			reportQuantiles(b, took)
			b.ReportMetric(milliseconds(took[len(took)-1]), "ms-max")
		})
	}
}

// untilStored runs testdata/bench/memory.c until all of its noise is stored, and
// gives what the checkpoints cost.
func untilStored(b *testing.B, size int64, permille string) []sandbox.CheckpointStat {
	b.Helper()
	tk := newTask(b, "memory", built(b, filepath.Join(benchDir, "memory.c"), nil, false))
	store, enough := &hashes{}, make(chan struct{})
	tk.Args, tk.StateHash, tk.Limits.Memory = []string{fmt.Sprint(size >> 20), permille, "1000000000"}, false, 2*size
	tk.Pages, tk.Every, tk.Freeze = store, 3*time.Second, enough
	once := sync.OnceFunc(func() { close(enough) })
	tk.OnCheckpoint = func([]byte, uint64, time.Duration) {
		if store.bytes.Load() >= size {
			once()
		}
	}
	rep := run(b, warmPool(b), tk)
	if rep.Outcome != task.Interrupted || rep.NotFrozen != "" {
		b.Fatalf("%v: %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	return rep.Checkpoints[:len(rep.Checkpoints)-1]
}

// stored gives the first checkpoint after which all of a memory full of noise,
// which cannot be compressed, is stored; -1 if there is none.
func stored(all []sandbox.CheckpointStat, size int64) int {
	sum := int64(0)
	for i, c := range all {
		if sum += c.StoredBytes; sum >= size {
			return i
		}
	}
	return -1
}
