package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// checks are all, in their order: later ones use what earlier ones left.
var checks = []check{
	{"door", "no page without a way in; `godwit open` lets in, once", seeDoor},
	{"drop", "a module and a job file dropped in run to the end", seeDrop},
	{"directory", "jobs with stages, directories, patterns and tables run to the end", seeDirectory},
	{"results", "its results are fetched", seeResults},
	{"pages", "every page without a word on the console or a request to elsewhere", seePages},
	{"readers", "names of controls, one heading, landmarks", seeReaders},
	{"widths", "360 and 1,440 pixels without a horizontal scroll", seeWidths},
	{"themes", "light and dark, contrast at least 4.5", seeThemes},
	{"pause", "pause and resume", seePause},
	{"rule", "a rule changed, with its preview", seeRule},
	{"ticket", "a ticket made on one node joins another", seeTicket},
	{"founder", "a founder's change of a pool's rules, with its preview", seeFounder},
	{"keyboard", "keyboard alone", seeKeyboard},
	{"tabs", "one stream for all tabs", seeTabs},
	{"cost", "an open page costs its node 2 % of a core at most", seeCost},
	{"hostile", "what a hostile member says stays text", seeHostile},
	{"day", "20 hours of events: the memory of page and node is flat after the first quarter", seeDay},
}

// A row is a check with what came of it.
type row struct {
	check
	seen string
	err  error
	took time.Duration
}

// look carries out a check.
func (f *face) look(c check) row {
	begun := time.Now()
	seen, err := c.see(f)
	if f.tab != nil {
		err = errors.Join(err, f.tab.trouble())
	}
	return row{c, seen, err, time.Since(begun)}
}

// tell prints a table of what was asked beside what was seen. It returns how many were not as asked.
func tell(out io.Writer, rows []row) (broken int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHECK\tASKED\tSEEN\tTOOK")
	for _, r := range rows {
		seen := r.seen
		if r.err != nil {
			broken++
			seen = "NOT SO: " + r.err.Error()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f s\n", r.name, r.asked, seen, r.took.Seconds())
	}
	w.Flush()
	return broken
}
