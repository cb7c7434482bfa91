//go:build unix

package guests

import (
	"path/filepath"
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
// compares the processor time of the quickest runs. %-of-time is what boundaries at the real spacing add.
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
	var best [2]time.Duration // without and with
	var rep sandbox.Report
	var still time.Duration
	count := 0
	do := func(k int) {
		tk.Spacing = uint64(k) * benchSpacing
		if rep = run(b, pool, tk); rep.Outcome != task.Completed {
			b.Fatalf("%v: %s", rep.Outcome, rep.Message)
		}
	}
	do(0) // compiles
	for n := 0; b.Loop(); n++ {
		for i := range best {
			k := (i + n) % len(best)
			do(k)
			if best[k] == 0 || rep.CPU < best[k] {
				best[k] = rep.CPU
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
	b.ReportMetric(milliseconds(still), "ms-still-most")
	b.ReportMetric(best[0].Seconds(), "s-without")
	b.ReportMetric(best[1].Seconds(), "s-with")
	b.ReportMetric(0, "ns/op")
	b.Logf("%s: fuel %d", w.name, rep.Fuel)
}
