package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/reproduce"
	"godwit/sim/scenario"
	"godwit/trace"
)

// policiesFlags are those of `godwit reproduce policies`.
type policiesFlags struct {
	traces, placement, migration string
	checkpoints                  string
	only                         []string
	hosts, days, runs, workers   int
	seed                         uint64
	json, quiet                  bool
}

// The sizes that the whole grid is run with: it takes some minutes then, and the
// longest tasks are still short beside the days.
const (
	policyHosts = 120
	policyDays  = 15
	policyRuns  = 5
)

// policyCheckpoints are who makes automatic checkpoints, besides the oracle.
var policyCheckpoints = []string{"default", "all", "none"}

// The project's own policies.
const (
	ourPlacement = "expected"
	ourMigration = "cost"
)

func newReproducePolicies() *cobra.Command {
	var f policiesFlags
	cmd := &cobra.Command{
		Use:   "policies",
		Short: "Compare the default policies with 28 published ones and the oracle, on six sets of hosts",
		Long: `Compare expected placement with cost migration (the default, below) with random,
FCFS, FCFSPP, FLP, PSOPP and longest uptime, each with no migration, reactive, PSPP
and CBR, and with an oracle that knows the trace: on six sets of hosts, for tasks of
10 min, 1 h and 6 h, at workloads of 30 and 70 % of the time that hosts are
available and with a queue that is never empty. All run on equal hosts and arrivals;
a seed draws both.

Owners leave without warning and tasks are lost with their hosts; lost tasks are
run again. A state is 64 MiB, a checkpoint takes 1 s, hosts send 10 Mbit/s. The
published policies run as published: without periodic checkpoints; what they move
takes its state along.

Relays and phones are measured: --traces names the directory that has
relays/sessions.csv, relays/snapshots.csv and phones/availability_2state.csv, or the
same compressed, with .gz behind it. The other sets are synthetic, made like the
thesis's.

Each cell is won, lost by no more than the interval of the difference (within), or
LOST, and then the report says which part of the hosts' time makes the difference.
The exit code does not tell.`,
		Example: `  godwit reproduce policies --traces data
  godwit reproduce policies --only ucb-like --hosts 60 --days 8 --runs 2`,
		Args: explained(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.traces, "traces", "", "directory with relays and phones; without it they are left out")
	fl.StringVar(&f.placement, "policy", ourPlacement, "placement policy to compare with the rivals")
	fl.StringVar(&f.migration, "migration", ourMigration, "migration policy to go with it")
	fl.StringVar(&f.checkpoints, "checkpoints", policyCheckpoints[0], "who makes automatic checkpoints: "+strings.Join(policyCheckpoints, ", "))
	fl.StringSliceVar(&f.only, "only", nil, "only these sets, with commas between them: relays, phones, ucb-like, ...")
	fl.IntVar(&f.hosts, "hosts", policyHosts, "hosts of each set and seed, as far as a measured set has so many")
	fl.IntVar(&f.days, "days", policyDays, "days, 3 or more: in the first nothing comes, in the last only to a queue that is never empty")
	fl.IntVar(&f.runs, "runs", policyRuns, "runs of each cell, with seeds from --seed on")
	fl.Uint64Var(&f.seed, "seed", 1, "first seed: it draws hosts and arrivals")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "how many runs go on at once; what comes out does not depend on it")
	fl.BoolVar(&f.json, "json", false, "print JSON: an object a cell, then one with the targets")
	fl.BoolVar(&f.quiet, "quiet", false, "show no progress")
	return cmd
}

