package submission

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/api"
	"godwit/lab/table"
	"godwit/lab/trials"
	"godwit/task"
)

// WritePoints writes one row for each point of a job as CSV, or one JSON object per line if asJSON is set. It returns
// the number of points.
func WritePoints(ctx context.Context, client *api.Client, ref string, w io.Writer, asJSON, alone bool) (points int,
	err error) {
	if asJSON {
		enc := json.NewEncoder(w)
		err := EachPoint(ctx, client, ref, alone, func(p *PointSummary) error {
			points++
			return enc.Encode(p.json())
		})
		return points, err
	}
	all, err := allPoints(ctx, client, ref, alone, 0)
	if err != nil {
		return 0, err
	}
	out := table.NewCSV(w, false)
	err = out.Write(all.csvHeader())
	for _, p := range all.points {
		err = errors.Join(err, out.Write(all.csvRow(p)))
	}
	return len(all.points), errors.Join(err, out.Flush())
}

// errTooMany ends the reading of points that are not shown.
var errTooMany = errors.New("too many points")

// PrintPoints prints a table for people: one line for each point and each number in its results. It returns false, and
// prints nothing, if there are more than so many points; 0 means no limit.
func PrintPoints(ctx context.Context, client *api.Client, ref string, w io.Writer, alone bool, most int) (bool, error) {
	all, err := allPoints(ctx, client, ref, alone, most)
	if errors.Is(err, errTooMany) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	all.print(w)
	return true, nil
}

// pointSet is all points of a job in memory.
type pointSet struct {
	points []*PointSummary
	staged bool
	failed bool // of a point trials failed
	params []string
	fields []string // sorted
}

func allPoints(ctx context.Context, client *api.Client, ref string, alone bool, most int) (*pointSet, error) {
	all, held := &pointSet{}, 0
	seen := map[string]bool{}
	err := EachPoint(ctx, client, ref, alone, func(p *PointSummary) error {
		if held += 1 + len(p.Fields); held > maxSummaries {
			return tooManySummaries()
		}
		if all.add(p, seen); most > 0 && len(all.points) > most {
			return errTooMany
		}
		return nil
	})
	all.fields = slices.Sorted(maps.Keys(seen))
	return all, err
}

func (a *pointSet) add(p *PointSummary, fields map[string]bool) {
	a.points = append(a.points, p)
	a.staged, a.failed = a.staged || p.Stage != "", a.failed || p.Failed > 0
	for _, v := range p.Params {
		if !slices.Contains(a.params, v.Name) {
			a.params = append(a.params, v.Name)
		}
	}
	for name := range p.Fields {
		if len(fields) < maxFields {
			fields[name] = true
		}
	}
}

// figures are the columns of CSV for each number, behind its name and a point.
var figures = []string{"n", "mean", "sd", "ci95", "least", "greatest"}

func (a *pointSet) csvHeader() []string {
	var out []string
	if a.staged {
		out = append(out, "stage")
	}
	out = append(append(out, a.params...), "trials", "failed")
	for _, name := range a.fields {
		for _, figure := range figures {
			out = append(out, name+"."+figure)
		}
	}
	return out
}

func (a *pointSet) csvRow(p *PointSummary) []string {
	var out []string
	if a.staged {
		out = append(out, p.Stage)
	}
	out = append(out, p.values(a.params)...)
	out = append(out, strconv.FormatUint(p.Trials, 10), strconv.FormatUint(p.Failed, 10))
	for _, name := range a.fields {
		out = append(out, figuresOf(p.Fields[name], "", -1)...)
	}
	return out
}

// values returns the values of parameters, "" if the point has no such parameter.
func (p *PointSummary) values(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if k := slices.IndexFunc(p.Params, func(v task.EnvVar) bool { return v.Name == name }); k >= 0 {
			out[i] = p.Params[k].Value
		}
	}
	return out
}

// figuresOf returns the figures of a summary as text with the given number of digits, or with all digits if that is -1.
// Unknown figures are none.
func figuresOf(s *trials.Summary, none string, digits int) []string {
	if s == nil || s.N() == 0 {
		return []string{"0", none, none, none, none, none}
	}
	text := func(x float64) string {
		if math.IsInf(x, 0) {
			return none
		}
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	return []string{strconv.FormatUint(s.N(), 10), text(s.Mean()), text(s.Deviation()), text(s.HalfWidth()),
		text(s.Least()), text(s.Greatest())}
}

// print writes the table for people.
func (a *pointSet) print(w io.Writer) {
	const digits, most = 5, 40 // significant digits, and characters of a value
	var header []string
	if a.staged {
		header = append(header, "STAGE")
	}
	header = append(append(header, a.params...), "FIELD", "N", "MEAN", "SD", "±95%", "LEAST", "GREATEST", "HISTOGRAM")
	if a.failed {
		header = append(header, "FAILED")
	}
	var rows [][]string
	for _, p := range a.points {
		var head []string
		if a.staged {
			head = append(head, p.Stage)
		}
		for _, v := range p.values(a.params) {
			head = append(head, shownValue(v, most))
		}
		names := slices.Sorted(maps.Keys(p.Fields))
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			line := append(slices.Clone(head), shownValue(name, most))
			line = append(line, figuresOf(p.Fields[name], "-", digits)...)
			sparkline := ""
			if s := p.Fields[name]; s != nil {
				h := s.Histogram()
				sparkline = "[" + h.Sparkline() + "]"
			}
			if line = append(line, sparkline); a.failed {
				line = append(line, strconv.FormatUint(p.Failed, 10))
			}
			rows = append(rows, line)
		}
	}
	table.Print(w, strings.Join(header, " "), rows)
}

// shownValue returns a text in at most so many characters, in one cell of a table; "-" for no text.
func shownValue(s string, most int) string {
	if s == "" {
		return "-"
	}
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s))
	if len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return string(runes)
}

// jsonPoint is a point as programs see it.
type jsonPoint struct {
	Stage  string               `json:"stage,omitempty"`
	Params map[string]string    `json:"params"`
	Trials uint64               `json:"trials"`
	Failed uint64               `json:"failed"`
	Fields map[string]jsonField `json:"fields"`
}

// jsonField describes the numbers of one name in the results of a point.
type jsonField struct {
	N         uint64        `json:"n"`
	Mean      float64       `json:"mean"`
	SD        *float64      `json:"sd,omitempty"`   // absent with one number
	CI95      *float64      `json:"ci95,omitempty"` // half width of the 95 % interval of the mean; absent with one number
	Least     float64       `json:"least"`
	Greatest  float64       `json:"greatest"`
	Histogram jsonHistogram `json:"histogram"`
}

// jsonHistogram has the counts of the bins between neighboring edges.
type jsonHistogram struct {
	Edges  []float64 `json:"edges"`
	Counts []uint64  `json:"counts"`
}

func (p *PointSummary) json() jsonPoint {
	out := jsonPoint{Stage: p.Stage, Params: map[string]string{}, Trials: p.Trials, Failed: p.Failed,
		Fields: map[string]jsonField{}}
	for _, v := range p.Params {
		out.Params[v.Name] = v.Value
	}
	known := func(x float64) *float64 {
		if math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	for name, s := range p.Fields {
		if s.N() == 0 {
			continue
		}
		h := s.Histogram()
		out.Fields[name] = jsonField{N: s.N(), Mean: s.Mean(), SD: known(s.Deviation()), CI95: known(s.HalfWidth()),
			Least: s.Least(), Greatest: s.Greatest(), Histogram: jsonHistogram{h.Edges(), h.Counts()}}
	}
	return out
}
