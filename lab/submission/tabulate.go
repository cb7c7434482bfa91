package submission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// resultName is the output whose fields are columns.
const resultName = "result.json"

// A row is one of a table of results: texts by the columns' names.
type row struct {
	fixed  []string // of fixedColumns
	stage  string   // name; "" for a job without stages
	params []task.EnvVar
	fields map[string]string // of what the task said
	failed bool
	again  bool // the job runs tasks of another one, in any order
}

// fixedColumns are those of every table.
var fixedColumns = []string{"task", "outcome", "exit_code", "worker", "wall_s", "cpu_s", "attempts", "message"}

// CheckTable returns an error if a table cannot have the name that a flag gives its file.
func CheckTable(flag, path string) error {
	if strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".jsonl") {
		return nil
	}
	return failure.Usage("name a file that ends in .csv or .jsonl", "%s %s: there is no such kind of table", flag, path)
}

// Tabulate writes a table of the ended tasks of a job, and of the jobs that add tasks to it: one row a task, its
// parameters, how it ended, and the fields of its result.json or of the last line of its standard output, where that is
// an object of JSON; else that line as "value". asJSON writes an object a line, else it is CSV whose cells no spreadsheet
// executes. alone leaves out what was added.
func Tabulate(ctx context.Context, client *api.Client, ref string, w io.Writer, asJSON, alone bool) (rows int, err error) {
	of, err := rowsOf(ctx, client, ref, alone)
	if err != nil {
		return 0, err
	}
	if asJSON {
		err = of.each(ctx, func(r *row) error {
			rows++
			return r.writeJSON(w)
		})
		return rows, err
	}
	var cols columns
	err = of.each(ctx, func(r *row) error {
		cols.add(r)
		return nil
	})
	if err != nil {
		return 0, err
	}
	out := table.NewCSV(w, false)
	if err := out.Write(cols.names()); err != nil {
		return 0, err
	}
	err = of.each(ctx, func(r *row) error {
		rows++
		return cols.write(out, r)
	})
	return rows, errors.Join(err, out.Flush())
}

// param is the value of a parameter; "" of a task that has none of that name.
func (r *row) param(name string) string {
	for _, p := range r.params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func (r *row) writeJSON(w io.Writer) error {
	o := map[string]any{}
	for k, v := range r.fields {
		o[k] = v
	}
	for _, p := range r.params {
		o[p.Name] = p.Value
	}
	for i, name := range fixedColumns {
		o[name] = r.fixed[i]
	}
	return json.NewEncoder(w).Encode(o)
}

// rowSource reads the rows of a job, and of the jobs that add tasks to it.
type rowSource struct {
	client *api.Client
	ids    []task.JobID // the job, then its additions
	names  []string     // of the job's parameters in templates, if there are additions
}

func rowsOf(ctx context.Context, client *api.Client, ref string, alone bool) (s rowSource, err error) {
	s.client = client
	if s.ids, err = Family(ctx, client, ref, alone); err != nil || len(s.ids) == 1 {
		return s, err
	}
	spec, err := specOf(ctx, client, string(s.ids[0]))
	if err == nil {
		s.names = spec.RunAgain().Names()
	}
	return s, err
}

// each calls f for the row of each ended task, in order.
func (s *rowSource) each(ctx context.Context, f func(*row) error) error {
	for k := range s.ids {
		if err := s.eachOf(ctx, k, f); err != nil {
			return err
		}
	}
	return nil
}

// eachOf calls f for the row of each ended task of one of the jobs, in order.
func (s *rowSource) eachOf(ctx context.Context, k int, f func(*row) error) error {
	ref := string(s.ids[k])
	var points *Points
	again := false
	defer func() {
		if points != nil {
			points.Close()
		}
	}()
	return EachTask(ctx, s.client, ref, func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) (err error) {
		if points == nil {
			if points, err = FetchPoints(ctx, s.client, ref, spec); err != nil {
				return err
			}
			again = spec.RunAgain().Runs()
		}
		r := &row{fixed: fixedOf(&t), fields: map[string]string{}, failed: t.Failed, again: again}
		if r.params, err = s.params(k, points, t.Index); err != nil {
			return err
		}
		if r.fixed[0], err = points.Number(t.Index); err != nil {
			return err
		}
		if len(spec.Stages) > 0 {
			stage, _ := spec.StageOf(t.Index)
			r.stage = spec.Stages[stage].Name
		}
		if !t.Failed && len(t.Results) > 0 {
			if err := r.say(ctx, s.client, sealer, t.Results[0].Outputs); err != nil {
				return err
			}
		}
		return f(r)
	})
}

// params returns the parameters of a task of one of the jobs, by the names that they have in the first.
func (s *rowSource) params(k int, points *Points, index uint64) ([]task.EnvVar, error) {
	if k == 0 {
		return points.Params(index)
	}
	params, err := points.Of(index)
	if err != nil || len(params) < len(s.names) {
		return params, err
	}
	for i, name := range s.names { // the columns of the addition's table are in this order
		params[i].Name = name
	}
	return params[:len(s.names)], nil
}

func fixedOf(t *message.TaskSummary) []string {
	fixed := make([]string, len(fixedColumns))
	fixed[1], fixed[7] = task.OutcomeUnknown.String(), t.Reason
	if len(t.Results) > 0 {
		r := &t.Results[0]
		seconds := func(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
		fixed[1], fixed[2], fixed[3] = r.Outcome.String(), strconv.FormatUint(uint64(r.ExitCode), 10), string(r.Worker)
		fixed[4], fixed[5] = seconds(r.Wall.Seconds()), seconds(r.CPU.Seconds())
		if r.Message != "" {
			fixed[7] = r.Message
		}
	}
	fixed[6] = strconv.Itoa(len(t.Attempts))
	return fixed
}

// say takes the fields of what a task made.
func (r *row) say(ctx context.Context, client *api.Client, sealer *seal.Sealer, outputs []task.Output) error {
	for _, name := range []string{resultName, task.Stdout} {
		i := slices.IndexFunc(outputs, func(o task.Output) bool { return o.Name == name })
		if i < 0 {
			continue
		}
		b, err := content(ctx, client, sealer, outputs[i])
		if err != nil {
			return err
		}
		if name == task.Stdout {
			b = bytes.TrimRight(b, "\r\n")
			b = b[bytes.LastIndexByte(b, '\n')+1:]
		}
		var o map[string]any
		number := json.NewDecoder(bytes.NewReader(b))
		number.UseNumber()
		if number.Decode(&o) != nil {
			r.fields["value"] = clipField(string(b))
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(o)) {
			if len(r.fields) < maxFields {
				r.fields[clipField(k)] = textOf(o[k])
			}
		}
		return nil
	}
	return nil
}

func clipField(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxField)], "\uFFFD")
}

// textOf is a value of JSON as a cell: texts and numbers as they are.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return clipField(v)
	case nil:
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clipField(string(b))
}
