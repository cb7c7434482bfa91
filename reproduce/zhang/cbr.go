package zhang

import (
	"fmt"
	"math"

	"godwit/reproduce"
	"godwit/trace"
)

// cbrRuns is how often section 7.6 repeats: its averages are multiples of 1/5,
// though its text says 3 as well.
const cbrRuns = 5

// cases is section 7.6: CBR for every available host, beside PSPP.
func cases(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("CBR for every available host: threshold 25 %%, adjustment at most 5 points, a scan each 10 min; %d runs, "+
		"seeds %d to %d; PSPP with N = 6, P = 10", cbrRuns, b.Seed, b.Seed+cbrRuns-1)
	batch := b.Batch()
	sets := map[string]*set{}
	pspp, cbr := map[string]*outcome{}, map[string]*outcome{}
	for _, name := range reproduce.Sets {
		all, err := b.replicas(name, 1)
		if err != nil {
			return err
		}
		sets[name], pspp[name], cbr[name] = all[0], &outcome{}, &outcome{}
		b.watch(batch, all[0], scanSpec(mostDays, 10), b.Seed, pspp[name], 1)
		for run := range cbrRuns {
			b.watch(batch, all[0], "cbr:threshold=25,adjustment=5,interval=10m,hosts=available", b.Seed+uint64(run), cbr[name],
				cbrRuns)
		}
	}
	if err := batch.Run(); err != nil {
		return err
	}
	for _, c := range []struct {
		name      string
		cbr, pspp float64
	}{{"ucb", 130.8, 3644}, {"lri", 213.4, 2}} {
		b.judgeCases(sets[c.name], c.cbr, c.pspp, cbr[c.name], pspp[c.name])
	}
	b.Lost("SDSC and DEUG", "CP1 of CBR", "they are in Fig. 7-30 alone, and no copy of it is to be had")
	return nil
}

func (b *bench) judgeCases(s *set, published, beside float64, cbr, pspp *outcome) {
	part := throttled(s.watched)
	obtained := fmt.Sprintf("%.1f (PSPP %.0f)", cbr.cp1, pspp.cp1)
	wanted := fmt.Sprintf("%.1f (PSPP %.0f)", published, beside)
	cell := s.label() + ": CP1 of CBR and of PSPP"
	switch {
	case !s.original && part == 0:
		b.Add(reproduce.Unrecoverable, cell, wanted, obtained,
			"CBR looks at the percentage of CPU that tasks get, and nothing is published of it from which hosts could be "+
				"made: the -like hosts give all of it whenever they are available (0 % of their available time with less), so "+
				"that no exit is foreseen")
	default:
		b.number(s, "CP1 of CBR", published, cbr.cp1, "%.1f", claim{(cbr.cp1 < pspp.cp1) == (published < beside),
			fmt.Sprintf("CBR and PSPP (%.0f; published %.0f) are in the published order; %.1f %% of available time is with "+
				"less than all CPU", pspp.cp1, beside, 100*part), ""})
	}
}

// throttled is the share of a set's available time in which tasks get less than
// all of the processors.
func throttled(t *trace.Trace) float64 {
	var up, less float64
	for _, host := range t.Hosts {
		for i := range host.History.Len() {
			if s := host.History.Spell(i); s.State == trace.Available {
				up += s.Length().Seconds()
				if s.CPU < 1 {
					less += s.Length().Seconds()
				}
			}
		}
	}
	return less / math.Max(1, up)
}
