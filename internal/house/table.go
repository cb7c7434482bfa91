package house

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// A Row is one measure of the module beside what it was, and its limit.
type Row struct {
	What, Before, Now string
	Limit             string // "" where there is none
	Holds             bool   // true where there is none
}

// shown is how many of the largest are printed, and of the places that are wrong.
const shown = 10

// Rows returns what must hold of the module, a row for each limit.
func (s *Survey) Rows() []Row {
	count := func(what string, was int, now int) Row {
		return Row{what, strconv.Itoa(was), strconv.Itoa(now), "none", now == 0}
	}
	rows := []Row{
		most("most methods of a type", before.mostMethods, s.Methods, mostMethods),
		count(fmt.Sprintf("types above %d methods", mostMethods), before.methods, above(s.Methods, mostMethods)),
		most("most fields of a struct", before.mostFields, s.Fields, mostFields),
		count(fmt.Sprintf("structs above %d fields", mostFields), before.fields, above(s.Fields, mostFields)),
		most("longest file", before.longestFile, s.Files, mostFileLines),
		count(fmt.Sprintf("files above %d lines", mostFileLines), before.files, above(s.Files, mostFileLines)),
		most("longest function", before.longestFunction, s.Functions, mostFunctionLines),
		count(fmt.Sprintf("functions above %d lines", mostFunctionLines), before.functions,
			above(s.Functions, mostFunctionLines)),
	}
	for _, a := range s.Arrows {
		_, was := before.up[a.Room]
		if a.All >= fewestArrows && (was || a.Share() > mostUp) {
			rows = append(rows, Row{"arrows that run up in " + a.Room, percent(before.up, a.Room),
				fmt.Sprintf("%.0f %%", 100*a.Share()), fmt.Sprintf("%.0f %%", 100*mostUp), a.Share() <= mostUp})
		}
	}
	for _, t := range s.Tests {
		if least, ok := leastTests[t.Room]; ok {
			rows = append(rows, Row{"test lines to a source line in " + t.Room, share(before.tests, t.Room),
				fmt.Sprintf("%.2f", t.Share()), fmt.Sprintf("%.2f", least), t.Share() >= least})
		}
	}
	return append(rows,
		count("exported names without a comment", before.undocumented, len(s.Undocumented)),
		count(fmt.Sprintf("lines over %d columns", mostColumns), before.long, len(s.Long)),
		count("citations of documents that are not here", before.dangling, len(s.Dangling)),
		Row{"lines of source", strconv.Itoa(before.sourceLines), strconv.Itoa(s.SourceLines),
			strconv.Itoa(before.sourceLines - fewerLines), s.SourceLines <= before.sourceLines-fewerLines})
}

// most is the row of the largest of some sizes, of which there is at least one.
func most(what string, was Size, now []Size, limit int) Row {
	show := func(s Size) string { return fmt.Sprintf("%d (%s)", s.N, s.What) }
	return Row{what, show(was), show(now[0]), strconv.Itoa(limit), now[0].N <= limit}
}

func percent(shares map[string]float64, room string) string {
	v, ok := shares[room]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

func share(shares map[string]float64, room string) string {
	v, ok := shares[room]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

// Holds reports whether every limit holds.
func (s *Survey) Holds() bool {
	for _, r := range s.Rows() {
		if !r.Holds {
			return false
		}
	}
	return true
}

// Print writes the rows as a table, and below it where the worst is.
func (s *Survey) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "measure\tbefore (%s)\tnow\tlimit\tholds\n", beforeCommit)
	for _, r := range s.Rows() {
		holds := map[bool]string{true: "yes", false: "NO"}[r.Holds]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.What, r.Before, r.Now, r.Limit, holds)
	}
	sizes(w, "types with most methods", s.Methods)
	sizes(w, "structs with most fields", s.Fields)
	sizes(w, "longest files", s.Files)
	sizes(w, "longest functions", s.Functions)
	fmt.Fprintln(w, "\narrows between files of a room\tup\tall\tshare")
	for _, a := range s.Arrows {
		if a.All >= fewestArrows {
			fmt.Fprintf(w, "%s\t%d\t%d\t%.0f %%\n", a.Room, a.Up, a.All, 100*a.Share())
		}
	}
	fmt.Fprintln(w, "\nrooms\tsource\ttests\ttests to a source line")
	for _, t := range s.Tests {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.2f\n", t.Room, t.Source, t.Tests, t.Share())
	}
	places(w, "exported names without a comment", s.Undocumented)
	places(w, "long lines", s.Long)
	places(w, "citations of documents that are not here", s.Dangling)
	return w.Flush()
}

func sizes(w io.Writer, what string, all []Size) {
	fmt.Fprintf(w, "\n%s\n", what)
	for _, s := range all[:min(shown, len(all))] {
		fmt.Fprintf(w, "%s\t%d\n", s.What, s.N)
	}
}

func places(w io.Writer, what string, all []string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", what)
	for _, p := range all[:min(shown, len(all))] {
		fmt.Fprintln(w, p)
	}
	if n := len(all) - shown; n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
}
