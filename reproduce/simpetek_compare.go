package reproduce

import (
	"fmt"

	"godwit/scheduler/chunk"
)

// CompareSchedulers is Sim-PETEK's comparison mode (its section 4.1): each request is
// executed once by every scheduler of a list, given as chunk.Parse reads them, and then
// the next. Requests are the six of group 1. The error names the first that is wrong.
func CompareSchedulers(schedulers []string) (Experiment, error) {
	for _, s := range schedulers {
		if err := chunk.Check(s); err != nil {
			return Experiment{}, err
		}
	}
	return Experiment{"compare", "Schedulers side by side", "section 4.1; the requests of section 5.2.2.1", func(b *bench) error {
		return compareSchedulers(b, schedulers)
	}}, nil
}

func compareSchedulers(b *bench, schedulers []string) error {
	b.seed = b.Seed
	b.sayPetek(petekAll)
	var rs []request
	for _, m := range petekTrials {
		for _, s := range petekRuns {
			for _, p := range schedulers {
				rs = append(rs, request{p, s, m})
			}
		}
	}
	got, err := b.requests(petekAll.nodes(), rs)
	if err != nil {
		return err
	}
	header := []string{"SCHEDULER", "SECONDS", "EFFICIENCY", "SPREAD", "OPTIMALITY", "CHUNKS", "COPIES", "BUSY", "DUPLICATE", "REDUNDANT", "WAITING", "IDLE"}
	for i := 0; i < len(rs); i += len(schedulers) {
		t := Table{"compare", fmt.Sprintf("MC%dNumberOfRuns%d", rs[i].trials, rs[i].runs), header, nil}
		for _, r := range rs[i : i+len(schedulers)] {
			o := got[r]
			t.Rows = append(t.Rows, []string{r.policy, fmt.Sprintf("%.1f (%.1f-%.1f)", o.makespan, o.low, o.high), fmt.Sprintf("%.3f", o.bound/o.makespan),
				percent(o.spread), fmt.Sprintf("%.3f", o.optimal), fmt.Sprintf("%.0f", o.chunks), fmt.Sprintf("%.1f", o.copies),
				percent(o.busy), percent(o.dup), percent(o.redun), percent(o.waiting), percent(o.idle)})
		}
		b.tables = append(b.tables, t)
	}
	return nil
}
