package freeze_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"godwit/sandbox/freeze"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	wsys "github.com/tetratelabs/wazero/sys"
)

// guest is a program to be frozen: small arguments for tests, large ones for benchmarks.
type guest struct {
	name, source string
	args, large  []string
}

var guests = []guest{
	{"c-nqueens", "nqueens.c", []string{"7"}, []string{"13"}},
	{"c-primes", "primes.c", []string{"3000"}, []string{"2000000"}},
	{"c-matmul", "matmul.c", []string{"24", "2"}, []string{"300", "6"}},
	{"c-sha256", "sha256.c", []string{"40"}, []string{"400000"}},
	{"c-mixed", "mixed.c", []string{"100", "2"}, []string{"20000", "14"}},
	{"go-nqueens", "go", []string{"nqueens", "6"}, []string{"nqueens", "13"}},
	{"go-primes", "go", []string{"primes", "1000"}, []string{"primes", "1500000"}},
	{"go-matmul", "go", []string{"matmul", "12", "2"}, []string{"matmul", "300", "4"}},
	{"go-sha256", "go", []string{"sha256", "50"}, []string{"sha256", "300000"}},
	{"go-mixed", "go", []string{"mixed", "60"}, []string{"mixed", "100000"}},
}

var builds sync.Map // source to func() ([]byte, error)

// build compiles a guest's source, once per test binary.
func build(t testing.TB, source string) []byte {
	t.Helper()
	f, _ := builds.LoadOrStore(source, sync.OnceValues(func() ([]byte, error) { return compile(source) }))
	b, err := f.(func() ([]byte, error))()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compile(source string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	path := filepath.Join("testdata", "guests", source)
	cmd := exec.Command("clang", "-O2", "--target=wasm32-wasi", "-o", out, path)
	if source == "go" {
		cmd = exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "main.go")
		cmd.Dir = path
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", source, err, msg)
	}
	return os.ReadFile(out)
}

// world is what a guest sees of the outside, the same in every run and across hops.
type world struct {
	out   bytes.Buffer
	clock int64
	rand  *rand.ChaCha8
}

func newWorld() *world { return &world{rand: rand.NewChaCha8([32]byte{1})} }

func (w *world) config(args []string) wazero.ModuleConfig {
	tick := func() int64 { w.clock += 1000; return w.clock }
	return wazero.NewModuleConfig().WithArgs(append([]string{"guest"}, args...)...).WithStdout(&w.out).WithStderr(&w.out).
		WithRandSource(io.Reader(w.rand)).WithNanotime(tick, wsys.ClockResolution(1)).
		WithWalltime(func() (int64, int32) { tick(); return w.clock / 1e9, int32(w.clock % 1e9) }, wsys.ClockResolution(1))
}

// compiled keeps machine code between runtimes, as a node does on disk.
var compiled = wazero.NewCompilationCache()

