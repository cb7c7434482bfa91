//go:build plot

package report

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"godwit/sim"
	"godwit/trace"
)

// BenchmarkCost is what an event costs the processor among 100 to 100,000 hosts,
// a week of each where a task always waits; and the line a + b log2(hosts) that
// fits best. GODWIT_PLOT names a file for a picture of it.
func BenchmarkCost(b *testing.B) {
	var doublings, cost []float64
	for _, hosts := range []int{100, 300, 1000, 3000, 10_000, 30_000, 100_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			ns := eventCost(b, hosts)
			b.ReportMetric(ns, "cpu-ns/event")
			doublings, cost = append(doublings, math.Log2(float64(hosts))), append(cost, ns)
		})
	}
	if len(cost) < 2 {
		return
	}
	base, slope := stat.LinearRegression(doublings, cost, nil, false)
	b.Run("fit", func(b *testing.B) {
		b.ReportMetric(base, "ns-base")
		b.ReportMetric(slope, "ns/doubling")
		b.ReportMetric(stat.RSquared(doublings, cost, nil, base, slope), "R2")
	})
	if path := os.Getenv("GODWIT_PLOT"); path != "" {
		if err := drawCost(path, doublings, cost, base, slope); err != nil {
			b.Fatal(err)
		}
	}
}

// eventCost is the processor's nanoseconds for each event, of the run where they
// were fewest: what else the machine does only adds to them.
func eventCost(b *testing.B, hosts int) float64 {
	tr, err := trace.Synthesize("deug-like", trace.SynthConfig{Hosts: hosts, Days: 7, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := &sim.Scenario{Trace: tr, Placement: "fcfs", Paper: true,
		Workload: sim.Workload{Classes: []sim.Class{{Work: 10 * time.Minute, Memory: 1 << 20}}}}
	least := math.Inf(1)
	for b.Loop() {
		before := processorTime(b)
		r, err := sim.Run(s)
		if err != nil {
			b.Fatal(err)
		}
		least = min(least, float64(processorTime(b)-before)/float64(r.Events))
	}
	return least
}

func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// drawCost draws what was measured as points and the fit as a line.
func drawCost(path string, doublings, cost []float64, base, slope float64) error {
	p := plot.New()
	p.Title.Text = "Processor time of an event, by hosts\nfcfs, a task always waits, a week of deug-like hosts (synthetic)"
	p.X.Label.Text, p.Y.Label.Text = "hosts", "ns"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	points, line := make(plotter.XYs, len(cost)), make(plotter.XYs, len(cost))
	for i, d := range doublings {
		points[i] = plotter.XY{X: math.Exp2(d), Y: cost[i]}
		line[i] = plotter.XY{X: math.Exp2(d), Y: base + slope*d}
	}
	measured, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	measured.Color = shade(0)
	if err := addLine(p, fmt.Sprintf("%.0f ns + %.1f ns x log2(hosts)", base, slope), line, shade(1), nil); err != nil {
		return err
	}
	p.Add(plotter.NewGrid(), measured)
	p.Legend.Add("measured", measured)
	return p.Save(chartWidth+vg.Inch, chartHeight, path)
}
