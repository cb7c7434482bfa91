package zhang

import (
	"fmt"
	"strings"
	"time"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/reproduce"
	"godwit/scheduler/place"
	"godwit/sim"
	"godwit/trace"
)

// worked has the numeric examples of the thesis's running text.
func worked(b *bench) error {
	b.Say("numbers of the running text, each by the code that a run uses; seed 1")
	b.FirstSeed = 1
	b.Equal("section 4.3.2: 700 of 1000 cycles", "70 %", reproduce.Percent(migrate.CPUPercent(700, 1000)/100), "Eq 4.10")
	if err := b.adjustments(); err != nil {
		return err
	}
	if err := b.dayIntervals(); err != nil {
		return err
	}
	b.transitions()
	batch := b.Batch()
	for _, part := range []func(*bench, *reproduce.Batch) error{fitnessExample, qualifiedExample, delayedExample} {
		if err := part(b, batch); err != nil {
			return err
		}
	}
	return batch.Run()
}

// adjustments are the examples of section 4.2.4.
func (b *bench) adjustments() error {
	// moved is by how many points T, from 90 %, moves at the end of an interval
	// with so many disposed jobs after one with before.
	moved := func(lambda string, before, in int) (float64, error) {
		p, err := place.Parse("flp:t=0.9,interval=1h,from=start,lambda=" + lambda)
		if err != nil {
			return 0, err
		}
		f := p.(*place.FLP)
		f.Lost(reproduce.Epoch, before)
		f.Lost(reproduce.Epoch.Add(time.Hour), 0)
		first := f.Threshold
		f.Lost(reproduce.Epoch.Add(90*time.Minute), in)
		f.Lost(reproduce.Epoch.Add(2*time.Hour), 0)
		return 100 * (f.Threshold - first), nil
	}
	d, err := moved("10", 12, 7)
	if err != nil {
		return err
	}
	b.Equal("section 4.2.4: disposed 12, then 7", "-0.5 points", fmt.Sprintf("%+.3g points", d),
		"the text: dot = -5; by Eq 4.3 with lambda = 10 that, and no other dot, lowers T by 0.5 points")
	if d, err = moved("2", 1, 0); err != nil {
		return err
	}
	b.Equal("section 4.2.4: truth of Negative 0.5, T = 90 %", "89.5 %", fmt.Sprintf("%.4g %%", 90+d),
		"dot = -1, lambda = 2: the aggregate of the three rules, as rule 1 alone, lowers T by 0.5 points")
	return nil
}

// dayIntervals are the examples of what lies how many days apart.
func (b *bench) dayIntervals() error {
	for _, c := range []struct {
		name  string
		until []float64
		want  int
	}{
		{"day 2 and day 5", []float64{24, 12, 24, 24, 12}, 3},
		{"day 1 and day 3", []float64{12, 24, 12, 24, 24}, 2},
	} {
		t, err := grid(c.name, 5, machine{until: c.until})
		if err != nil {
			return err
		}
		s, err := trace.Describe(t)
		if err != nil {
			return err
		}
		got := 0
		for _, i := range s.ByInterval {
			if i.Pairs > 0 {
				got = i.Days
			}
		}
		b.Equal("section 6.1: day interval of "+c.name, c.want, got, "")
	}
	return nil
}

// transitions are the values of Eq 4.1 (docs/spec/zhang.md section 3.4).
func (b *bench) transitions() {
	const note = "follows from Eq 4.1; windows of yesterday, minutes"
	for _, c := range []struct {
		name   string
		m, job int // job length, minutes
		up     [][2]int
		want   float64
	}{
		{"window 180, job 60: always available", 3, 60, [][2]int{{0, 180}}, 1},
		{"window 180, job 60: exit at 90", 3, 60, [][2]int{{0, 90}}, 0.5},
		{"window 180, job 60: gap at 70-80", 3, 60, [][2]int{{0, 70}, {80, 180}}, 2. / 3},
		{"window 180, job 60: gaps at 20-30 and 120-130", 3, 60, [][2]int{{0, 20}, {30, 120}, {130, 180}}, 1. / 3},
		{"window 60, job 60: exit at 30", 1, 60, [][2]int{{0, 30}}, 0},
		{"window 60, job 60: available from 30 only", 1, 60, [][2]int{{30, 60}}, 0},
		{"window 60, job 60: never available", 1, 60, nil, 0},
	} {
		minute := func(m int) time.Time { return reproduce.Epoch.Add(time.Duration(m) * time.Minute) }
		p := predictor.NewTDE(predictor.TDEConfig{M: c.m})
		p.Observe(minute(-1), trace.Unavailable)
		for _, u := range c.up {
			p.Observe(minute(u[0]), trace.Available)
			if u[1] < c.m*c.job {
				p.Observe(minute(u[1]), trace.Unavailable)
			}
		}
		got, _ := p.Stay(reproduce.Epoch.Add(reproduce.Day), time.Duration(c.job)*time.Minute)
		b.Equal("Eq 4.1: "+c.name, fmt.Sprintf("%.3f", c.want), fmt.Sprintf("%.3f", got), note)
	}
}

