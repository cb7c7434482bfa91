package published

import (
	"cmp"
	"fmt"
	"io"

	"godwit/lab/table"
	"godwit/reproduce/policies"
)

// printPolicies prints the grid: what it ran on, a table a set, the contenders
// over all cells, and the targets.
func printPolicies(w io.Writer, r *policies.Report, missing []string) {
	fmt.Fprintf(w, "%s, against %d published pairs of policies and the oracle; automatic checkpoints: %s\n", r.Ours,
		len(r.Cells[0].Rivals), whoSaves(r))
	for _, s := range r.Setup {
		fmt.Fprintf(w, "  %s\n", s)
	}
	for _, m := range missing {
		fmt.Fprintf(w, "  %s: left out, its records are not there\n", m)
	}
	fmt.Fprintf(w, "  %s draw hosts and arrivals; tasks come at random for 30 and 70 %% of the time that the hosts are "+
		"available, or always wait\n", seedsOf(r))
	fmt.Fprintln(w, "  in the first day nothing comes, in the last only to the queue that is never empty")
	fmt.Fprintln(w, "  owners leave without warning, lost tasks are run again; state 64 MiB, checkpoint 1 s, 10 "+
		"Mbit/s, 25 ms, missed after 10 s")
	fmt.Fprintln(w, "  GAIN is over the best rival by useful work, with its 95 % interval over seeds; DONE is of the "+
		"tasks that came, OK of their runs;")
	fmt.Fprintln(w, "  RESPONSE counts tasks that are not completed up to the end, /QUICKEST is by the least of a rival's")
	for i := 0; i < len(r.Cells); {
		k := i
		for k < len(r.Cells) && r.Cells[k].Set == r.Cells[i].Set {
			k++
		}
		printPolicyCells(w, r.Cells[i:k])
		i = k
	}
	printContenders(w, r)
	fmt.Fprintln(w)
	var rows [][]string
	for _, t := range r.Summary {
		verdict := "yes"
		switch {
		case t.Wanted == "":
			verdict = "-"
		case !t.Holds:
			verdict = "NO"
		}
		rows = append(rows, []string{t.Name, cmp.Or(t.Wanted, "-"), t.Obtained, verdict, t.Worst})
	}
	table.Print(w, "TARGET WANTED OBTAINED HOLDS WORST", rows)
}

// whoSaves says who makes automatic checkpoints.
func whoSaves(r *policies.Report) string {
	switch {
	case r.Auto:
		return "everybody's"
	case r.Ours.Auto:
		return "the default's and the oracle's"
	}
	return "the oracle's"
}

func seedsOf(r *policies.Report) string {
	if r.Runs == 1 {
		return fmt.Sprintf("seed %d", r.Seed)
	}
	return fmt.Sprintf("seeds %d to %d", r.Seed, r.Seed+uint64(r.Runs)-1)
}

// printPolicyCells prints the cells of a set, and below them why some are not won.
func printPolicyCells(w io.Writer, cells []policies.Cell) {
	label := ""
	if cells[0].Synthetic {
		label = " (synthetic)"
	}
	fmt.Fprintf(w, "\n%s%s\n", cells[0].Set, label)
	var rows [][]string
	var reasons []string
	for i := range cells {
		c := &cells[i]
		mark := string(c.Verdict)
		if c.Reason != "" {
			reasons = append(reasons, c.Reason)
			mark += fmt.Sprintf(" [%d]", len(reasons))
		}
		done, response, quickest := "-", "-", "-"
		if c.Quickest != nil {
			done, response = fmt.Sprintf("%.2f%%", c.Ours.DonePct), table.Seconds(c.Ours.ResponseS)
			quickest = fmt.Sprintf("%s %s (%s)", ratioText(c.Ours.ResponseS, c.Quickest.ResponseS), c.Quickest.Name, c.Response)
		}
		best := c.Best.Name
		if c.Ties > 0 {
			best += fmt.Sprintf(" and %d more", c.Ties)
		}
		rows = append(rows, []string{
			c.Size(), c.Workload, hoursText(c.Ours.UsefulS), gainText(c), best, mark,
			ratioText(c.Ours.UsefulS, c.FCFS.UsefulS), ratioText(c.Ours.UsefulS, c.Oracle.UsefulS),
			fmt.Sprintf("%.2f%%", c.Ours.WastedPct), done, fmt.Sprintf("%.2f%%", c.Ours.SuccessPct), response, quickest,
		})
	}
	table.Print(w, "SIZE LOAD USEFUL-H GAIN-H BEST-RIVAL VERDICT /FCFS /ORACLE WASTED DONE OK RESPONSE /QUICKEST", rows)
	for i, r := range reasons {
		fmt.Fprintf(w, "  [%d] %s\n", i+1, r)
	}
}

func hoursText(s float64) string { return fmt.Sprintf("%.1f", s/3600) }

func gainText(c *policies.Cell) string {
	gain := fmt.Sprintf("%+.1f", c.Gain.Mean/3600)
	if gain == "-0.0" && c.Verdict == policies.Won {
		gain = "+0.0" // rounding
	}
	if c.Gain.Half < 0 {
		return gain
	}
	return fmt.Sprintf("%s ± %.1f", gain, c.Gain.Half/3600)
}

func ratioText(x, base float64) string {
	if !(base > 0) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x/base)
}

// printContenders prints all contenders over all cells, and what is to be said of
// some.
func printContenders(w io.Writer, r *policies.Report) {
	fmt.Fprintf(w, "\nover all %d cells, by useful work beside the best rival's\n", len(r.Cells))
	var rows [][]string
	for _, v := range r.Rivals {
		rows = append(rows, []string{
			v.Name, fmt.Sprint(v.BestIn), fmt.Sprintf("%.1f%%", v.OfBestPct), fmt.Sprintf("%.1f%%", v.WorstPct),
			fmt.Sprintf("%.2f%%", v.WastedPct), fmt.Sprintf("%.2f%%", v.SuccessPct), fmt.Sprintf("%.0f", v.Moves),
		})
	}
	table.Print(w, "POLICY BEST-IN OF-BEST WORST WASTED OK MOVES", rows)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}
