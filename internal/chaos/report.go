package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"godwit/internal/chaos/hostile"
)

// A promise is one of godwit's, and whether this run found it kept.
type promise struct {
	What   string `json:"what"`
	Kept   bool   `json:"kept"`
	Detail string `json:"detail,omitempty"` // what broke it
}

// A figure is something measured that has no limit, or beside its limit.
type figure struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Target string `json:"target,omitempty"`
}

// A report is what a run found out. It is filled by one goroutine.
type report struct {
	Scenario string    `json:"scenario"`
	Seed     uint64    `json:"seed"`
	Nodes    int       `json:"nodes"`
	Skipped  string    `json:"skipped,omitempty"` // why nothing was tried
	Figures  []figure  `json:"figures,omitempty"`
	Promises []promise `json:"promises,omitempty"`
	Takeover *spread   `json:"takeover,omitempty"` // from kill -9 to the next leader
	Named    *spread   `json:"named,omitempty"`    // to when most live nodes named it
	Goodbye  *spread   `json:"goodbye,omitempty"`  // from SIGTERM to the next leader
	Jobs     []ending  `json:"jobs,omitempty"`

	Rows *hostile.Report `json:"hostile,omitempty"` // of attacks by strangers
	Kept bool            `json:"kept"`              // every promise
}

// show adds a figure.
func (r *report) show(name, target, format string, args ...any) {
	r.Figures = append(r.Figures, figure{Name: name, Value: fmt.Sprintf(format, args...), Target: target})
}

// expect adds a promise; the rest says what broke it. It returns kept.
func (r *report) expect(what string, kept bool, format string, args ...any) bool {
	p := promise{What: what, Kept: kept}
	if !kept {
		p.Detail = fmt.Sprintf(format, args...)
	}
	r.Promises = append(r.Promises, p)
	return kept
}

// must adds a promise that err breaks, and says whether it was kept.
func (r *report) must(what string, err error) bool {
	r.expect(what, err == nil, "%v", err)
	return err == nil
}

func (r *report) broken() (n int) {
	for _, p := range r.Promises {
		if !p.Kept {
			n++
		}
	}
	return n
}

// write prints the report; it is one JSON object or a table.
func (r *report) write(w io.Writer, asJSON bool) error {
	r.Kept = r.broken() == 0
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	if r.Skipped != "" {
		_, err := fmt.Fprintf(w, "skipped: %s\n", r.Skipped)
		return err
	}
	fmt.Fprintf(w, "\n%s: %d nodes, seed %d\n", r.Scenario, r.Nodes, r.Seed)
	for _, f := range r.Figures {
		fmt.Fprintf(w, "  %-52s %-34s %s\n", f.Name, f.Value, f.Target)
	}
	promises := r.Promises
	if r.Rows != nil {
		if err := r.Rows.Write(w); err != nil {
			return err
		}
		promises = promises[len(r.Rows.Rows):] // the first are the rows again
	}
	for _, p := range promises {
		if p.Kept {
			fmt.Fprintf(w, "kept    %s\n", p.What)
		} else {
			fmt.Fprintf(w, "BROKEN  %s: %s\n", p.What, p.Detail)
		}
	}
	verdict := "all promises kept"
	if n := r.broken(); n > 0 {
		verdict = fmt.Sprintf("%d of %d promises broken", n, len(r.Promises))
	}
	_, err := fmt.Fprintf(w, "verdict: %s (%s --seed %d)\n", verdict, r.Scenario, r.Seed)
	return err
}

const (
	// The targets: docs/architecture.md section 6; the median is their usual case.
	takeoverMedian = 3 * time.Second
	takeoverWorst  = 5 * time.Second
	goodbyeWorst   = time.Second
)

// takeovers adds what was measured of leaders that fell.
func (r *report) takeovers(falls []fall) {
	var crash, named, goodbye []time.Duration
	lost, slow, rude := "", "", ""
	for _, f := range falls {
		took := f.Claimed.Sub(f.At)
		switch {
		case f.Claimed.IsZero() || f.Named.IsZero():
			lost += fmt.Sprintf("; after %s another claims to lead: %t, most name one: %t", f, !f.Claimed.IsZero(),
				!f.Named.IsZero())
		case f.Asked:
			goodbye = append(goodbye, took)
			rude += late(f, took, goodbyeWorst)
		default:
			crash, named = append(crash, took), append(named, f.Named.Sub(f.At))
			slow += late(f, took, takeoverWorst)
		}
	}
	c, n, g := spreadOf(crash), spreadOf(named), spreadOf(goodbye)
	r.Takeover, r.Named, r.Goodbye = &c, &n, &g
	r.show("takeover after a kill -9", fmt.Sprintf("at most %v, %v", takeoverMedian, takeoverWorst), "%s", c)
	r.show("  until most live nodes name the new leader", "", "%s", n)
	r.show("takeover after a SIGTERM", fmt.Sprintf("worst at most %v", goodbyeWorst), "%s", g)
	r.expect("every leader that fell is followed by another", lost == "", "%.500s", lost)
	r.expect("a killed leader is replaced in time", c.Median <= takeoverMedian.Seconds() &&
		c.Worst <= takeoverWorst.Seconds(), "%s%.500s", c, slow)
	r.expect("a leader told to stop is replaced in time", g.Worst <= goodbyeWorst.Seconds(), "%s%.500s", g, rude)
}

// late tells of a takeover that took longer than the limit; "" of any other.
func late(f fall, took, limit time.Duration) string {
	if took <= limit {
		return ""
	}
	return fmt.Sprintf("; %.2f s after %s", took.Seconds(), f)
}

// String names a fall as it can be found in the nodes' logs.
func (f fall) String() string {
	how := "the kill"
	if f.Asked {
		how = "the SIGTERM"
	}
	return fmt.Sprintf("%s of node %d at %s", how, f.Node, f.At.UTC().Format("15:04:05.000"))
}

// fencing adds the promise about epochs, of which those complaints are known.
func (r *report) fencing(broken []string) {
	first := ""
	if len(broken) > 0 {
		first = broken[0]
	}
	r.expect("no lower epoch is followed, and no epoch has two leaders", len(broken) == 0, "%d times; the first: %s",
		len(broken), first)
}

// String writes a spread for a table.
func (s spread) String() string {
	if s.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, median %.2f s, worst %.2f s", s.N, s.Median, s.Worst)
}