func guestRuntime(t testing.TB) (wazero.Runtime, *freeze.Host) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(compiled))
	t.Cleanup(func() { rt.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	h, err := freeze.NewHost(ctx, rt)
	if err != nil {
		t.Fatal(err)
	}
	return rt, h
}

func exitOK(err error) bool {
	var e *wsys.ExitError
	return err == nil || errors.As(err, &e) && e.ExitCode() == 0
}

// finished is how a run ended.
type finished struct {
	out    string
	memory [32]byte
	fuel   uint64
	stats  freeze.Stats
}

func runPlain(t testing.TB, b []byte, args []string) finished {
	ctx := context.Background()
	rt, _ := guestRuntime(t)
	w := newWorld()
	mod, err := rt.InstantiateWithConfig(ctx, b, w.config(args).WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	mem := mod.Memory()
	if _, err := mod.ExportedFunction("_start").Call(ctx); !exitOK(err) {
		t.Fatal(err)
	}
	return finished{out: w.out.String(), memory: hashMemory(mem.Read(0, mem.Size()))}
}

func hashMemory(b []byte, _ bool) [32]byte { return sha256.Sum256(b) }

// runFrozen runs an instrumented guest, hopping to a new runtime each time it has used up the next of the hops,
// in units of fuel.
func runFrozen(t testing.TB, prog *freeze.Program, args []string, cfg freeze.Config, hops []uint64) finished {
	ctx := context.Background()
	w := newWorld()
	cfg.Module = w.config(args)
	var m *freeze.Machine
	var stats freeze.Stats
	run := func() error { _, err := m.Call(ctx, "_start"); return err }
	var state *freeze.State
	var memory []byte
	for {
		rt, host := guestRuntime(t)
		compiled, err := rt.CompileModule(ctx, prog.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		if state == nil {
			m, err = host.Instantiate(ctx, prog, compiled, cfg)
		} else {
			m, err = host.Restore(ctx, prog, compiled, cfg, state,
				func(put func(uint64, []byte) error) error { return put(0, memory) })
			run = func() error { _, err := m.Resume(ctx); return err }
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(hops) > 0 {
			m.FreezeAt(hops[0])
			hops = hops[1:]
		}
		err = run()
		stats.Yields += m.Stats().Yields
		stats.Unwinds += m.Stats().Unwinds
		stats.Resumes += m.Stats().Resumes
		if !errors.Is(err, freeze.ErrFrozen) {
			if !exitOK(err) {
				t.Fatal(err)
			}
			return finished{w.out.String(), hashMemory(m.Memory(), true), m.Fuel(), stats}
		}
		if state, err = m.State(ctx); err != nil {
			t.Fatal(err)
		}
		memory = bytes.Clone(m.Memory())
		m.Close(ctx)
		rt.Close(ctx)
	}
}

func instrument(t testing.TB, b []byte) *freeze.Program {
	prog, err := freeze.Instrument(b, freeze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

func TestGuestsSurvive(t *testing.T) {
	for _, g := range guests {
		t.Run(g.name, func(t *testing.T) {
			b := build(t, g.source)
			plain := runPlain(t, b, g.args)
			prog := instrument(t, b)
			once := runFrozen(t, prog, g.args, freeze.Config{}, nil)
			if once.out != plain.out || once.memory != plain.memory {
				t.Fatalf("instrumented:\n%s\nplain:\n%s\nsame memory: %t", once.out, plain.out, once.memory == plain.memory)
			}
			var hops []uint64
			for k := range uint64(20) {
				hops = append(hops, once.fuel/21*(k+1))
			}
			if g.source == "go" && testing.Short() {
				hops = hops[:2]
			}
			for _, c := range []struct {
				name string
				cfg  freeze.Config
				hops []uint64
			}{
				{"torture", freeze.Config{TortureEvery: 3, TortureMost: 10_000}, nil},
				{"hops", freeze.Config{}, hops},
			} {
				got := runFrozen(t, prog, g.args, c.cfg, c.hops)
				if got.out != plain.out || got.memory != plain.memory || got.fuel != once.fuel {
					t.Fatalf("%s: output %q, want %q; same memory: %t; fuel %d, want %d", c.name, got.out, plain.out,
						got.memory == plain.memory, got.fuel, once.fuel)
				}
				t.Logf("%s: %d unwinds, %d resume functions, fuel %d", c.name, got.stats.Unwinds, got.stats.Resumes, got.fuel)
			}
		})
	}
}

// BenchmarkGuests compares plain wazero with instrumented modules, without compilation. They take turns, and what is
// compared is the processor time of this process, so that it can be measured beside other work: ratio is that of the
// best turns, ratio-median the median of those of two turns one after the other.
func BenchmarkGuests(b *testing.B) {
	for _, g := range guests {
		b.Run(g.name, func(b *testing.B) {
			plain, ours := newTurns(b, g)
			var took [2][]time.Duration
			var ratios []float64
			for b.Loop() {
				var now [2]time.Duration
				for k, run := range []func(){plain, ours} {
					since := processTime()
					run()
					now[k] = processTime() - since
					took[k] = append(took[k], now[k])
				}
				ratios = append(ratios, now[1].Seconds()/now[0].Seconds())
			}
			slices.Sort(ratios)
			b.ReportMetric(slices.Min(took[0]).Seconds()*1000, "ms-plain")
			b.ReportMetric(slices.Min(took[1]).Seconds()*1000, "ms-ours")
			b.ReportMetric(slices.Min(took[1]).Seconds()/slices.Min(took[0]).Seconds(), "ratio")
			b.ReportMetric(ratios[len(ratios)/2], "ratio-median")
		})
	}
}

// newTurns gives what runs a guest once as it is, and once instrumented.
func newTurns(b *testing.B, g guest) (plain, ours func()) {
	ctx := context.Background()
	code := build(b, g.source)
	prog := instrument(b, code)
	rt, host := guestRuntime(b)
	compile := func(code []byte) wazero.CompiledModule {
		c, err := rt.CompileModule(ctx, code)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	original, instrumented := compile(code), compile(prog.Wasm)
	check := func(err error) {
		if !exitOK(err) {
			b.Fatal(err)
		}
	}
	plain = func() {
		mod, err := rt.InstantiateModule(ctx, original, newWorld().config(g.large).WithStartFunctions())
		check(err)
		_, err = mod.ExportedFunction("_start").Call(ctx)
		check(err)
		mod.Close(ctx)
	}
	ours = func() {
		m, err := host.Instantiate(ctx, prog, instrumented, freeze.Config{Module: newWorld().config(g.large)})
		check(err)
		_, err = m.Call(ctx, "_start")
		check(err)
		m.Close(ctx)
	}
	return plain, ours
}
