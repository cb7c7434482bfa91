package measure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"godwit/lab/table"
	reports "godwit/sim/report"
)

// A ClassRow is what came of a class of tasks, or of all, in seconds of the
// scenario's time.
type ClassRow struct {
	Class    string `json:"class"` // everyClass: all
	Arrived  int    `json:"arrived"`
	Done     int    `json:"done"`
	Failed   int    `json:"failed"`
	TimedOut int    `json:"timed_out"` // attempts that took too long
	Moves    int    `json:"moves"`     // with their state
	// Lost is the time of servers in attempts that led to nothing.
	Lost float64 `json:"lost_s"`
	// DesiredRate and Rate are the tasks that were to come and that came in a Unit of
	// the run, Throughput those that were done; DesiredRate is 0 where it is not known.
	DesiredRate float64 `json:"desired_rate"`
	Rate        float64 `json:"rate"`
	Throughput  float64 `json:"throughput"`
	// Work is the mean of the tasks that came, DesiredWork what it was to be; 0 where it
	// is not known.
	Work        float64 `json:"work_s"`
	DesiredWork float64 `json:"desired_work_s"`
	// Of the tasks that are done. Only where it is not known when one began do the
	// first three not add up to the last.
	Waiting       BatchMean `json:"waiting_s"`
	Communication BatchMean `json:"communication_s"`
	Execution     BatchMean `json:"execution_s"`
	Response      BatchMean `json:"response_s"`
}

// everyClass is the Class of the row of all tasks.
const everyClass = "all"

// A BatchMean is the mean of a figure of tasks, and half of its 95 % interval by the
// method of batch means: tasks that come one after another wait for the same queue, so
// that their own spread is no measure of the mean's. Batches are of consecutive tasks
// and their means are taken for independent and normally distributed (Law and Kelton,
// Simulation Modeling and Analysis, section 9.5.3). Of fewer than leastBatched tasks
// each is its own batch: such an interval is a rough one.
type BatchMean struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"` // NaN without any; null in JSON
	Half float64 `json:"half"` // NaN with fewer than two; null in JSON
}

const (
	// batches is how many there are: with 10 to 30 the interval is about as good as
	// any (Schmeiser 1982), and few have more tasks each, which makes them less alike.
	batches = 10
	// leastBatched gives each batch two tasks.
	leastBatched = 2 * batches
)

// batchesOf takes values in the order of their tasks.
func batchesOf(values []float64) BatchMean {
	all := reports.NewEstimate(values)
	m := BatchMean{N: all.N, Mean: all.Mean, Half: all.Half()}
	if len(values) < leastBatched {
		return m
	}
	means := make([]float64, batches)
	for i := range means {
		means[i] = reports.NewEstimate(values[i*len(values)/batches : (i+1)*len(values)/batches]).Mean
	}
	m.Half = reports.NewEstimate(means).Half()
	return m
}

// MarshalJSON writes null for what is not known.
func (m BatchMean) MarshalJSON() ([]byte, error) {
	known := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return json.Marshal(struct {
		N    int      `json:"n"`
		Mean *float64 `json:"mean"`
		Half *float64 `json:"half"`
	}{m.N, known(m.Mean), known(m.Half)})
}

// Classes has a row for each of the run's classes, in their order, then for those
// that it does not name, by name, and in the end one of all tasks. The tasks are
// Tasks's.
func Classes(r *Run, tasks []TaskTimes) []ClassRow {
	classes := slices.Clone(r.Classes)
	names := map[string]bool{}
	for _, c := range classes {
		names[c.Name] = true
	}
	var others []Class
	by := map[string][]TaskTimes{}
	for _, t := range tasks {
		if by[t.Class] = append(by[t.Class], t); !names[t.Class] {
			names[t.Class] = true
			others = append(others, Class{Name: t.Class})
		}
	}
	slices.SortFunc(others, func(a, b Class) int { return cmp.Compare(a.Name, b.Name) })
	var out []ClassRow
	all := Class{Name: everyClass}
	for _, c := range append(classes, others...) {
		out = append(out, r.classRow(c, by[c.Name]))
		all.Arrival += c.Arrival
	}
	return append(out, r.classRow(all, tasks))
}

// ClassRow counts the tasks of one class.
func (r *Run) classRow(c Class, tasks []TaskTimes) ClassRow {
	row := ClassRow{Class: c.Name, Arrived: len(tasks), DesiredRate: c.Arrival, DesiredWork: c.Work}
	var works, waiting, communication, execution, response []float64
	add := func(to *[]float64, d time.Duration, ok bool) {
		if ok {
			*to = append(*to, r.Seconds(d))
		}
	}
	for i := range tasks {
		t := &tasks[i]
		row.TimedOut, row.Moves, row.Lost = row.TimedOut+t.TimedOut, row.Moves+t.Moves, row.Lost+r.Seconds(t.Lost)
		if t.Work > 0 {
			works = append(works, t.Work.Seconds())
		}
		switch t.State {
		case TaskFailed:
			row.Failed++
			continue
		case TaskDone:
			row.Done++
		default:
			continue
		}
		d, ok := t.waiting()
		add(&waiting, d, ok)
		d, ok = t.communication()
		add(&communication, d, ok)
		d, ok = t.execution()
		add(&execution, d, ok)
		d, ok = t.response()
		add(&response, d, ok)
	}
	if len(works) > 0 {
		row.Work = reports.NewEstimate(works).Mean
	}
	if units := r.length() / r.unit().Seconds(); units > 0 {
		row.Rate, row.Throughput = float64(row.Arrived)/units, float64(row.Done)/units
	}
	row.Waiting, row.Communication, row.Execution, row.Response = batchesOf(waiting), batchesOf(communication),
		batchesOf(execution), batchesOf(response)
	return row
}

// Seconds is a real time in the scenario's.
func (r *Run) Seconds(d time.Duration) float64 { return d.Seconds() * r.Scale }

// length is that of the run, in the scenario's seconds.
func (r *Run) length() float64 { return r.Seconds(r.Until.Sub(r.From)) }

func (r *Run) unit() time.Duration { return cmp.Or(r.Unit, time.Second) }

// PrintClasses writes rows for people, times in units of the run.
func PrintClasses(w io.Writer, r *Run, rows []ClassRow) {
	unit := r.unit().Seconds()
	mean := func(m BatchMean) string {
		switch {
		case math.IsNaN(m.Mean):
			return "-"
		case math.IsNaN(m.Half):
			return figure(m.Mean / unit)
		}
		return figure(m.Mean/unit) + "±" + figure(m.Half/unit)
	}
	known := func(x float64) string {
		if x == 0 {
			return "-"
		}
		return figure(x)
	}
	var lines [][]string
	for _, row := range rows {
		lines = append(lines, []string{
			row.Class, fmt.Sprint(row.Arrived), fmt.Sprint(row.Done), known(row.DesiredRate), figure(row.Rate),
			figure(row.Throughput),
			known(row.Work / unit), mean(row.Waiting), mean(row.Communication), mean(row.Execution), mean(row.Response),
			fmt.Sprint(row.TimedOut), figure(row.Lost / unit),
		})
	}
	table.Print(w, "CLASS ARRIVED DONE DESIRED RATE THROUGHPUT WORK WAITING COMMUNICATION EXECUTION RESPONSE TIMED-OUT "+
		"LOST", lines)
}

// figure writes a number with three decimals, as the published tables have two.
func figure(x float64) string { return fmt.Sprintf("%.3f", x) }
