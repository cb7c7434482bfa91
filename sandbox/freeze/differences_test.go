package freeze_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Fuzzing compares the runs of one generated module after another. A seed stands for its module, so that a failure can
// be had again: GODWIT_FUZZ=1 GODWIT_SEED=... go test ./sandbox/freeze -run TestDifferences. Other settings:
const (
	fuzzTimeEnv     = "GODWIT_FUZZ"          // how long, as a duration; 1 for one module
	fuzzSeedEnv     = "GODWIT_SEED"          // the first seed
	fuzzOptimiseEnv = "GODWIT_WASM_OPT"      // 1: modules go through the optimiser first
	fuzzNaNsEnv     = "GODWIT_FUZZ_NANS"     // 1: modules of floats, run whole and moved at every poll
	fuzzModuleEnv   = "GODWIT_FUZZ_MODULE"   // the file of a module to be compared
	fuzzFailuresEnv = "GODWIT_FUZZ_FAILURES" // where failing modules go
)

// How many modules ordinary tests compare.
const (
	usualSeeds     = 40
	shortSeeds     = 15
	optimisedSeeds = 12
	nanSeeds       = 60
)

const (
	progress = 1000 // modules between two words on how far it is
	enough   = 5    // differences end the search
)

// tally counts what was done.
type tally struct {
	modules, skipped, runs, unwinds, differences atomic.Int64
	started                                      time.Time
}

func (n *tally) String() string {
	took := time.Since(n.started).Seconds()
	return fmt.Sprintf("%d modules (%d left out), %d executions, %.0f a second, %d unwinds, %d differences",
		n.modules.Load(), n.skipped.Load(), n.runs.Load(), float64(n.runs.Load())/took, n.unwinds.Load(),
		n.differences.Load())
}

// fuzzer compares the modules of a range of seeds.
type fuzzer struct {
	t         testing.TB
	optimises bool
	nans      bool // modules of floats, run in two ways
	tally
}

// newDiffer gives the comparison of a generator's module.
func newDiffer(g *generator) *differ {
	d := &differ{module: g.module(), raw: g.rawNaN, choice: g.choice}
	d.options.KeepNaNs = !d.raw && g.one(3)
	return d
}

// hang is how long one module may take. The guest may be where nothing can end it, so the process ends.
const hang = 10 * time.Minute

// look compares the module of a seed. The error is nil if there is no difference.
func (z *fuzzer) look(ctx context.Context, seed uint64) (d *differ, how string, err error) {
	g := newGenerator(seed)
	g.narrow, g.nans = z.optimises, z.nans
	if d, how = newDiffer(g), "as generated"; z.nans {
		d.only = movedAlways
	}
	if n := z.modules.Add(1); n%progress == 0 {
		z.t.Log(&z.tally)
	}
	defer time.AfterFunc(hang, func() { panic(fmt.Sprintf("seed %d, %s: the comparison does not end", seed, how)) }).Stop()
	if z.optimises {
		b, passes, err := optimise(ctx, d.module, g.choice)
		if how = strings.Join(passes, " "); err != nil {
			z.skipped.Add(1) // the optimiser's fault, not ours
			return d, how, nil
		}
		d.module = b
	}
	err = d.compare(ctx)
	z.runs.Add(int64(d.runs))
	z.unwinds.Add(int64(d.unwinds))
	if errors.Is(err, errSkip) {
		z.skipped.Add(1)
		err = nil
	}
	if err != nil {
		z.differences.Add(1)
	}
	return d, how, err
}

// describe reduces a failing module and writes it down.
func describe(ctx context.Context, d *differ, err error, name string) string {
	var difference *difference
	if !errors.As(err, &difference) {
		return "module: " + hex.EncodeToString(d.module)
	}
	small, err := reduce(ctx, d, difference)
	dir := os.Getenv(fuzzFailuresEnv)
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "godwit-fuzz")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err.Error()
	}
	for path, b := range map[string][]byte{"": d.module, "-reduced": small} {
		if err := os.WriteFile(filepath.Join(dir, name+path+".wasm"), b, 0o644); err != nil {
			return err.Error()
		}
	}
	return fmt.Sprintf("reduced to %d bytes (%s): %v\n%s\n%x\n", len(small), filepath.Join(dir, name+"-reduced.wasm"),
		err, moduleText(small), small)
}

// seeds compares modules on all processors until the context ends or so many are done.
func (z *fuzzer) seeds(ctx context.Context, first, count uint64) {
	z.started = time.Now()
	var next atomic.Uint64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for ctx.Err() == nil && z.differences.Load() < enough {
				k := next.Add(1) - 1
				if k >= count {
					return
				}
				d, how, err := z.look(context.Background(), first+k)
				if err != nil {
					z.t.Errorf("seed %d, %s: %v\n%s", first+k, how, err, describe(context.Background(), d, err, fmt.Sprint(first+k)))
				}
			}
		})
	}
	all.Wait()
}

// setting reads a number from the environment.
func setting(t testing.TB, name string, usual uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestDifferences(t *testing.T) {
	z := &fuzzer{t: t, optimises: setting(t, fuzzOptimiseEnv, 0) == 1, nans: setting(t, fuzzNaNsEnv, 0) == 1}
	first := setting(t, fuzzSeedEnv, 1)
	if z.optimises && !hasOptimiser() {
		t.Fatalf("%s is not installed", optimiser)
	}
	ctx, count := context.Background(), uint64(usualSeeds)
	switch text := os.Getenv(fuzzTimeEnv); {
	case text == "1":
		count = 1
	case text != "":
		long, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", fuzzTimeEnv, err)
		}
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, long)
		defer cancel()
		count = 1 << 62
	case testing.Short():
		count = shortSeeds
	}
	z.seeds(ctx, first, count)
	t.Logf("seeds from %d on: %v", first, &z.tally)
}

// TestNaNsDoNotDiffer compares what comes of NaNs that are made canonical where they are seen with what comes of
// them if
// they are so where they are made.
func TestNaNsDoNotDiffer(t *testing.T) {
	count := uint64(nanSeeds)
	if testing.Short() {
		count = shortSeeds
	}
	z := &fuzzer{t: t, nans: true}
	z.seeds(context.Background(), 1, count)
	t.Log(&z.tally)
}

func TestOptimisedModulesDoNotDiffer(t *testing.T) {
	if !hasOptimiser() {
		t.Skipf("%s is not installed", optimiser)
	}
	if testing.Short() || os.Getenv(fuzzTimeEnv) != "" {
		t.Skip("left to long tests")
	}
	z := &fuzzer{t: t, optimises: true}
	z.seeds(context.Background(), 1, optimisedSeeds)
	t.Log(&z.tally)
}

// TestModuleFile compares the module of a file: what a failure left behind.
func TestModuleFile(t *testing.T) {
	path := os.Getenv(fuzzModuleEnv)
	if path == "" {
		t.Skip(fuzzModuleEnv + " is not set")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &differ{module: b, choice: newGenerator(1).choice}
	if err := d.compare(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, describe(context.Background(), d, err, filepath.Base(path)))
	}
}

func FuzzGenerated(f *testing.F) {
	f.Add([]byte("a seed that is long enough to make something of: 0123456789"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &generator{choice: func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}}
		d := newDiffer(g)
		if err := d.compare(context.Background()); err != nil && !errors.Is(err, errSkip) {
			t.Fatalf("%v\n%s", err, describe(context.Background(), d, err, "fuzz"))
		}
	})
}
