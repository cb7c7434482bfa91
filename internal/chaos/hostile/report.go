package hostile

import (
	"fmt"
	"io"
	"strings"
)

// A Row is what one attack came to.
type Row struct {
	ID     string   `json:"id"`
	Before string   `json:"before"` // what came of it before anything was done about it
	Times  int      `json:"times"`  // how often it was tried, each time otherwise
	Tried  string   `json:"tried"`  // in which variations
	Now    []string `json:"now"`    // what was measured
	Broken []string `json:"broken,omitempty"`
	TookS  float64  `json:"took_s"`

	Threat string  `json:"threat,omitempty"` // in a few words; "" for rows that are not in the table
	Varied *Varied `json:"varied,omitempty"` // nil for rows without counted variations
}

// Varied counts the variations of an attack by what came of them.
type Varied struct {
	Runs      int    `json:"runs"`
	Succeeded int    `json:"succeeded"` // runs in which the attack succeeded
	Right     int    `json:"right"`     // results of honest jobs in the other runs
	Wrong     int    `json:"wrong"`
	Lost      int    `json:"lost"`
	Twice     int    `json:"twice"`
	Seed      uint64 `json:"seed"`
	Of        string `json:"of"` // what varied
}

// String describes the counts in one line.
func (v *Varied) String() string {
	s := fmt.Sprintf("%d of %d succeed", v.Succeeded, v.Runs)
	if done := v.Right + v.Wrong + v.Lost + v.Twice; done > 0 {
		s += fmt.Sprintf("; honest tasks: %d right once, %d wrong, %d lost, %d twice", v.Right, v.Wrong, v.Lost, v.Twice)
	}
	return s
}

// judge breaks the row if an attack succeeded, or an honest job did not end right.
func (r *Row) judge(v *Varied, first string) {
	r.Varied = v
	r.tried(v.Runs, "%s (seed %d)", v.Of, v.Seed)
	r.now("%s", v)
	if v.Succeeded > 0 {
		r.broke("the attack succeeded in %d of %d runs, first: %s", v.Succeeded, v.Runs, first)
	}
	if v.Wrong+v.Lost+v.Twice > 0 {
		r.broke("of %d tasks of honest jobs, %d were wrong, %d were lost and %d were delivered twice",
			v.Right+v.Wrong+v.Lost, v.Wrong, v.Lost, v.Twice)
	}
}

// Holds reports whether nothing was broken.
func (r *Row) Holds() bool { return len(r.Broken) == 0 }

// tried counts n variations of something.
func (r *Row) tried(n int, format string, args ...any) {
	r.Times += n
	if r.Tried != "" {
		r.Tried += "; "
	}
	r.Tried += fmt.Sprintf(format, args...)
}

// now adds something measured.
func (r *Row) now(format string, args ...any) { r.Now = append(r.Now, fmt.Sprintf(format, args...)) }

// broke adds what does not hold.
func (r *Row) broke(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// must adds err as what does not hold.
func (r *Row) must(what string, err error) {
	if err != nil {
		r.broke("%s: %v", what, err)
	}
}

// A Report is all rows of a run.
type Report struct {
	Rows []*Row `json:"rows"`
}

// Write prints the rows as text.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	holds := 0
	for _, row := range r.Rows {
		verdict := "BROKEN"
		if row.Holds() {
			verdict, holds = "holds", holds+1
		}
		fmt.Fprintf(&b, "%-4s %-6s  tried %d times in %.0f s\n", row.ID, verdict, row.Times, row.TookS)
		fmt.Fprintf(&b, "       before  %s\n       tried   %s\n       now     %s\n", row.Before, row.Tried,
			strings.Join(row.Now, "; "))
		for _, what := range row.Broken {
			fmt.Fprintf(&b, "       BROKEN  %s\n", what)
		}
	}
	r.table(&b)
	fmt.Fprintf(&b, "%d of %d rows hold\n", holds, len(r.Rows))
	_, err := io.WriteString(w, b.String())
	return err
}

// table prints the rows that have counted variations: the outcome before the fix, and now.
func (r *Report) table(b *strings.Builder) {
	for i, row := range r.Rows {
		if row.Threat == "" {
			continue
		}
		if i == 0 || r.Rows[i-1].Threat == "" {
			fmt.Fprintf(b, "\n%-4s | %-6s | %s\n", "row", "now", "threat, outcome before, outcome now")
		}
		verdict, now := "open", strings.Join(row.Now, "; ")
		if row.Holds() {
			verdict = "holds"
		}
		if row.Varied != nil {
			now = row.Varied.String()
		}
		fmt.Fprintf(b, "%-4s | %-6s | %s\n     |        | before: %s\n     |        | now:    %s\n", row.ID, verdict,
			row.Threat, row.Before, now)
	}
}
