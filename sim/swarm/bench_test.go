package swarm

import (
	"runtime"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// BenchmarkDay runs a day of 20 synthetic hosts with tasks of five minutes, one
// after the other, with as much room for garbage as `godwit sim --machines` leaves.
func BenchmarkDay(b *testing.B) {
	room := make([]byte, 64<<20)
	defer runtime.KeepAlive(room)
	tr, err := trace.Synthesize(trace.SynthKinds()[0][0], trace.SynthConfig{Hosts: 20, Days: 1, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := scenario(tr, sim.Class{Arrival: sim.Poisson, Interval: 20 * time.Second, Work: 5 * time.Minute,
		WorkLaw: sim.Exponential})
	s.Hosts.Grace = 10 * time.Minute
	var steps uint64
	for b.Loop() {
		_, stats := mustRun(b, s, Options{})
		steps += stats.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "events/s")
}
