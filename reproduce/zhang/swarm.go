package zhang

import (
	"fmt"
	"strings"
	"time"

	"godwit/reproduce"
	"godwit/sim"
)

// The algorithms that section 7.4 compares.
var compared = []struct{ name, spec string }{
	{"FCFS", reproduce.FCFS}, {"FCFSPP", "fcfspp"}, {"FLP", "flp:interval=1h"}, {"PSOPP", "psopp:iterations=1"},
}

// shared has tasks share a host's processor, as in the published simulator.
// Only PSOPP gives a host more than one.
func shared(s *sim.Scenario) *sim.Scenario {
	s.Hosts.Sharing, s.Hosts.Speeds = sim.Share, sim.Traced
	s.Warmup = reproduce.Day // no job in day 1
	return s
}

// workload is section 7.4.1: PSOPP where jobs come faster than they are done.
func workload(b *bench) error {
	b.Say("one resource of 1 GHz, always available, 2 days of 24 h; job size 12 h; PSOPP with 10 particles and 1 " +
		"iteration; seed 1")
	b.FirstSeed = 1
	const rule = "arrivals at multiples of the interval from t = 0, none before 24 h or at 48 h: the rule that agrees " +
		"with the text"
	batch := b.Batch()
	for i, c := range []struct {
		every    string
		arrivals []float64
		others   [3]string // A/S/F, process, makespan
		psopp    [3]string
	}{
		{"16 h", []float64{32}, [3]string{"1/1/0", "100 %", "12 h"}, [3]string{"1/1/0", "100 %", "12 h"}},
		{"12 h", []float64{24, 36}, [3]string{"2/2/0", "100 %", "12 h"}, [3]string{"2/2/0", "100 %", "12 h"}},
		{"8 h", []float64{24, 32, 40}, [3]string{"2/2/0", "100 %", "12 h"}, [3]string{"3/1/0", "33.3 %", "16 h"}},
	} {
		t, err := grid(fmt.Sprintf("Table 7-7 scenario %d", i+1), 2, machine{until: []float64{24, 24}, ghz: 1})
		if err != nil {
			return err
		}
		for _, a := range compared {
			want := c.others
			if a.name == "PSOPP" {
				want = c.psopp
			}
			batch.Add(shared(arriving(t, a.spec, 12*time.Hour, c.arrivals...)), func(r *sim.Report) {
				at := fmt.Sprintf("scenario %d (a job each %s), %s, ", i+1, c.every, a.name)
				b.Equal(at+"A/S/F", want[0], asf(r.PerDay[1]), rule)
				b.Equal(at+"job process percentage", want[1], processed(r), "")
				b.Equal(at+"makespan", want[2], span(r.Makespan), "from allocation, not from arrival")
			})
		}
	}
	// The control: arrivals counted from 24 h.
	t, err := grid("Table 7-7 control", 2, machine{until: []float64{24, 24}, ghz: 1})
	if err != nil {
		return err
	}
	batch.Add(shared(arriving(t, reproduce.FCFS, 12*time.Hour, 24, 40)), func(r *sim.Report) {
		b.Equal("scenario 1, control with arrivals counted from 24 h, FCFS, A/S/F", "2/1/0", asf(r.PerDay[1]),
			"a control: a process percentage of 50 %, which contradicts the stated 100 %")
	})
	return batch.Run()
}

// fitness is section 7.4.2: PSOPP where the faster resource stays the faster
// one, and where it does not.
func fitness(b *bench) error {
	b.Say("2 resources, always available, 2 days of 24 h; jobs of 24 GHz·h at 24 h and 36 h; PSOPP with 10 particles " +
		"and 1 iteration; seed 1 (all particles on the slower resource: probability 2^-10)")
	b.FirstSeed = 1
	full := []float64{24, 24}
	batch := b.Batch()
	for i, c := range []struct {
		name          string
		machines      []machine
		others, psopp [3]string // A/S/F, process, where
	}{
		{"2 and 1 GHz throughout", []machine{{until: full, ghz: 2}, {until: full, ghz: 2, cpu: []share{{0, 0.5}}}},
			[3]string{"2/1/0", "50 %", "r1 r2"}, [3]string{"2/2/0", "100 %", "r1 r1"}},
		{"2 and 1 GHz until 36 h, then 1 and 2", []machine{{until: full, ghz: 2, cpu: []share{{0, 1}, {36, 0.5}}},
			{until: full, ghz: 2, cpu: []share{{0, 0.5}, {36, 1}}}},
			[3]string{"2/2/0", "100 %", "r1 r2"}, [3]string{"2/1/0", "50 %", "r1 r1"}},
	} {
		t, err := grid(fmt.Sprintf("Table 7-8 scenario %d", i+1), 2, c.machines...)
		if err != nil {
			return err
		}
		for _, a := range compared {
			want := c.others
			note := ""
			if a.name == "PSOPP" {
				want = c.psopp
				if i == 1 {
					note = "one sentence of the text repeats scenario 1 for PSOPP's loss and another says resource 2; they mean " +
						"scenario 2 and resource 1"
				}
			}
			var where []string
			s := shared(arriving(t, a.spec, 24*time.Hour, 24, 36))
			s.Watch = func(d sim.Decision) {
				if d.Action == "placed" {
					where = append(where, t.Hosts[d.Host].History.Host)
				}
			}
			batch.Add(s, func(r *sim.Report) {
				at := fmt.Sprintf("scenario %d (%s), %s, ", i+1, c.name, a.name)
				b.Equal(at+"A/S/F", want[0], asf(r.PerDay[1]), note)
				b.Equal(at+"job process percentage", want[1], processed(r), "")
				b.Equal(at+"jobs go to", want[2], strings.Join(where, " "), "")
			})
		}
	}
	return batch.Run()
}

// processed is (S+F)/A.
func processed(r *sim.Report) string {
	if r.ProcessPct == nil {
		return "N/A"
	}
	return reproduce.Percent(*r.ProcessPct / 100)
}

// span writes a makespan in hours; both ends where jobs differ.
func span(s sim.Spread) string {
	if s.N == 0 {
		return "N/A"
	}
	if s.Max-s.Mean > 1 {
		return fmt.Sprintf("%.4g h on average, %.4g h at most", s.Mean/3600, s.Max/3600)
	}
	return fmt.Sprintf("%.4g h", s.Max/3600)
}
