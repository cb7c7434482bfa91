package replay

import (
	"context"
	"fmt"
	"io"
	"time"

	"godwit/api"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// planPatience bounds how long a node may take to say when a job would end, in real time.
const planPatience = 5 * time.Second

// A foretold end is what a node said of a job before it was handed in, beside what came. All times are
// the trace's, in seconds after the job was handed in.
type foretold struct {
	Job    string  `json:"job"`
	Tasks  int     `json:"tasks"`
	Median float64 `json:"median_s"`
	Low    float64 `json:"low_s"`
	High   float64 `json:"high_s"`
	Reason string  `json:"reason,omitempty"` // why nothing was foretold
	// Came is when its last task ended; of one that was not over when the replay was, how long it had
	// had, and Over is false.
	Came float64 `json:"came_s"`
	Over bool    `json:"over"`

	at time.Time // when it was asked, in reality
	id task.JobID
}

// within reports whether the job ended in the nine-in-ten interval; unknown while it may still.
func (f *foretold) within() (yes, known bool) {
	switch {
	case f.Reason != "":
		return false, false
	case f.Over:
		return f.Low <= f.Came && f.Came <= f.High, true
	}
	return false, f.Came > f.High
}

// foretell asks a node what would become of a job, as `godwit plan` does.
func (r *replay) foretell(ctx context.Context, name string, tasks int, client *api.Client,
	sub *submission.Job) *foretold {
	ctx, cancel := context.WithTimeout(ctx, planPatience)
	defer cancel()
	out := &foretold{Job: name, Tasks: tasks, at: time.Now()}
	p, err := submission.Plan(ctx, client, sub)
	if err != nil {
		out.Reason = err.Error()
		return out
	}
	out.Reason = p.Forecast.Reason
	out.Median, out.Low, out.High = p.Forecast.Median*r.clock.Speedup, p.Forecast.Low*r.clock.Speedup,
		p.Forecast.High*r.clock.Speedup
	return out
}

// came fills in what became of the jobs of which something was foretold.
func (r *replay) came(jobs []message.JobStatus) []*foretold {
	var out []*foretold
	byID := map[task.JobID]*message.JobStatus{}
	for i := range jobs {
		byID[jobs[i].ID] = &jobs[i]
	}
	end := r.clock.Real(r.plan.Scenario.End)
	for _, h := range r.handed {
		f := h.foretold
		if f == nil {
			continue
		}
		f.id = h.id
		f.end(byID[h.id], end, r.clock.Speedup)
		out = append(out, f)
	}
	return out
}

// end notes when a job ended, nil for one of which nothing is known, by when the replay did.
func (f *foretold) end(st *message.JobStatus, over time.Time, speedup float64) {
	last := f.at
	if st != nil {
		f.Over = st.Tasks.Total > 0 && st.Tasks.Done == st.Tasks.Total
		for _, t := range st.TasksList {
			for _, a := range t.Attempts {
				if a.Outcome == task.Completed.String() && a.End.After(last) {
					last = a.End
				}
			}
		}
	}
	if !f.Over || last.After(over) {
		f.Over, last = false, over
	}
	f.Came = last.Sub(f.at).Seconds() * speedup
}

// printForetold writes a row for each job, and how often it held.
func printForetold(w io.Writer, all []*foretold) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	held, known := 0, 0
	for _, f := range all {
		came, verdict := table.Seconds(f.Came), "-"
		if !f.Over {
			came = "not after " + came
		}
		if yes, ok := f.within(); ok {
			known++
			verdict = "no"
			if yes {
				held++
				verdict = "yes"
			}
		}
		if f.Reason != "" {
			rows = append(rows, []string{f.Job, fmt.Sprint(f.Tasks), "-", "-", came, "nothing foretold: " + f.Reason})
			continue
		}
		rows = append(rows, []string{f.Job, fmt.Sprint(f.Tasks), table.Seconds(f.Median),
			table.Seconds(f.Low) + " to " + table.Seconds(f.High), came, verdict})
	}
	table.Print(w, "JOB TASKS FORETOLD NINE-IN-TEN CAME WITHIN", rows)
	fmt.Fprintf(w, "%d of %d ends came within what was foretold nine times in ten\n", held, known)
}
