package sim

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"godwit/trace"
)

// BenchmarkRival is Run beside SimGrid at the same week of hosts and the same tasks, in
// turns: GODWIT_SIMGRID is the program of scripts/simgrid. It reports the processor time
// of SimGrid's over that of Run, of the turn in which each took least. Making the hosts is
// in neither. Both must come to the same, but for what falls on one nanosecond.
func BenchmarkRival(b *testing.B) {
	rival := os.Getenv("GODWIT_SIMGRID")
	if rival == "" {
		b.Skip("GODWIT_SIMGRID names no program: scripts/bench sim builds it where SimGrid is installed")
	}
	for _, tt := range []struct {
		name  string
		hosts int
		class Class
	}{
		{"hosts=680/always", 680, Class{Work: 10 * time.Minute, Memory: 1 << 20}},
		{"hosts=680/arrivals", 680, Class{Work: 10 * time.Minute, Memory: 1 << 20, Arrival: Poisson,
			Interval: rivalInterval}},
		{"hosts=10000/always", 10_000, Class{Work: 10 * time.Minute, Memory: 1 << 20}},
	} {
		b.Run(tt.name, func(b *testing.B) { benchmarkRival(b, rival, tt.hosts, tt.class) })
	}
}

// rivalInterval brings 680 hosts six tenths of the tasks that they could begin.
const rivalInterval = 15 * time.Second

func benchmarkRival(b *testing.B, rival string, hosts int, class Class) {
	tr, err := trace.Synthesize("deug-like", trace.SynthConfig{Hosts: hosts, Days: 7, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := &Scenario{Trace: tr, Placement: "fcfs", Paper: true, Workload: Workload{Classes: []Class{class}}}
	path := filepath.Join(b.TempDir(), "workload")
	if err := os.WriteFile(path, rivalWorkload(s), 0o600); err != nil {
		b.Fatal(err)
	}
	var ours, timers, actors []float64
	for b.Loop() {
		before := usage(b)
		r := mustRun(b, s)
		ours = append(ours, usage(b).seconds-before.seconds)
		timers = append(timers, runRival(b, r, rival, "timers", path))
		actors = append(actors, runRival(b, r, rival, "actors", path))
	}
	here := slices.Min(ours) // what else the machine does only adds
	b.ReportMetric(here, "s-here")
	b.ReportMetric(slices.Min(timers)/here, "x-timers")
	b.ReportMetric(slices.Min(actors)/here, "x-actors")
}

// runRival returns the processor time of a run of SimGrid's, which must come to what r
// says within a thousandth: of what falls on one instant the order may differ.
func runRival(b *testing.B, r *Report, rival, how, path string) float64 {
	out, err := exec.Command(rival, how, path, "1").Output()
	if err != nil {
		b.Fatalf("%s: %v", how, err)
	}
	var seconds float64
	var begun, ended, lost uint64
	if _, err := fmt.Sscan(string(out), &seconds, &begun, &ended, &lost); err != nil {
		b.Fatalf("%s says %q: %v", how, out, err)
	}
	for _, what := range [][2]uint64{{begun, r.Allocated}, {ended, r.Succeeded}, {lost, r.Failed}} {
		if math.Abs(float64(what[0])-float64(what[1])) > 1+float64(what[1])/1000 {
			b.Fatalf("%s: %d begun, %d ended, %d lost; here %d, %d, %d", how, begun, ended, lost,
				r.Allocated, r.Succeeded, r.Failed)
		}
	}
	return seconds
}

// rivalWorkload is a scenario as the program reads it.
func rivalWorkload(s *Scenario) []byte {
	var out bytes.Buffer
	class, start := &s.Workload.Classes[0], s.Day0()
	span := s.end().Sub(start)
	fmt.Fprintln(&out, int64(span), int64(class.Work), len(s.Trace.Hosts))
	for i := range s.Trace.Hosts {
		history := s.Trace.Hosts[i].History
		var changes []int64
		for k := range history.Len() {
			spell := history.Spell(k)
			if there := spell.State == trace.Available; there != (len(changes)%2 == 1) {
				changes = append(changes, max(0, int64(spell.Start.Sub(start))))
			}
		}
		if len(changes)%2 == 1 {
			changes = append(changes, int64(history.Until().Sub(start)))
		}
		fmt.Fprintln(&out, len(changes))
		for _, at := range changes {
			fmt.Fprintln(&out, at)
		}
	}
	var times []time.Duration
	arrivals := NewArrivals(&s.Workload, span, s.Seed)
	for next, ok := arrivals.Next(); ok; next, ok = arrivals.Next() {
		times = append(times, next.At)
	}
	fmt.Fprintln(&out, len(times))
	for _, at := range times {
		fmt.Fprintln(&out, int64(at))
	}
	return out.Bytes()
}
