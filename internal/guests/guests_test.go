package guests

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

const (
	// wantHops is how often each guest has to move.
	wantHops = 20
	// spareHops are tried beyond it: two points between the same two polls
	// make one hop.
	spareHops = 3
	// wallLimit is far more than any guest needs, also under emulation.
	wallLimit = 20 * time.Minute
)

// chosen reports whether a guest is to run: if GODWIT_GUESTS names it, or, as
// one of the sample, if that is not set.
func chosen(name string, sample bool) bool {
	names, set := os.LookupEnv("GODWIT_GUESTS")
	return names == "all" || slices.Contains(strings.Split(names, ","), name) || !set && sample
}

// TestChosenGuestsExist: a misspelt name must not look like a success.
func TestChosenGuestsExist(t *testing.T) {
	known := []string{"all"}
	for _, p := range stdPackages {
		known = append(known, p.name)
	}
	for _, c := range cPrograms {
		known = append(known, c.name)
	}
	for name := range strings.SplitSeq(os.Getenv("GODWIT_GUESTS"), ",") {
		if name != "" && !slices.Contains(known, name) {
			t.Errorf("GODWIT_GUESTS names %q, which is none of %s", name, strings.Join(known, " "))
		}
	}
}

var buildDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "godwit-guests") })

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := buildDir(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// buildChild builds the program that runs tasks.
var buildChild = sync.OnceValues(func() (string, error) {
	return crossBuild(runtime.GOARCH)
})

// crossBuild builds it for an architecture of this system.
func crossBuild(arch string) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "child-"+arch)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", out, "./child")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the child for %s: %w: %s", arch, err, msg)
	}
	return out, nil
}

// cacheDir is kept between runs. Engines do not share compiled code, so each
// name has its own.
func cacheDir(name string) string { return filepath.Join(os.TempDir(), "godwit-guests-cache", name) }

