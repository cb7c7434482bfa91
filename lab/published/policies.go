package published

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/reproduce"
	"godwit/reproduce/policies"
	"godwit/sim/scenario"
	"godwit/trace"
)

// PolicyOptions are those of `godwit reproduce policies`.
type PolicyOptions struct {
	Traces, Placement, Migration string
	Checkpoints                  string
	Only                         []string
	Hosts, Days, Runs, Workers   int
	Seed                         uint64
	JSON, Quiet                  bool
}

// The sizes that the whole grid is run with: it takes some minutes then, and the
// longest tasks are still short beside the days.
const (
	PolicyHosts = 120
	PolicyDays  = 15
	PolicyRuns  = 5
)

// PolicyCheckpoints are who makes automatic checkpoints, besides the oracle.
var PolicyCheckpoints = []string{"default", "all", "none"}

// The project's own policies.
const (
	OurPlacement = "expected"
	OurMigration = "cost"
)

// check refuses what cannot be run.
func (f *PolicyOptions) check() error {
	const least, most = 3, 3660
	switch {
	case f.Workers < 1 || f.Workers > mostWorkers:
		return failure.Usage("leave it out for one a core", "--workers %d: there can be 1 to %d", f.Workers, mostWorkers)
	case f.Hosts < 1 || f.Hosts > trace.MaxHosts:
		return failure.Usage("leave it out for as many as the figures published are of", "--hosts %d: there can be 1 to %d",
			f.Hosts, trace.MaxHosts)
	case f.Days < least || f.Days > most:
		return failure.Usage("leave it out", "--days %d: there can be %d to %d", f.Days, least, most)
	case f.Runs < 1 || f.Runs > scenario.MaxSeeds:
		return failure.Usage("write --runs 5", "--runs %d: there can be 1 to %d", f.Runs, scenario.MaxSeeds)
	}
	if _, err := failure.OneOf("checkpoints", f.Checkpoints, PolicyCheckpoints); err != nil {
		return err
	}
	if err := scenario.CheckPlacement(f.Placement); err != nil {
		return failure.Usage("`godwit sim --help` says what each does", "--policy: %w", err)
	}
	if err := scenario.CheckMigration(f.Migration); err != nil {
		return failure.Usage("`godwit sim --help` says what each does", "--migration: %w", err)
	}
	return nil
}

// The files of --traces, which may also be compressed and end in .gz.
const (
	relaysFile    = "relays/sessions.csv"
	snapshotsFile = "relays/snapshots.csv"
	phonesRecords = "phones/availability_2state.csv"
)

// sets reads the measured sets, if they are wanted and there, and adds those that
// are made. missing has what is left out.
func (f *PolicyOptions) sets() (sets []policies.Set, missing []string, err error) {
	all := []policies.Set{{Name: "relays"}, {Name: "phones"}}
	all = append(all, policies.LikeSets()...)
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	for i, n := range f.Only {
		if slices.Contains(reproduce.Sets, n) {
			f.Only[i] += "-like"
		}
		if !slices.Contains(names, f.Only[i]) {
			return nil, nil, failure.Usage("name sets of these", "--only: there is no set %q: there are %s", n,
				strings.Join(names, ", "))
		}
	}
	for _, s := range all {
		if len(f.Only) > 0 && !slices.Contains(f.Only, s.Name) {
			continue
		}
		if s.Kind == "" {
			if s.Measured, err = f.measured(s.Name); err != nil {
				return nil, nil, err
			}
			if s.Measured == nil {
				missing = append(missing, s.Name)
				continue
			}
		}
		sets = append(sets, s)
	}
	if len(sets) == 0 {
		return nil, nil, failure.Usage("name the directory that has them with --traces",
			"of %s no records are there, so that nothing would be run", strings.Join(missing, " and "))
	}
	return sets, missing, nil
}

// measured reads a measured set, nil if its file is not there.
func (f *PolicyOptions) measured(name string) (*trace.Trace, error) {
	if f.Traces == "" {
		return nil, nil
	}
	var from traces.Source
	file := phonesRecords
	if name == "relays" {
		file = relaysFile
		from.Snapshots, _ = f.find(snapshotsFile)
	}
	path, there := f.find(file)
	if !there {
		return nil, nil
	}
	return from.Load(path)
}

// find returns the path of a file of --traces, and "" if it is not there.
func (f *PolicyOptions) find(file string) (path string, there bool) {
	for _, ending := range []string{"", ".gz"} {
		path := filepath.Join(f.Traces, file+ending)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path, true
		}
	}
	return "", false
}

// Run runs the grid, and prints what came of it.
func (f *PolicyOptions) Run(ctx context.Context, out, log io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	sets, missing, err := f.sets()
	if err != nil {
		return err
	}
	p := progress.New(log, f.Quiet)
	noteMissing(p, missing)
	g := &policies.Grid{
		Sets: sets, Hosts: f.Hosts, Days: f.Days, Seed: f.Seed, Runs: f.Runs,
		Ours: policies.Contender{Placement: f.Placement, Migration: f.Migration, Auto: f.Checkpoints != "none"},
		Auto: f.Checkpoints == "all",
		Each: f.each(ctx, p),
	}
	begun := time.Now()
	r, err := g.Run()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("interrupted")
	}
	p.Note("%d runs in %s", g.Count(), table.Rough(time.Since(begun)))
	return f.print(out, r, missing)
}

// each runs several at once and shows how far they are. When ctx ends the rest is
// not begun.
func (f *PolicyOptions) each(ctx context.Context, p *progress.Progress) func(int, func(int)) {
	return func(n int, run func(int)) {
		var (
			over  atomic.Int64
			group sync.WaitGroup
			done  = make(chan struct{})
			tick  = time.NewTicker(time.Second)
		)
		defer tick.Stop()
		group.Go(func() {
			atOnce(f.Workers)(n, func(i int) {
				if ctx.Err() == nil {
					run(i)
				}
				over.Add(1)
			})
			close(done)
		})
		for {
			select {
			case <-tick.C:
				p.Show(progress.Runs(int(over.Load()), n, min(f.Workers, n)))
			case <-done:
				p.Done()
				return
			}
		}
	}
}

func (f *PolicyOptions) print(w io.Writer, r *policies.Report, missing []string) error {
	if !f.JSON {
		printPolicies(w, r, missing)
		return nil
	}
	for i := range r.Cells {
		if err := table.JSON(w, &r.Cells[i]); err != nil {
			return err
		}
	}
	return table.JSON(w, policySummary{r.Summary, r.Rivals, r.Notes, missing})
}

// policySummary is the last object of `godwit reproduce policies --json`.
type policySummary struct {
	Targets []policies.Target   `json:"targets"`
	Rivals  []policies.RivalRow `json:"rivals"`
	Notes   []string            `json:"notes,omitempty"`
	Missing []string            `json:"missing,omitempty"`
}