// fitnessExample is Eq 4.7's: RAP 0.7 and 1.5 GHz for three jobs.
func fitnessExample(b *bench, batch *reproduce.Batch) error {
	t, err := grid("section 4.2.5", 2, machine{until: []float64{7, 24}, ghz: 1.5})
	if err != nil {
		return err
	}
	last := ""
	s := shared(arriving(t, "psopp:reading=prefix", 15*time.Hour, 24, 24, 24)) // 10 h each, alone
	s.Watch = func(d sim.Decision) {
		if d.Action == "placed" {
			last = d.Reason
		}
	}
	batch.Add(s, func(*sim.Report) {
		_, f, _ := strings.Cut(last, "(fitness ")
		f, _, _ = strings.Cut(f, ",")
		b.Equal("section 4.2.5: RAP 0.7, 1.5 GHz, third job there", "1.2", f, "Eq 4.7 with x = y = 1, as the decision says")
	})
	return nil
}

// qualifiedExample is section 4.2.3's: a RAP of 80 % passes T = 70 %.
func qualifiedExample(b *bench, batch *reproduce.Batch) error {
	t, err := grid("section 4.2.3", 2, machine{until: []float64{8, 24}})
	if err != nil {
		return err
	}
	for _, c := range []struct{ name, t, want, note string }{
		{"section 4.2.3: RAP 80 %, T 70 %", "0.7", "qualified", ""},
		{"section 4.2.3: control, RAP 80 %, T 90 %", "0.9", "not qualified", "a control"},
	} {
		s := arriving(t, "fcfspp:reading=prefix,t="+c.t, 10*time.Hour, 24)
		s.Workload.Requeue = false
		at := ""
		s.Watch = func(d sim.Decision) {
			if d.Action == "placed" && at == "" {
				at = d.At.Sub(reproduce.Epoch).String()
			}
		}
		batch.Add(s, func(*sim.Report) {
			got := "not qualified"
			if at == "24h0m0s" {
				got = "qualified"
			}
			b.Equal(c.name, c.want, got, c.note)
		})
	}
	return nil
}

// delayedExample is section 7.3's: a job of an hour is refused at first, and
// taken ten minutes later when too little is left.
func delayedExample(b *bench, batch *reproduce.Batch) error {
	t, err := grid("section 7.3", 2, machine{until: []float64{0.5, 1}})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		reading predictor.Reading
		name    string
		want    [2]string
		note    string
	}{
		{predictor.Prefix, "RAP read as Prefix", [2]string{"50 %", "33.3 %"}, ""},
		{predictor.Fraction, "RAP read as Fraction", [2]string{"50 %", "33.3 %"}, ""},
		{predictor.Transitional, "control, RAP by Eq 4.1", [2]string{"0 %", "0 %"},
			"a control: the thesis's definition does not give its example's values"},
	} {
		p := predictor.NewTDE(predictor.TDEConfig{Reading: c.reading})
		teach(p, t.Hosts[0].History)
		for k, after := range []time.Duration{0, 10 * time.Minute} {
			rap, _ := p.Stay(reproduce.Epoch.Add(reproduce.Day+after), time.Hour)
			b.Equal(fmt.Sprintf("section 7.3: %s, %v into day 2", c.name, after), c.want[k], reproduce.Percent(rap), c.note)
		}
	}
	const note = "T falls from 60 to 30 % in ten minutes here, as the text says; by the published rules it falls by a " +
		"point"
	for _, c := range []struct {
		name, spec string
		at         float64
		want       string
	}{
		{"FCFS at 0 min", reproduce.FCFS, 24, "1/1/0"},
		{"FCFSPP, T = 100 %", "fcfspp:reading=prefix", 24, "0/0/0"},
		{"FLP at 0 min, T = 60 %", "fcfspp:reading=prefix,t=0.6", 24, "0/0/0"},
		{"FLP at 10 min, T = 30 %", "fcfspp:reading=prefix,t=0.3", 24 + 1./6, "1/0/1"},
	} {
		s := arriving(t, c.spec, time.Hour, c.at)
		s.Workload.Requeue = false
		batch.Add(s, func(r *sim.Report) {
			b.Equal("section 7.3: "+c.name+", A/S/F", c.want, asf(r.PerDay[1]), note)
		})
	}
	return nil
}