// newPool returns a pool that starts a process of its own for every run.
func newPool(t *testing.T, name string, command ...string) *sandbox.Pool {
	t.Helper()
	p := sandbox.NewPool(sandbox.Config{
		Command:      command,
		CacheDir:     cacheDir(name),
		MaxIdle:      -1,
		HostBytes:    1 << 40, // an emulator maps far more than it uses
		KeepPriority: func() bool { return true },
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func hostPool(t *testing.T) *sandbox.Pool {
	t.Helper()
	child, err := buildChild()
	if err != nil {
		t.Fatal(err)
	}
	return newPool(t, runtime.GOARCH, child, "sandbox")
}

func newTask(t testing.TB, name, path string) sandbox.Task {
	t.Helper()
	wasm, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(wasm)
	return sandbox.Task{
		Name: "guests/" + name, Module: hex.EncodeToString(sum[:]), ModulePath: path,
		Outputs: []string{"stdout", "stderr", "*", "*/*"}, StateHash: true,
		Limits: sandbox.Limits{Wall: wallLimit},
	}
}

func run(t testing.TB, p *sandbox.Pool, tk sandbox.Task) sandbox.Report {
	t.Helper()
	rep, err := p.Run(t.Context(), tk)
	if err != nil {
		t.Fatalf("Run(%s) = %v", tk.Name, err)
	}
	return rep
}

// undisturbed runs a guest that has to succeed.
func undisturbed(t *testing.T, p *sandbox.Pool, tk sandbox.Task) sandbox.Report {
	t.Helper()
	rep := run(t, p, tk)
	if rep.Outcome != task.Completed || rep.Fuel == 0 || rep.StateHash == [32]byte{} {
		t.Fatalf("undisturbed: %v %d %s, fuel %d, state %x\n%s", rep.Outcome, rep.ExitCode, rep.Message, rep.Fuel,
			rep.StateHash[:4], tail(rep))
	}
	return rep
}

// tail shows the end of what a guest printed.
func tail(rep sandbox.Report) string {
	var s strings.Builder
	for _, f := range rep.Outputs {
		if f.Name == "stdout" || f.Name == "stderr" {
			fmt.Fprintf(&s, "%s: %s\n", f.Name, f.Data[max(0, len(f.Data)-2000):])
		}
	}
	return s.String()
}

// A journey is a run that was frozen and went on elsewhere.
type journey struct {
	last   sandbox.Report
	hops   int
	stored int64 // bytes of blocks at the end
	state  int64 // bytes of the largest checkpoint, uncompressed
	pause  time.Duration
	took   time.Duration
}

// points spreads freezes over a run: at random, one in each equal part of it,
// and none where what is left may hold no poll. The name is the seed, and
// GODWIT_GUESTS_SEED makes it another one.
func points(name string, fuel uint64) []uint64 { return spread(name, fuel, wantHops+spareHops) }

// spread gives so many points.
func spread(name string, fuel uint64, points int) []uint64 {
	sum := sha256.Sum256([]byte(os.Getenv("GODWIT_GUESTS_SEED") + name))
	rng := rand.New(rand.NewChaCha8(sum))
	n := uint64(points)
	at := make([]uint64, n)
	for i := range at {
		at[i] = fuel*uint64(i)/(n+1) + rng.Uint64N(max(fuel/(n+1), 1)) + 1
	}
	return at
}

// travel runs a task to its end, and freezes it at each of the points; stop i
// runs on pool i, and round again. A pool whose engine cannot hold the task's
// stack is passed over.
func travel(t *testing.T, pools []*sandbox.Pool, tk sandbox.Task, at []uint64) journey {
	t.Helper()
	blocks := &sandbox.MemoryStore{}
	tk.Pages = blocks
	var j journey
	began := time.Now()
	stop, refused := 0, 0
	for {
		tk.FreezeAtFuel = 0
		if len(at) > 0 {
			tk.FreezeAtFuel = at[0]
		}
		rep, err := pools[stop%len(pools)].Run(t.Context(), tk)
		stop++
		if errors.Is(err, sandbox.ErrTooDeep) && refused < len(pools)-1 {
			refused++ // not this machine's kind of task: the next one goes on from the same checkpoint
			continue
		}
		if err != nil {
			t.Fatalf("Run(%s) on pool %d = %v", tk.Name, (stop-1)%len(pools), err)
		}
		refused = 0
		if rep.NotFrozen != "" {
			t.Errorf("hop %d: not frozen: %s", j.hops+1, rep.NotFrozen)
		}
		if rep.Outcome != task.Interrupted {
			j.last, j.took, j.stored = rep, time.Since(began), blocks.Bytes()
			return j
		}
		j.hops++
		tk.From = rep.Frozen
		c := rep.Checkpoints[len(rep.Checkpoints)-1]
		j.state, j.pause = max(j.state, c.Bytes), max(j.pause, c.Pause)
		for len(at) > 0 && at[0] <= rep.Fuel {
			at = at[1:]
		}
	}
}

// compare reports every difference between a journey's end and an undisturbed
// run's.
func compare(t *testing.T, j journey, want sandbox.Report) {
	t.Helper()
	if j.hops < wantHops {
		t.Errorf("%d hops, want at least %d", j.hops, wantHops)
	}
	same(t, j.last, want)
}

// same reports every difference between two ends of a task.
func same(t *testing.T, got, want sandbox.Report) {
	t.Helper()
	if got.Outcome != want.Outcome || got.ExitCode != want.ExitCode {
		t.Errorf("ended with %v %d (%s), want %v\n%s", got.Outcome, got.ExitCode, got.Message, want.Outcome, tail(got))
	}
	if got.Fuel != want.Fuel {
		t.Errorf("fuel %d, want %d", got.Fuel, want.Fuel)
	}
	if got.StateHash != want.StateHash {
		t.Errorf("state %x, want %x", got.StateHash[:8], want.StateHash[:8])
	}
	if !slices.EqualFunc(got.Outputs, want.Outputs, func(a, b sandbox.File) bool {
		return a.Name == b.Name && string(a.Data) == string(b.Data)
	}) {
		t.Errorf("outputs differ: got %s\nwant %s", list(got), list(want))
	}
}

func list(rep sandbox.Report) string {
	var s []string
	for _, f := range rep.Outputs {
		sum := sha256.Sum256(f.Data)
		s = append(s, fmt.Sprintf("%s (%d bytes, %x)", f.Name, len(f.Data), sum[:4]))
	}
	return strings.Join(s, ", ")
}

// row prints a guest's line of the table that scripts/test-guests shows.
func row(t *testing.T, name string, want sandbox.Report, j journey) {
	t.Helper()
	verdict := "PASS"
	if t.Failed() {
		verdict = "FAIL"
	}
	fmt.Fprintf(t.Output(), "guest %-16s %s  fuel %13d  hops %2d  alone %7.2fs  hopping %7.2fs  checkpoint %8.1f MB  "+
		"stored, all %7.1f MB  longest pause %6.0f ms\n",
		name, verdict, want.Fuel, j.hops, want.Wall.Seconds(), j.took.Seconds(), float64(j.state)/1e6,
		float64(j.stored)/1e6, float64(j.pause)/1e6)
}
