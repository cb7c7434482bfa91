package zhang

import (
	"fmt"
	"time"

	"godwit/reproduce"
	"godwit/sim"
)

// scored writes predictions by their outcome.
func scored(p *sim.Prediction) string {
	if p == nil {
		return "no predictions"
	}
	return fmt.Sprintf("%d/%d/%d/%d", p.CP1, p.CP2, p.MD, p.FA)
}

// watching is a scenario in which a migration policy predicts for every
// available host. What runs makes no difference to that, so that there is but one
// short job.
func watching(s *sim.Scenario, migration string) *sim.Scenario {
	s.Migration, s.ScanAll = migration, true
	s.Workload.Classes = []sim.Class{{Name: "job", Arrival: sim.AtTimes, Times: []time.Duration{0}, Work: time.Second}}
	return s
}

// scanned is Appendix B.III: PSPP predicts once, at the start of day 2.
func scanned(b *bench) error {
	b.Say("5 grids of one resource, available at the start of each of 2 days; one prediction for an hour, at 24 h; " +
		"nothing random")
	const swapped = "the text prints %s, which contradicts Table 5-1 and section 5.5.2 (case %d): its prose swaps the " +
		"checking and the prediction day"
	batch := b.Batch()
	for i, c := range []struct {
		t1, t2                 float64
		text, expected, swaped string // CP1/CP2/MD/FA; the last with the days swapped
		note                   string
	}{
		{1, 1, "0/1/0/0", "0/1/0/0", "0/1/0/0", ""},
		{0.5, 1, "0/0/1/0", "0/0/0/1", "0/0/1/0", fmt.Sprintf(swapped, "MD = 1", 2)},
		{0.5, 0.7, "1/0/0/0", "1/0/0/0", "1/0/0/0", ""},
		{1, 0.7, "0/0/0/1", "0/0/1/0", "0/0/0/1", fmt.Sprintf(swapped, "FA = 1", 4)},
		{0.7, 0.5, "1/0/0/0", "1/0/0/0", "1/0/0/0", ""},
	} {
		for _, swap := range []bool{false, true} {
			m := machine{until: []float64{c.t1, c.t2}}
			if swap {
				m.until[0], m.until[1] = c.t2, c.t1
			}
			t, err := grid(fmt.Sprintf("Table B-5 scenario %d", i+1), 2, m)
			if err != nil {
				return err
			}
			s := watching(saturated(t, reproduce.FCFS, time.Hour), "pspp:n=1,p=1h,interval=24h,hosts=available")
			batch.Add(s, func(r *sim.Report) {
				at := fmt.Sprintf("scenario %d, ", i+1)
				if swap {
					b.Equal(at+"control with the days swapped, CP1/CP2/MD/FA", c.swaped, scored(r.Prediction),
						"a control: it gives what the text prints")
					return
				}
				b.Expect(at+"CP1/CP2/MD/FA", c.text, c.expected, scored(r.Prediction), c.note)
			})
		}
	}
	return batch.Run()
}

// reasoned is Appendix B.IV: CBR on one resource for two hours. The courses of
// Fig. B.20 are lost; what the text says of them is used.
func reasoned(b *bench) error {
	b.Say("5 grids of one resource, 2 h; threshold 50 %%, scans each hour, adjustment at most 5 points; the courses of " +
		"CPU percentage of Fig. B.20 as far as the text gives them; seed 1")
	b.FirstSeed = 1
	const never = 24
	batch := b.Batch()
	for _, c := range []struct {
		name           string
		interval       string
		cpu            []share
		until          float64
		text, expected string // CP1/CP2/MD/FA
		note           string
	}{
		{"scenario 1", "1h", []share{{0, 1}}, never, "0/2/0/0", "0/2/0/0", ""},
		{"scenario 2", "1h", []share{{0, 1}}, 0.8, "0/0/1/0", "0/0/1/0",
			"it leaves at 48 min here; the text says before 1 h"},
		{"scenario 3", "1h", []share{{0, 0.3}, {0.4, 0.1}}, 0.8, "1/0/0/0", "1/0/0/0",
			"it leaves at 48 min here; the text says before 1 h"},
		{"scenario 4", "1h", []share{{0, 0.3}, {0.99, 0.65}}, never, "0/1/0/1", "0/1/0/1",
			"the text describes it and prints no counts; B.IV states no greatest adjustment: with 5 points the threshold " +
				"stays within 45 and 55 %, and 65 % is above"},
		{"scenario 5", "1h", []share{{0, 0.6}, {0.49, 0.15}}, 0.8, "1/0/0/0", "0/0/1/0",
			"the text prints CP1 = 1 and then says that CBR cannot observe this: at 0 h the percentage is 60, above the " +
				"threshold, and the fall comes between two scans"},
		{"scenario 5, control with scans each 30 min", "30m", []share{{0, 0.6}, {0.49, 0.15}}, 0.8, "1/1/0/0", "1/1/0/0",
			"a control, which the text names: then the fall is seen (and the first half hour is a stay)"},
	} {
		t, err := grid("Fig. B.20 "+c.name, 1, machine{until: []float64{c.until}, cpu: c.cpu})
		if err != nil {
			return err
		}
		s := watching(saturated(t, reproduce.FCFS, time.Hour), "cbr:threshold=50,adjustment=5,hosts=available,interval="+
			c.interval)
		s.End = reproduce.Epoch.Add(2 * time.Hour)
		batch.Add(s, func(r *sim.Report) {
			b.Expect(c.name+", CP1/CP2/MD/FA", c.text, c.expected, scored(r.Prediction), c.note)
		})
	}
	return batch.Run()
}
