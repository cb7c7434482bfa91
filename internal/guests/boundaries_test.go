//go:build unix

package guests

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

const (
	// realSpacing is the spacing of a job: five seconds of the reference core.
	realSpacing = 20_000_000_000
	// benchSpacing is that of the benchmark. What a boundary costs does not depend on it, for guests that change the same
	// pages all the time.
	benchSpacing = realSpacing / 200
)

// BenchmarkBoundaries runs guests that change their memory all the time with boundaries and without, in turns, and
// compares the processor time of the quickest runs. %-of-time is what boundaries at the real spacing add, %-kept what
// they add with their states kept, in memory, the parent's time included.
func BenchmarkBoundaries(b *testing.B) {
	memory := filepath.Join(benchDir, "memory.c")
	for _, w := range []worker{
		{"64MiB/1%", memory, nil, []string{"64", "10", "1000000"}},
		{"64MiB/10%", memory, nil, []string{"64", "100", "100000"}},
		{"32MiB/all", memory, nil, []string{"32", "1000", "30000"}},
		{"go/words", filepath.Join(benchDir, "main.go"), nil, []string{"words", "1500"}},
	} {
		b.Run(w.name, func(b *testing.B) { benchmarkBoundaries(b, w) })
	}
}

func benchmarkBoundaries(b *testing.B, w worker) {
	pool := warmPool(b)
	tk := newTask(b, "boundaries", built(b, w.source, w.flags, false))
	tk.Args, tk.StateHash, tk.Limits.Memory = w.args, false, 256<<20
	var best [3]time.Duration // without, with, and with states that are kept
	var stored int64
	var rep sandbox.Report
	var still time.Duration
	count := 0
	do := func(k int) {
		tk.Spacing, tk.Pages, tk.OnState = uint64(min(k, 1))*benchSpacing, nil, nil
		store := &sandbox.MemoryStore{}
		if k == 2 {
			tk.Pages, tk.OnState = store, func(task.Boundary, []byte) bool { return true }
			defer func() { stored = store.Bytes() }()
		}
		if rep = run(b, pool, tk); rep.Outcome != task.Completed {
			b.Fatalf("%v: %s", rep.Outcome, rep.Message)
		}
	}
	do(0) // compiles
	for n := 0; b.Loop(); n++ {
		for i := range best {
			k := (i + n) % len(best)
			parent := ownCPU(b)
			do(k)
			took := rep.CPU
			if k == 2 {
				took += ownCPU(b) - parent
			}
			if best[k] == 0 || took < best[k] {
				best[k] = took
			}
			if k == 1 {
				still, count = max(still, rep.Boundaries.Longest), rep.Boundaries.Count
				b.ReportMetric(milliseconds(rep.Boundaries.Pause)/float64(max(count, 1)), "ms-still")
			}
		}
	}
	each := (best[1] - best[0]).Seconds() / float64(max(count, 1))
	between := best[0].Seconds() * realSpacing / float64(rep.Fuel)
	b.ReportMetric(float64(count), "boundaries")
	b.ReportMetric(each*1e3, "ms-cpu-each")
	b.ReportMetric(100*each/between, "%-of-time")
	kept := (best[2] - best[0]).Seconds() / float64(max(count, 1))
	b.ReportMetric(kept*1e3, "ms-kept-each")
	b.ReportMetric(100*kept/between, "%-kept")
	b.ReportMetric(float64(stored)/float64(1<<20), "MiB-kept")
	b.ReportMetric(milliseconds(still), "ms-still-most")
	b.ReportMetric(best[0].Seconds(), "s-without")
	b.ReportMetric(best[1].Seconds(), "s-with")
	b.ReportMetric(0, "ns/op")
	b.Logf("%s: fuel %d", w.name, rep.Fuel)
}

// ownCPU is what this process has used.
func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
