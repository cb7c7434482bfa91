package published

import (
	"context"
	"fmt"
	"io"
	"time"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/reproduce"
	"godwit/reproduce/bags"
	"godwit/sim/scenario"
)

// BagRuns is how many seeds the figures published are of.
const BagRuns = 50

// BagSets are the sets by name.
var BagSets = append([]string{"relays", "phones", "office"}, likeNames()...)

func likeNames() (out []string) {
	for _, s := range reproduce.Sets {
		out = append(out, s+"-like")
	}
	return out
}

// BagOptions are those of `godwit reproduce bags`.
type BagOptions struct {
	Traces               string   // directory with relays and phones; "": they are left out
	Only                 []string // sets; none: all
	Placement, Migration string
	Sizes                []int // of bags; none: those of the figures published
	Runs                 int
	Seed                 uint64
	Workers              int
	Short                bool // only what the targets are about
	Pair                 bool // only the default and FCFS
	Quick                bool // the same as Short, of one seed and the least bags, for a first look
	JSON, Quiet          bool
}

// check refuses what cannot be run.
func (f *BagOptions) check() error {
	switch {
	case f.Workers < 1 || f.Workers > mostWorkers:
		return failure.Usage("leave it out for one a core", "--workers %d: there can be 1 to %d", f.Workers, mostWorkers)
	case f.Runs < 1 || f.Runs > scenario.MaxSeeds:
		return failure.Usage("write --runs 50", "--runs %d: there can be 1 to %d", f.Runs, scenario.MaxSeeds)
	}
	for _, n := range f.Sizes {
		if n < 1 || n > bags.MostTasks {
			return failure.Usage("write --sizes 50,500", "--sizes %d: a bag has 1 to %d tasks", n, bags.MostTasks)
		}
	}
	if err := scenario.CheckPlacement(f.Placement); err != nil {
		return failure.Usage("`godwit sim --help` says what each does", "--policy: %w", err)
	}
	if err := scenario.CheckMigration(f.Migration); err != nil {
		return failure.Usage("`godwit sim --help` says what each does", "--migration: %w", err)
	}
	return nil
}

// Run runs the bags and prints what came of them.
func (f *BagOptions) Run(ctx context.Context, out, log io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	sets, missing, err := f.sets()
	if err != nil {
		return err
	}
	p := progress.New(log, f.Quiet)
	noteMissing(p, missing)
	grid := PolicyOptions{Workers: f.Workers}
	o := &bags.Options{Sets: sets, Placement: f.Placement, Migration: f.Migration, Seed: f.Seed, Runs: f.Runs,
		Sizes: f.Sizes, Pair: f.Pair, Each: grid.each(ctx, p)}
	if f.Quick {
		const quickTasks = 50
		o.Runs, o.Sizes = 1, []int{quickTasks}
	}
	if f.Quick || f.Short {
		o.Only = func(c *bags.Contender) bool { return c.Part == bags.Ablation }
	}
	begun := time.Now()
	r, err := bags.Run(o)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted")
	}
	if err != nil {
		return err
	}
	p.Note("%d runs in %s", o.Count(), table.Rough(time.Since(begun)))
	if f.JSON {
		for i := range r.Cells {
			if err := table.JSON(out, &r.Cells[i]); err != nil {
				return err
			}
		}
		return table.JSON(out, bagSummary{r.Rows, r.Targets, missing})
	}
	f.print(out, r, missing)
	return nil
}

// bagSummary is the last object of `godwit reproduce bags --json`.
type bagSummary struct {
	Rows    []bags.Row    `json:"rows"`
	Targets []bags.Target `json:"targets"`
	Missing []string      `json:"missing,omitempty"`
}

// sets are those that are wanted and there.
func (f *BagOptions) sets() (out []bags.Set, missing []string, err error) {
	kinds := map[string]string{"office": "office"}
	for _, s := range reproduce.Sets {
		kinds[s+"-like"] = s
	}
	chosen, missing, err := chosenSets(f.Traces, f.Only, kinds, BagSets)
	for _, s := range chosen {
		out = append(out, bags.Set{Name: s.name, Kind: s.kind, Measured: s.measured})
	}
	return out, missing, err
}

