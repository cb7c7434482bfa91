//go:build unix

package guests

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// A worker is a program that BenchmarkOverhead runs, for some tenths of a
// second, at full load.
type worker struct {
	name   string // language/what
	source string
	flags  []string // of clang, where it builds for WebAssembly
	args   []string
}

// benchDir has the guests that are there only to be measured.
var benchDir = filepath.Join("testdata", "bench")

// freezeDir has the guests of package freeze, which do as well.
var freezeDir = filepath.Join("..", "..", "sandbox", "freeze", "testdata", "guests")

var workers = []worker{
	{"c/queens", filepath.Join(freezeDir, "nqueens.c"), nil, []string{"14"}},
	{"c/matrix", filepath.Join(freezeDir, "matmul.c"), nil, []string{"300", "20"}},
	{"c/sha256", filepath.Join(freezeDir, "sha256.c"), nil, []string{"600000"}},
	{"c/qsort+printf", filepath.Join(freezeDir, "mixed.c"), nil, []string{"20000", "20"}},
	{"c/vectors", filepath.Join(benchDir, "vectors.c"), []string{"-msimd128"}, []string{"25000"}},
	{"go/json", filepath.Join(benchDir, "main.go"), nil, []string{"documents", "200"}},
	{"go/sort", filepath.Join(benchDir, "main.go"), nil, []string{"sorted", "300000"}},
	{"go/sha256", filepath.Join(benchDir, "main.go"), nil, []string{"hashed", "2500"}},
	{"go/regexp+map+gc", filepath.Join(benchDir, "main.go"), nil, []string{"words", "250"}},
	{"go/big+float", filepath.Join(benchDir, "main.go"), nil, []string{"numbers", "60000"}},
}

var benchBuilds sync.Map // command line to func() (string, error)

// built compiles a guest, for this machine or for WASI, once per process, and
// gives its file.
func built(b testing.TB, source string, flags []string, native bool) string {
	b.Helper()
	f, _ := benchBuilds.LoadOrStore(fmt.Sprint(source, flags, native), sync.OnceValues(func() (string, error) {
		return compileGuest(source, flags, native)
	}))
	out, err := f.(func() (string, error))()
	if errors.Is(err, exec.ErrNotFound) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func compileGuest(source string, flags []string, native bool) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	kind := ".wasm"
	if native {
		kind = ".native"
	}
	out := filepath.Join(dir, filepath.Base(source)+kind)
	var cmd *exec.Cmd
	switch {
	case filepath.Ext(source) == ".go":
		cmd = exec.Command("go", "build", "-ldflags=-s -w", "-o", out, source)
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
		if !native {
			cmd.Env = append(cmd.Env, "GOOS=wasip1", "GOARCH=wasm")
		}
	case native:
		cmd = exec.Command("clang", "-O2", "-o", out, source, "-lm")
	default:
		cmd = exec.Command("clang", append([]string{"-O2", "--target=wasm32-wasi", "-o", out, source}, flags...)...)
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", source, err, msg)
	}
	return out, nil
}

// BenchmarkOverhead runs each guest natively, on wazero alone, and in the
// sandbox, in turns, and compares the CPU time (of user and system) of the
// quickest runs: whatever else the machine does only adds to it. It should run
// at the priority that the sandbox gives itself, or the three do not see the
// same machine: see scripts/bench.
func BenchmarkOverhead(b *testing.B) {
	for _, w := range workers {
		b.Run(w.name, func(b *testing.B) {
			module := built(b, w.source, w.flags, false)
			contest := []struct {
				run  func() (time.Duration, [32]byte)
				best time.Duration
			}{
				{run: nativeRun(b, built(b, w.source, w.flags, true), w.args)},
				{run: plainRun(b, module, w.args)},
				{run: sandboxRun(b, module, w.args)},
			}
			for n := 0; b.Loop(); n++ {
				var said [3][32]byte
				for i := range contest {
					k := (i + n) % len(contest) // none is always after the same
					took, out := contest[k].run()
					said[k] = out
					if best := &contest[k].best; *best == 0 || took < *best {
						*best = took
					}
				}
				if said[1] != said[2] {
					b.Fatal("the sandbox's output differs from that of wazero alone")
				}
			}
			native, plain, ours := contest[0].best.Seconds(), contest[1].best.Seconds(), contest[2].best.Seconds()
			b.ReportMetric(ours/plain, "x-plain")
			b.ReportMetric(plain/native, "plain-x-native")
			b.ReportMetric(native, "s-native")
			b.ReportMetric(plain, "s-plain")
			b.ReportMetric(ours, "s-ours")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// nativeRun returns what runs a program of this machine, and gives its CPU
// time and the hash of its output.
func nativeRun(b *testing.B, path string, args []string) func() (time.Duration, [32]byte) {
	return func() (time.Duration, [32]byte) {
		cmd := exec.Command(path, args...)
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), sha256.Sum256(out)
	}
}

// sandboxRun keeps a pool with one warm child.
func sandboxRun(b *testing.B, module string, args []string) func() (time.Duration, [32]byte) {
	pool := warmPool(b)
	tk := newTask(b, "bench", module)
	tk.Args, tk.StateHash = args, false
	do := func() (time.Duration, [32]byte) {
		rep := run(b, pool, tk)
		if rep.Outcome != task.Completed {
			b.Fatalf("%v: %s", rep.Outcome, rep.Message)
		}
		for _, f := range rep.Outputs {
			if f.Name == task.Stdout {
				return rep.CPU, sha256.Sum256(f.Data)
			}
		}
		return rep.CPU, sha256.Sum256(nil)
	}
	do() // compiles
	return do
}

// warmPool keeps its children, as a node's does.
func warmPool(b testing.TB) *sandbox.Pool {
	b.Helper()
	child, err := buildChild()
	if err != nil {
		b.Fatal(err)
	}
	p := sandbox.NewPool(sandbox.Config{Command: []string{child, "sandbox"}, CacheDir: cacheDir("bench"),
		KeepPriority: func() bool { return true }})
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	return p
}

// processTime is what this process has used so far.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