// check refuses what cannot be run.
func (f *policiesFlags) check() error {
	const least, most = 3, 3660
	switch {
	case f.workers < 1 || f.workers > mostWorkers:
		return failure.Usage("leave it out for one a core", "--workers %d: there can be 1 to %d", f.workers, mostWorkers)
	case f.hosts < 1 || f.hosts > trace.MaxHosts:
		return failure.Usage("leave it out for as many as the figures published are of", "--hosts %d: there can be 1 to %d", f.hosts, trace.MaxHosts)
	case f.days < least || f.days > most:
		return failure.Usage("leave it out", "--days %d: there can be %d to %d", f.days, least, most)
	case f.runs < 1 || f.runs > scenario.MaxSeeds:
		return failure.Usage("write --runs 5", "--runs %d: there can be 1 to %d", f.runs, scenario.MaxSeeds)
	}
	if _, err := oneOf("checkpoints", f.checkpoints, policyCheckpoints); err != nil {
		return err
	}
	if err := scenario.CheckPlacement(f.placement); err != nil {
		return failure.Usage("`godwit sim --help` says what each does", "--policy: %w", err)
	}
	if err := scenario.CheckMigration(f.migration); err != nil {
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
func (f *policiesFlags) sets() (sets []reproduce.PolicySet, missing []string, err error) {
	all := []reproduce.PolicySet{{Name: "relays"}, {Name: "phones"}}
	all = append(all, reproduce.LikeSets()...)
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	for i, n := range f.only {
		if slices.Contains(reproduce.Sets, n) {
			f.only[i] += "-like"
		}
		if !slices.Contains(names, f.only[i]) {
			return nil, nil, failure.Usage("name sets of these", "--only: there is no set %q: there are %s", n, strings.Join(names, ", "))
		}
	}
	for _, s := range all {
		if len(f.only) > 0 && !slices.Contains(f.only, s.Name) {
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
		return nil, nil, failure.Usage("name the directory that has them with --traces", "of %s no records are there, so that nothing would be run", strings.Join(missing, " and "))
	}
	return sets, missing, nil
}

// measured reads a measured set, nil if its file is not there.
func (f *policiesFlags) measured(name string) (*trace.Trace, error) {
	if f.traces == "" {
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
func (f *policiesFlags) find(file string) (path string, there bool) {
	for _, ending := range []string{"", ".gz"} {
		path := filepath.Join(f.traces, file+ending)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path, true
		}
	}
	return "", false
}

func (f *policiesFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	sets, missing, err := f.sets()
	if err != nil {
		return err
	}
	p := progress.New(cmd.ErrOrStderr(), f.quiet)
	for _, m := range missing {
		p.Note("%s: left out, for --traces names no directory that has its records", m)
	}
	g := &reproduce.PolicyGrid{
		Sets: sets, Hosts: f.hosts, Days: f.days, Seed: f.seed, Runs: f.runs,
		Ours: reproduce.Contender{Placement: f.placement, Migration: f.migration, Auto: f.checkpoints != "none"}, Auto: f.checkpoints == "all",
		Each: f.each(cmd.Context(), p),
	}
	begun := time.Now()
	r, err := g.Run()
	if err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("interrupted")
	}
	p.Note("%d runs in %s", g.Count(), table.Rough(time.Since(begun)))
	return f.print(cmd.OutOrStdout(), r, missing)
}

// each runs several at once and shows how far they are. When ctx ends the rest is
// not begun.
func (f *policiesFlags) each(ctx context.Context, p *progress.Progress) func(int, func(int)) {
	return func(n int, run func(int)) {
		var (
			over  atomic.Int64
			group sync.WaitGroup
			done  = make(chan struct{})
			tick  = time.NewTicker(time.Second)
		)
		defer tick.Stop()
		group.Go(func() {
			atOnce(f.workers)(n, func(i int) {
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
				p.Show(runStatus(int(over.Load()), n, min(f.workers, n)))
			case <-done:
				p.Done()
				return
			}
		}
	}
}

func (f *policiesFlags) print(w io.Writer, r *reproduce.PolicyReport, missing []string) error {
	if !f.json {
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
	Targets []reproduce.Target   `json:"targets"`
	Rivals  []reproduce.RivalRow `json:"rivals"`
	Notes   []string             `json:"notes,omitempty"`
	Missing []string             `json:"missing,omitempty"`
}