func (f *BagOptions) print(w io.Writer, r *bags.Report, missing []string) {
	fmt.Fprintf(w, "The end of a bag: %d hosts of each set, seeds %d to %d; these draw hosts, days, speeds, the hour.\n",
		bags.Hosts, r.Seed, r.Seed+uint64(r.Runs)-1)
	fmt.Fprint(w, `Tasks of 1 h (alike) or of 15 min to 3 h (mixed); state 64 MiB, checkpoint 1 s, 10 Mbit/s; owners leave
without warning. Every rival makes automatic checkpoints and copies its last tasks. MEDIAN and P95 are of the
time to the last result; MET is of deadlines, 1.5 times IDEAL, which no schedule beats; SENT is of checkpoints
and moves, UPLOAD with what was fetched.
`)
	for _, m := range missing {
		fmt.Fprintf(w, "%s: left out, its records are not there\n", m)
	}
	for i := range r.Cells {
		printBag(w, &r.Cells[i])
	}
	for i := 0; i < len(r.Rows); i += len(r.Contenders) {
		printBagRows(w, r.Rows[i:i+len(r.Contenders)])
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, t := range r.Targets {
		verdict := "yes"
		if !t.Holds {
			verdict = "NO"
		}
		rows = append(rows, []string{t.Name, t.Wanted, t.Obtained, verdict})
	}
	table.Print(w, "TARGET WANTED OBTAINED HOLDS", rows)
}

func printBag(w io.Writer, c *bags.Cell) {
	label := ""
	if c.Synthetic {
		label = " (synthetic)"
	}
	fmt.Fprintf(w, "\n%s%s, %s; ideal %s\n", c.Set, label, c.Bag, table.Seconds(c.Figures[0].IdealS))
	var rows [][]string
	for i := range c.Figures {
		x := &c.Figures[i]
		rows = append(rows, []string{x.Name, table.Seconds(x.MedianS), table.Seconds(x.P95S), fmt.Sprintf("%.0f%%", x.MetPct),
			fmt.Sprintf("%.0f%%", x.DonePct), fmt.Sprintf("%.0f", x.SentMiB), fmt.Sprintf("%.0f", x.UploadMiB),
			fmt.Sprintf("%.1f", x.Lost), fmt.Sprintf("%.1f", x.Moves), fmt.Sprintf("%.1f", x.Copies)})
	}
	table.Print(w, "POLICY MEDIAN P95 MET DONE SENT-MIB UPLOAD-MIB LOST MOVES COPIES", rows)
}

func printBagRows(w io.Writer, of []bags.Row) {
	what := "over all sets and bags"
	if of[0].Set != "" {
		what = of[0].Set + ", over its bags"
	}
	fmt.Fprintf(w, "\n%s\n", what)
	var rows [][]string
	for i := range of {
		x, oracle := &of[i], "-"
		if x.TimesOracle > 0 {
			oracle = fmt.Sprintf("%.3f", x.TimesOracle)
		}
		rows = append(rows, []string{x.Name, fmt.Sprintf("%.3f", x.TimesFCFS), fmt.Sprintf("%.3f", x.Worst),
			fmt.Sprintf("%.3f", x.MedianFCFS), fmt.Sprintf("%.3f", x.LateFCFS), oracle,
			fmt.Sprintf("%.3f", x.TimesIdeal), fmt.Sprintf("%.0f%%", x.MetPct), fmt.Sprintf("%.3f", x.SentFCFS),
			fmt.Sprintf("%.0f", x.UploadMiB),
			fmt.Sprintf("%.1f", x.Lost), fmt.Sprintf("%.1f", x.Moves), fmt.Sprintf("%.1f", x.Copies)})
	}
	const heads = "POLICY /FCFS WORST MEDIAN/FCFS P95/FCFS /ORACLE /IDEAL MET SENT/FCFS UPLOAD-MIB LOST MOVES COPIES"
	table.Print(w, heads, rows)
}
