package submission

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/trials"
	"godwit/task"
)

// maxSummaries bounds the number of summaries in memory. A summary has at most 400 bytes.
const maxSummaries = 1_000_000

// maxFieldName is the longest name of a number that is summarized, in bytes, because programs wrote it.
const maxFieldName = 256

// A PointSummary describes the trials of one point of a sweep that have ended.
type PointSummary struct {
	Stage  string        // name; "" for a job without stages
	Params []task.EnvVar // without the trial
	Task   uint64        // number of any of the point's tasks, 0 if the job has stages
	Trials uint64
	Failed uint64 // of Trials
	// Fields summarizes the numbers in the results, by name. Trials without the number are not in its summary.
	Fields map[string]*trials.Summary
}

// EachPoint calls f with the summary of each point of a job, in the order of the sweep. Added trials are included, and
// added points follow, unless alone is set. Each result is read once. Only points with added trials stay in memory,
// because f gets every other point as soon as its results were read.
func EachPoint(ctx context.Context, client *api.Client, ref string, alone bool, f func(*PointSummary) error) error {
	of, err := rowsOf(ctx, client, ref, alone)
	if err != nil {
		return err
	}
	s := &summing{held: map[string]*PointSummary{}, f: f}
	for k := 1; k < len(of.ids); k++ {
		if err := of.eachOf(ctx, k, s.hold); err != nil {
			return err
		}
	}
	if err := of.eachOf(ctx, 0, s.next); err != nil {
		return err
	}
	return s.rest()
}

// summing gathers the results of tasks by their points.
type summing struct {
	f       func(*PointSummary) error
	held    map[string]*PointSummary // by pointName
	order   []string                 // of held
	fields  int                      // summaries in held
	current *PointSummary            // point whose tasks are being read, nil before the first
	name    string                   // of current
}

// hold adds a task to a point that is held.
func (s *summing) hold(r *row) error {
	name := r.pointName()
	p := s.held[name]
	if p == nil {
		p = r.point()
		s.held[name], s.order = p, append(s.order, name)
	}
	before := len(p.Fields)
	p.add(r)
	if s.fields += len(p.Fields) - before; s.fields+len(s.order) > maxSummaries {
		return tooManySummaries()
	}
	return nil
}

func tooManySummaries() error {
	return failure.Usage("write a .jsonl file of the first job's points with --alone", "there are more than %d statistics "+
		"of points", maxSummaries)
}

// next adds a task of the first job. Tasks arrive ordered by point.
func (s *summing) next(r *row) error {
	if r.again {
		return s.hold(r)
	}
	name := r.pointName()
	if s.current == nil || s.name != name {
		if err := s.flush(); err != nil {
			return err
		}
		s.current, s.name = r.point(), name
	}
	s.current.add(r)
	return nil
}

// flush passes the current point to f, merged with its added trials.
func (s *summing) flush() error {
	p := s.current
	if p == nil {
		return nil
	}
	s.current = nil
	if added := s.held[s.name]; added != nil {
		delete(s.held, s.name)
		p.merge(added)
	}
	return s.f(p)
}

// rest passes the remaining points to f.
func (s *summing) rest() error {
	err := s.flush()
	for _, name := range s.order {
		if p := s.held[name]; p != nil && err == nil {
			err = s.f(p)
		}
	}
	return err
}

// point returns the point of a task, without results.
func (r *row) point() *PointSummary {
	p := &PointSummary{Stage: r.stage, Fields: map[string]*trials.Summary{}}
	p.Task, _ = strconv.ParseUint(r.fixed[0], 10, 64)
	for _, v := range r.params {
		if v.Name != task.Trial {
			p.Params = append(p.Params, v)
		}
	}
	return p
}

// pointName tells points apart.
func (r *row) pointName() string {
	var b strings.Builder
	b.WriteString(r.stage)
	for _, v := range r.params {
		if v.Name != task.Trial {
			fmt.Fprintf(&b, "\x00%d:%s", len(v.Value), v.Value)
		}
	}
	return b.String()
}

// add counts a task of the point.
func (p *PointSummary) add(r *row) {
	p.Trials++
	if r.failed {
		p.Failed++
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		x, ok := numberOf(r.fields[name])
		s := p.Fields[name]
		if !ok || s == nil && (len(p.Fields) == maxFields || len(name) > maxFieldName) {
			continue
		}
		if s == nil {
			s = &trials.Summary{}
			p.Fields[name] = s
		}
		s.Add(x)
	}
}

// merge adds the trials of the same point that o describes.
func (p *PointSummary) merge(o *PointSummary) {
	p.Trials, p.Failed = p.Trials+o.Trials, p.Failed+o.Failed
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		if s := p.Fields[name]; s != nil {
			s.Merge(o.Fields[name])
		} else {
			p.Fields[name] = o.Fields[name]
		}
	}
}

// numberOf reads a decimal number, as JSON has them.
func numberOf(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && math.Abs(x) <= trials.MaxMagnitude
}
