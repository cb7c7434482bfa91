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
	fmt.Fprintf(&b, "%d of %d rows hold\n", holds, len(r.Rows))
	_, err := io.WriteString(w, b.String())
	return err
}
