package published

import (
	"context"
	"fmt"
	"io"
	"time"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/reproduce/ends"
)

// EndsJobs is how many jobs of each set the figures published are of.
const EndsJobs = 110

// EndsSets are the sets by name.
var EndsSets = []string{"relays", "phones", "office"}

// EndsOptions are those of `godwit reproduce ends`.
type EndsOptions struct {
	Traces  string   // directory with relays and phones; "": they are left out
	Only    []string // sets; none: all
	Jobs    int
	Seed    uint64
	Workers int
	JSON    bool
	Quiet   bool
}

// Run runs the jobs and prints how their forecasts held.
func (f *EndsOptions) Run(ctx context.Context, out, log io.Writer) error {
	if f.Jobs < 1 || f.Jobs > ends.MostJobs {
		return failure.Usage("leave it out for as many as the figures published are of", "--jobs %d: there can be 1 to %d",
			f.Jobs, ends.MostJobs)
	}
	sets, missing, err := f.sets()
	if err != nil {
		return err
	}
	p := progress.New(log, f.Quiet)
	noteMissing(p, missing)
	begun := time.Now()
	grid := PolicyOptions{Workers: f.Workers}
	r, err := ends.Run(&ends.Options{Sets: sets, Jobs: f.Jobs, Seed: f.Seed, Each: grid.each(ctx, p)})
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted")
	}
	if err != nil {
		return err
	}
	p.Note("%d jobs in %s", len(sets)*f.Jobs, table.Rough(time.Since(begun)))
	if f.JSON {
		return f.printJSON(out, r)
	}
	f.print(out, r)
	return nil
}

// sets are those that are wanted and there.
func (f *EndsOptions) sets() (out []ends.Set, missing []string, err error) {
	chosen, missing, err := chosenSets(f.Traces, f.Only, map[string]string{"office": "office"}, EndsSets)
	for _, s := range chosen {
		out = append(out, ends.Set{Name: s.name, Kind: s.kind, Measured: s.measured})
	}
	return out, missing, err
}

func (f *EndsOptions) printJSON(w io.Writer, r *ends.Report) error {
	for i := range r.Trials {
		if err := table.JSON(w, &r.Trials[i]); err != nil {
			return err
		}
	}
	return table.JSON(w, r.Rows)
}

// The share of ends in the interval that is aimed at.
const endsLeast, endsMost = 0.85, 0.95

func (f *EndsOptions) print(w io.Writer, r *ends.Report) {
	fmt.Fprintf(w, "Forecasts of jobs' ends held to account: %d jobs of each set, seed %d.\n", f.Jobs, f.Seed)
	fmt.Fprintf(w, "Of nine in ten ends that were to lie between the 5th and the 95th percentile, there lay "+
		"(target %.2f to %.2f):\n\n", endsLeast, endsMost)
	rows := make([][]string, 0, len(r.Rows))
	for i := range r.Rows {
		x := &r.Rows[i]
		verdict := "held"
		if x.Within < endsLeast || x.Within > endsMost {
			verdict = "MISSED"
			if x.WithinL <= endsMost && x.WithinH >= endsLeast {
				verdict = "near" // no further off than chance explains
			}
		}
		rows = append(rows, []string{
			x.Set, x.Moment, fmt.Sprint(x.Trials), fmt.Sprintf("%.2f", x.Within),
			fmt.Sprintf("%.2f-%.2f", x.WithinL, x.WithinH), verdict, fmt.Sprintf("%.2f", x.Early), fmt.Sprintf("%.2f", x.Late),
			fmt.Sprintf("%.2f", x.Off), fmt.Sprintf("%.2f", x.RateOff), fmt.Sprintf("%.2f", x.Off90),
			fmt.Sprintf("%.2f", x.RateOff90), fmt.Sprintf("%.2f", x.Width), fmt.Sprint(x.Never),
		})
	}
	table.Print(w, "SET MOMENT N WITHIN 95% TARGET BEFORE AFTER OFF RATE-OFF OFF90 RATE-OFF90 WIDTH NEVER", rows)
	fmt.Fprint(w, `
OFF is the factor by which the forecast's median was off what came, in the median over the jobs;
OFF90 what it was off at most in nine of ten. RATE-OFF are those of remaining work over present
rate: when handed in, work as its owner guessed over the speed of who is there; at half, the time
that the first half took, by tasks. WIDTH is the interval's end over its beginning. NEVER had not
ended when their records did, and lie within if the interval reaches beyond that. The 95 % interval
of a share is Wilson's. BEFORE and AFTER are the shares of ends that came before and after the
interval.
`)
}
