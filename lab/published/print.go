package published

import (
	"fmt"
	"io"
	"strings"

	"godwit/lab/table"
	"godwit/reproduce"
)

// printResult prints an experiment: what it ran on, its figures, and the notes
// below them, each once.
func printResult(w io.Writer, r *reproduce.Result) {
	fmt.Fprintf(w, "%s: %s (%s)\n", r.Experiment.Name, r.Experiment.Title, r.Experiment.Where)
	for _, s := range r.Setup {
		fmt.Fprintf(w, "  %s\n", s)
	}
	fmt.Fprintln(w)
	numbers := map[string]int{}
	var notes []string
	rows := make([][]string, len(r.Cells))
	for i, c := range r.Cells {
		mark := ""
		if c.Note != "" {
			if numbers[c.Note] == 0 {
				notes = append(notes, c.Note)
				numbers[c.Note] = len(notes)
			}
			mark = fmt.Sprintf("[%d]", numbers[c.Note])
		} else if c.Unexplained() {
			mark = "not explained"
		}
		rows[i] = []string{c.Cell, c.Published, c.Obtained, string(c.Verdict), mark}
	}
	if len(rows) > 0 {
		table.Print(w, "FIGURE PUBLISHED OBTAINED VERDICT NOTE", rows)
		for i, n := range notes {
			fmt.Fprintf(w, "  [%d] %s\n", i+1, n)
		}
		fmt.Fprintln(w)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(w, "%s\n", t.Title)
		table.Print(w, strings.Join(t.Header, " "), t.Rows)
		fmt.Fprintln(w)
	}
}

// printVerdicts counts the verdicts: first of published figures, then of cells that
// reproduce none.
func printVerdicts(w io.Writer, cells []reproduce.Cell) {
	counts := reproduce.Count(cells)
	counted, open := 0, 0
	for _, c := range cells {
		if c.Counted() {
			counted++
		}
		if c.Unexplained() {
			open++
		}
	}
	fmt.Fprintf(w, "%d figures: %s; %d of those that differ are not explained\n", counted,
		listed(counts, reproduce.Verdicts), open)
	if counted < len(cells) {
		fmt.Fprintf(w, "not counted: %s\n", listed(counts, reproduce.Uncounted))
	}
}

// listed writes the counts of the verdicts.
func listed(counts map[reproduce.Verdict]int, verdicts []reproduce.Verdict) string {
	var parts []string
	for _, v := range verdicts {
		parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
	}
	return strings.Join(parts, ", ")
}
