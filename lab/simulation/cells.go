package simulation

import (
	"fmt"
	"io"
	"math/bits"
	"text/tabwriter"
	"time"

	"godwit/internal/failure"
	"godwit/overlay"
	"godwit/sim"
	machines "godwit/sim/swarm"
)

// A cells is what an overlay that is divided into cells did. Adverts and summaries are those
// heard, by all nodes together.
type cells struct {
	Divided   uint64 `json:"cells_divided"`
	Joined    uint64 `json:"cells_joined"`
	Takeovers uint64 `json:"takeovers"`
	Lent      uint64 `json:"loans"`
	TakenBack uint64 `json:"loans_taken_back"`
	Adverts   uint64 `json:"adverts_heard"`
	Summaries uint64 `json:"summaries_heard"`
	Messages  uint64 `json:"messages"`

	Scale    scale `json:"scale"`           // what that is for each
	Modelled scale `json:"scale_modelled"`  // what the model has of it
	Asked    scale `json:"scale_of_100000"` // what it has of 100,000 members in 256 cells

	run cellRun
}

// checkCells says what is wrong with the number of cells.
func (f *Options) checkCells() error {
	switch {
	case f.Cells == 0:
		return nil
	case !f.Machines:
		return failure.Usage("add --machines", "--cells %d: the policies alone have no cells", f.Cells)
	case f.Cells < 1 || f.Cells > 1<<overlay.MaxCellBits || f.Cells&(f.Cells-1) != 0:
		return failure.Usage(fmt.Sprintf("write a power of two up to %d", 1<<overlay.MaxCellBits),
			"--cells %d: a cell becomes two, and two become one", f.Cells)
	}
	return nil
}

// runMachines runs a scenario on whole nodes.
func (f *Options) runMachines(s *sim.Scenario) (*sim.Report, *cells, error) {
	if f.Cells == 0 {
		r, err := machines.Run(s, machines.Options{})
		return r, nil, err
	}
	var stats machines.Stats
	r, err := machines.Run(s, machines.Options{Cells: overlay.DefaultCellRule(), Bits: uint8(bits.Len(uint(f.Cells)) - 1),
		Submitters: f.Cells, Stats: &stats}) // a job is lent to other cells while its submitter is up
	if err != nil {
		return r, nil, err
	}
	return r, cellsOf(&stats, s, r), nil
}

// firstJob is when the first job comes, after a scenario's start.
func firstJob(s *sim.Scenario) time.Duration {
	first := s.End.Sub(s.Day0())
	for i := range s.Workload.Classes {
		c := &s.Workload.Classes[i]
		from := c.From
		if c.Arrival == sim.AtTimes && len(c.Times) > 0 {
			from = c.Times[0]
		}
		first = min(first, from)
	}
	return first
}

// cellsOf is what a run of a scenario came to.
func cellsOf(stats *machines.Stats, s *sim.Scenario, r *sim.Report) *cells {
	ran := max(1, stats.Ran.Seconds())
	run := cellRun{hosts: len(s.Trace.Hosts), hours: stats.Ran.Hours(), members: stats.Up.Seconds() / ran,
		cells: stats.Led.Seconds() / ran, adverts: float64(stats.Adverts), summaries: float64(stats.Summaries),
		messages: float64(stats.Messages), takeovers: float64(stats.Takeovers)}
	if working := s.End.Sub(s.Day0()) - firstJob(s); working > 0 {
		run.placed = float64(r.Allocated) / working.Seconds()
	}
	m := fitModel(fittedRuns)
	return &cells{stats.Divided, stats.Joined, stats.Takeovers, stats.Lent, stats.TakenBack, stats.Adverts,
		stats.Summaries, stats.Messages, run.scale(), m.of(run), m.lasting(askedMembers, askedCells), run}
}

// printCells tells what cells did, as a table.
func printCells(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nPOLICY\tSEED\tDIVIDED\tJOINED\tTAKEOVERS\tLOANS\tTAKEN BACK\tADVERTS\tSUMMARIES\tMESSAGES")
	for _, r := range results {
		c := r.cells
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", r.Policy, r.Seed, c.Divided, c.Joined, c.Takeovers, c.Lent,
			c.TakenBack, c.Adverts, c.Summaries, c.Messages)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printScale(w, results)
}
