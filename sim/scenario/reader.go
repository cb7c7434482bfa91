package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/sim"
	"godwit/task"
)

// A reader fills in an Experiment.
type reader struct {
	*source
	*Experiment
	start, end moment
	days       int
	log        string
	machines   machines
}

// A moment is a time, or one so long after the beginning.
type moment struct {
	at    time.Time
	after time.Duration
}

func (m moment) given() bool { return !m.at.IsZero() || m.after != 0 }

func (m moment) from(beginning time.Time) time.Time {
	if m.at.IsZero() {
		return beginning.Add(m.after)
	}
	return m.at
}

func (r *reader) moment(to *moment) func(string, ast.Node) *task.Error {
	const hint = "write a date and time such as 2025-03-03T10:00:00Z, or a time after the trace's beginning such as 24h"
	return r.scalar(hint, func(text string) (err error) {
		if to.at, err = time.Parse(time.RFC3339, text); err == nil {
			return nil
		}
		to.at = time.Time{}
		if to.after, err = time.ParseDuration(text); err != nil || to.after < 0 {
			return fmt.Errorf("%s is no time", yamlfile.Quote(text))
		}
		return nil
	})
}

// mostDays bounds a run: ten years, as trace.Synthesize does.
const mostDays = 3660

// number reads a number from least to most.
func (r *reader) number(to *float64, least, most float64) func(string, ast.Node) *task.Error {
	return r.scalar("write a number", func(text string) error {
		x, ok := within(text, least, most)
		if !ok {
			return fmt.Errorf("%s is not a number from %v to %v", yamlfile.Quote(text), least, most)
		}
		*to = x
		return nil
	})
}

// machines is what a file says of machines, before what it names is read.
type machines struct {
	given          bool
	count          int
	file           string // .srs
	trace          string // file with up and down times, "" if they are drawn
	up, down       time.Duration
	upLaw, downLaw sim.Law
	servers        []Server
	ratesFile      string // .mue
	iterations     []float64
}

// specs reads a policy or a list of them.
func (r *reader) specs(to *[]string, check func(string) error) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		*to = nil
		return r.each(where, node, MaxSpecs, r.scalar(`quote policies with parameters: "fcfspp:n=6"`,
			func(text string) error {
				if slices.Contains(*to, text) {
					return fmt.Errorf("%s is there twice", yamlfile.Quote(text))
				}
				*to = append(*to, text)
				return check(text)
			}))
	}
}

// nearest turns the error of an unknown name into one that lists the names of
// the simulator, the one that was meant first.
func nearest(s string, err error, names []string) error {
	name, _, _ := strings.Cut(s, ":")
	if s == "" {
		return fmt.Errorf("a policy has no name: use one of %s", strings.Join(names, ", "))
	}
	if err == nil || slices.Contains(names, name) {
		return err
	}
	list := strings.Join(names, ", ")
	if near := task.Nearest(strings.ToLower(name), names); near != "" {
		return fmt.Errorf("there is no policy %s: did you mean %q? There are %s", yamlfile.Quote(name), near, list)
	}
	return fmt.Errorf("there is no policy %s: use one of %s", yamlfile.Quote(name), list)
}
