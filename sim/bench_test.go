package sim

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"godwit/trace"
)

// BenchmarkRun is a week of DEUG-like hosts where a task always waits. Making the
// hosts is not part of it.
func BenchmarkRun(b *testing.B) {
	for _, tt := range []struct {
		name, placement string
		work            time.Duration
		hosts           []int
	}{
		{"fcfs", "fcfs", 10 * time.Minute, []int{100, 680, 1000, 10_000, 100_000}},
		{"fcfs:order=turn", "fcfs:order=turn", 10 * time.Minute, []int{100, 680, 1000, 10_000, 100_000}},
		{"fcfspp", "fcfspp", 10 * time.Minute, []int{680}},
		{"fcfs-busy", "fcfs", busyWork, []int{100_000}},
	} {
		for _, n := range tt.hosts {
			b.Run(fmt.Sprintf("%s/hosts=%d", tt.name, n), func(b *testing.B) { benchmarkRun(b, tt.placement, tt.work, n) })
		}
	}
}

// busyWork makes about 180 million events of a week of 100,000 hosts.
const busyWork = time.Minute

func benchmarkRun(b *testing.B, placement string, work time.Duration, hosts int) {
	tr, err := trace.Synthesize("deug-like", trace.SynthConfig{Hosts: hosts, Days: 7, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := &Scenario{Trace: tr, Placement: placement, Paper: true,
		Workload: Workload{Classes: []Class{{Work: work, Memory: 1 << 20}}}}
	events, before := uint64(0), usage(b)
	b.ReportAllocs()
	for b.Loop() {
		events += mustRun(b, s).Events
	}
	after := usage(b)
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	// By the processor's time: what other processes take is not in it.
	b.ReportMetric(float64(events)/1e6/(after.seconds-before.seconds), "Mevents/cpu-s")
	b.ReportMetric(float64(events)/float64(b.N), "events")
	b.ReportMetric(after.resident, "MiB-resident")
}

// A use is what this process took of the machine so far.
type use struct{ seconds, resident float64 }

func usage(b *testing.B) use {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return use{float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, float64(u.Maxrss) / 1024}
}
