package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"godwit/sim"
	"godwit/task"
)

// Options say how tables are written. The zero value is fine.
type Options struct {
	// Margin writes Zhang's margin of error (Estimate.Margin) behind the means
	// instead of Student's interval (Estimate.Half).
	Margin bool
	// Notes are lines for under the tables, such as why tasks are impossible.
	Notes []string
}

// A form is how a figure is written.
type form uint8

const (
	whole   form = iota // a count; its mean with one digit
	decimal             // one digit after the point
	seconds             // a length of time
	volume              // in bytes
)

// undefined stands where a figure has no value.
const undefined = "-"

// Table writes reports for people: what they are of, a row for each pair of
// policies in each of several tables (tasks, host time, times, predictions of
// exits where there are any), and what must be known with them.
func Table(w io.Writer, reports []*sim.Report, o Options) error {
	if len(reports) == 0 {
		return nil
	}
	t := &writer{groups: Groups(reports), o: o}
	t.head(reports)
	t.table(arrived, allocated, succeeded, failed, returned, unfinished, impossible, success, process)
	columns := []measure{useful, wasted, idle, pending, utilisation}
	if t.any(ofOracle) {
		columns = append(columns, ofOracle)
	}
	t.table(columns...)
	t.table(response, response50, response95, response99, responseMax, makespan)
	t.table(migrations, moved, saved)
	if t.any(exits) {
		t.title("Predicted exits (Zhang, table 5-1): CP1 came, CP2 stayed as predicted, FA false alarms, MD missed, D = " +
			"CP1/exits, C = CP1/(CP1+FA)")
		t.table(cp1, cp2, falseCall, missedOne, exits, missed, detection, correct)
	}
	t.notes(reports)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// A writer collects the text of a Table.
type writer struct {
	b      strings.Builder
	groups []Group
	o      Options
}

func (t *writer) title(format string, args ...any) { fmt.Fprintf(&t.b, format+"\n", args...) }

// head says what the runs were of, and what stands behind ±.
func (t *writer) head(reports []*sim.Report) {
	r := reports[0]
	label := ""
	if r.Synthetic != "" {
		label = ", synthetic (" + r.Synthetic + ")"
	}
	if slices.ContainsFunc(reports, func(other *sim.Report) bool { return other.Synthetic != r.Synthetic }) {
		label += ", and another such set for each seed"
	}
	if r.Paper {
		label += ", published rules"
	}
	depth := ", depth: " + r.Depth
	if t.depths() { // each row says its own
		depth = ""
	}
	t.title("%s%s: %d hosts, %.4g days%s", r.Trace, label, r.Hosts, r.Days, depth)
	most := 0
	var seeds []string
	for _, g := range t.groups {
		most = max(most, len(g.Runs))
	}
	for _, r := range reports {
		if s := strconv.FormatUint(r.Seed, 10); !slices.Contains(seeds, s) {
			seeds = append(seeds, s)
		}
	}
	switch {
	case most < 2:
		t.title("one run of each, seed %s: no interval can be given", seedRange(seeds))
	case t.o.Margin:
		t.title("means of %d runs, seeds %s; ± is the margin of error 1.96 s/sqrt(n) (Zhang, Eq 7.5)", most, seedRange(seeds))
	default:
		t.title("means of %d runs, seeds %s; ± is the 95 %% interval by Student's t", most, seedRange(seeds))
	}
	t.title("")
}

// seedRange shortens seeds that follow each other.
func seedRange(seeds []string) string {
	const most = 4 // listed one by one
	if len(seeds) <= most {
		return strings.Join(seeds, " ")
	}
	return fmt.Sprintf("%s ... %s", seeds[0], seeds[len(seeds)-1])
}

// any says whether a measure is defined anywhere.
func (t *writer) any(m measure) bool {
	return slices.ContainsFunc(t.groups, func(g Group) bool { return g.over(m).N > 0 })
}

// table writes a row for each group. Columns are aligned to the left, since
// intervals differ in their width.
func (t *writer) table(columns ...measure) {
	tw := tabwriter.NewWriter(&t.b, 0, 0, 2, ' ', 0)
	depths := t.depths()
	header := []string{"policy", "migration"}
	fair, chunked := t.names(func(g Group) string { return g.Fairness }),
		t.names(func(g Group) string { return g.Chunking })
	if fair {
		header = append(header, "fairness")
	}
	if chunked {
		header = append(header, "chunking")
	}
	if depths {
		header = append(header, "depth")
	}
	for _, c := range columns {
		header = append(header, c.title)
	}
	fmt.Fprintln(tw, strings.ToUpper(strings.Join(header, "\t")))
	for _, g := range t.groups {
		row := []string{g.Policy, g.Migration}
		if g.Migration == "" {
			row[1] = "none"
		}
		if fair {
			row = append(row, cmp.Or(g.Fairness, usual))
		}
		if chunked {
			row = append(row, cmp.Or(g.Chunking, usual))
		}
		if depths {
			row = append(row, g.Runs[0].Depth)
		}
		for _, c := range columns {
			row = append(row, t.cell(g.over(c), c.form))
		}
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	tw.Flush()
	t.title("")
}

// usual stands for a policy that no run names.
const usual = "usual"

// names says whether any group names a policy of a kind.
func (t *writer) names(of func(Group) string) bool {
	return slices.ContainsFunc(t.groups, func(g Group) bool { return of(g) != "" })
}

// depths says whether there are several, so that rows have to say theirs.
func (t *writer) depths() bool {
	return slices.ContainsFunc(t.groups, func(g Group) bool { return g.Runs[0].Depth != t.groups[0].Runs[0].Depth })
}

func (t *writer) cell(e Estimate, f form) string {
	if e.N == 0 {
		return undefined
	}
	half := e.Half()
	if t.o.Margin {
		half = e.Margin()
	}
	switch {
	case e.N == 1:
		return f.write(e.Mean, false)
	case e.Std == 0: // nothing was drawn, or nothing came of it
		return f.write(e.Mean, false) + " ±0"
	}
	return f.write(e.Mean, true) + " ±" + f.write(half, true)
}

// write writes one figure; mean says that it is one over runs.
func (f form) write(x float64, mean bool) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return undefined
	case f == whole && !mean:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case f == seconds:
		return duration(x)
	case f == volume:
		return task.FormatSize(int64(x))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// duration writes seconds to the nearest tenth, or second from a minute on.
func duration(s float64) string {
	unit := 100 * time.Millisecond
	if s >= 60 {
		unit = time.Second
	}
	const most = float64(math.MaxInt64) / float64(time.Second)
	return time.Duration(min(s, most/2) * float64(time.Second)).Round(unit).String()
}

// notes tells what the figures cannot: tasks that nobody can run, rules that
// differ from the live ones.
func (t *writer) notes(reports []*sim.Report) {
	for _, n := range t.o.Notes {
		t.title("%s", n)
	}
	var told []string
	for _, r := range reports {
		for _, d := range r.Differences {
			if !slices.Contains(told, d) {
				told = append(told, d)
			}
		}
	}
	if len(told) > 0 {
		t.title("Differences from the live rules:")
		for _, d := range told {
			t.title("  %s", d)
		}
	}
}
