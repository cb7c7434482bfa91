package simpetek

import (
	"fmt"

	"godwit/reproduce"
	"godwit/scheduler/chunk"
)

// Compare is Sim-PETEK's comparison mode (its section 4.1): each request is
// executed once by every scheduler of a list, given as chunk.Parse reads them, and then
// the next. Requests are the six of group 1. The error names the first that is wrong.
func Compare(schedulers []string) (reproduce.Experiment, error) {
	for _, s := range schedulers {
		if err := chunk.Check(s); err != nil {
			return reproduce.Experiment{}, err
		}
	}
	return experiment("compare", "Schedulers side by side", "section 4.1; the requests of section 5.2.2.1", fewSeeds,
		func(b *bench) error {
			return compare(b, schedulers)
		}), nil
}

func compare(b *bench, schedulers []string) error {
	b.FirstSeed = b.Seed
	b.sayChosen(allNodes)
	var rs []request
	for _, m := range group1Trials {
		for _, s := range group1Runs {
			for _, p := range schedulers {
				rs = append(rs, request{policy: p, runs: s, trials: m})
			}
		}
	}
	got, err := b.requests(allNodes.nodes(), rs)
	if err != nil {
		return err
	}
	header := []string{"SCHEDULER", "SECONDS", "EFFICIENCY", "SPREAD", "OPTIMALITY", "CHUNKS", "COPIES", "BUSY",
		"DUPLICATE", "REDUNDANT", "WAITING", "IDLE"}
	for i := 0; i < len(rs); i += len(schedulers) {
		t := reproduce.Table{Experiment: "compare", Title: fmt.Sprintf("MC%dNumberOfRuns%d", rs[i].trials, rs[i].runs),
			Header: header, Rows: nil}
		for _, r := range rs[i : i+len(schedulers)] {
			o := got[r]
			t.Rows = append(t.Rows, []string{r.policy, fmt.Sprintf("%.1f (%.1f-%.1f)", o.makespan, o.low, o.high),
				fmt.Sprintf("%.3f", o.bound/o.makespan),
				reproduce.Percent(o.spread), fmt.Sprintf("%.3f", o.optimal), fmt.Sprintf("%.0f", o.chunks),
				fmt.Sprintf("%.1f", o.copies),
				reproduce.Percent(o.busy), reproduce.Percent(o.dup), reproduce.Percent(o.redun), reproduce.Percent(o.waiting),
				reproduce.Percent(o.idle)})
		}
		b.Tables = append(b.Tables, t)
	}
	return nil
}
