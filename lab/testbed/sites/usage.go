package sites

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/measure"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

// intervals is the number of equal intervals of a run for which the usage of slots is reported.
const intervals = 120

// A usage is the mean number of slots that each user has in the intervals of a run (Grundeken 2009, Fig. 4.2). The
// numbers of an interval sum up to all slots.
type usage struct {
	IntervalS float64     `json:"interval_s"` // length of an interval, in the scenario's time
	Local     []float64   `json:"local"`      // slots of nodes whose local user is there
	Jobs      [][]float64 `json:"jobs"`       // slots that run tasks, for each job of the run
	Idle      []float64   `json:"idle"`
}

// A span is a period of time.
type span struct{ from, to time.Time }

// bins divide a run into intervals of equal length.
type bins struct {
	begin time.Time
	width time.Duration
}

// add adds the part of each interval that the span covers.
func (b bins) add(to []float64, s span) {
	first := max(0, int(s.from.Sub(b.begin)/b.width))
	for k := first; k < len(to); k++ {
		from := b.begin.Add(time.Duration(k) * b.width)
		if !from.Before(s.to) {
			return
		}
		until := from.Add(b.width)
		if until.After(s.to) {
			until = s.to
		}
		if covered := until.Sub(clock.Later(from, s.from)); covered > 0 {
			to[k] += float64(covered) / float64(b.width)
		}
	}
}

// usage returns the usage of slots in run i. A node whose local user is there counts as local, because its tasks are
// suspended. An attempt whose begin is not known counts from the time of its lease, and a node never counts more slots
// than it has.
func (b *player) usage(i int, bags []*bag, jobs []message.JobStatus) *usage {
	width := b.real(b.length) / intervals
	in := bins{b.begin[i], max(1, width)}
	end := in.begin.Add(intervals * in.width)
	u := &usage{IntervalS: b.length.Seconds() / intervals, Local: make([]float64, intervals),
		Jobs: make([][]float64, len(bags)), Idle: make([]float64, intervals)}
	of := map[task.PeerID]int{}
	local := make([][]span, len(b.sw.Nodes))
	ran := make([][][]float64, len(b.sw.Nodes)) // by node, job and interval
	for k, n := range b.sw.Nodes {
		of[n.Ready.PeerID] = k
		local[k] = presence(b.histories[k], in.begin, end)
		ran[k] = make([][]float64, len(bags))
		for j := range bags {
			ran[k][j] = make([]float64, intervals)
		}
	}
	for j := range bags {
		u.Jobs[j] = make([]float64, intervals)
		for _, t := range jobs[j].TasksList {
			for _, a := range t.Attempts {
				if k, ok := of[a.Worker]; ok && a.Outcome != measure.OutcomeRefused {
					for _, s := range without(running(&a, end), local[k]) {
						in.add(ran[k][j], s)
					}
				}
			}
		}
	}
	for k := range b.sw.Nodes {
		here := make([]float64, intervals)
		for _, s := range local[k] {
			in.add(here, s)
		}
		u.addNode(float64(b.slots), here, ran[k])
	}
	return u
}

// addNode adds a node with so many slots. here is the part of each interval that its local user was there.
func (u *usage) addNode(slots float64, here []float64, ran [][]float64) {
	for k := range here {
		local, sum := slots*here[k], 0.0
		for j := range ran {
			sum += ran[j][k]
		}
		part := 1.0
		if left := slots - local; sum > left {
			part = max(0, left) / sum
		}
		for j := range ran {
			u.Jobs[j][k] += part * ran[j][k]
		}
		u.Local[k] += local
		u.Idle[k] += max(0, slots-local-part*sum)
	}
}

// presence returns when a local user was there, in order.
func presence(h *trace.History, from, to time.Time) (spans []span) {
	for i := range h.Len() {
		s := h.Spell(i)
		if s.State == trace.UserPresent && s.Start.Before(to) && s.End.After(from) {
			spans = append(spans, span{s.Start, s.End})
		}
	}
	return spans
}

// running returns when an attempt ran.
func running(a *message.AttemptStatus, end time.Time) span {
	s := span{a.Began, a.End}
	if s.from.IsZero() {
		s.from = a.Start
	}
	if s.to.IsZero() || s.to.After(end) {
		s.to = end
	}
	return s
}

// without returns what is left of a span beside others, which are in order.
func without(s span, others []span) (left []span) {
	for _, o := range others {
		if !o.to.After(s.from) {
			continue
		}
		if !o.from.Before(s.to) {
			break
		}
		if o.from.After(s.from) {
			left = append(left, span{s.from, o.from})
		}
		s.from = o.to
	}
	if s.from.Before(s.to) {
		left = append(left, s)
	}
	return left
}

// writeUsage writes the usage of slots in all runs as CSV: a line for each interval.
func (rep *report) writeUsage(w io.Writer) error {
	out := table.NewCSV(w, false)
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if i == 0 {
			head := []string{"load", "fairness", "seed", "second", "local"}
			for _, j := range r.Jobs {
				head = append(head, j.Name)
			}
			if err := out.Write(append(head, "idle")); err != nil {
				return err
			}
		}
		for k := range r.Usage.Local {
			row := []string{r.Load, r.Fairness, strconv.FormatUint(r.Seed, 10), decimal(float64(k) * r.Usage.IntervalS),
				decimal(r.Usage.Local[k])}
			for _, j := range r.Usage.Jobs {
				row = append(row, decimal(j[k]))
			}
			if err := out.Write(append(row, decimal(r.Usage.Idle[k]))); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// decimal writes a number with at most three decimal places.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(1000*x)/1000, 'f', -1, 64) }

// charts draws the usage of slots, a chart for each run. Runs that differ in fairness alone follow each other.
func (rep *report) charts() (charts []plot.Chart) {
	const minute = 60
	for i := range rep.Runs {
		r := &rep.Runs[i]
		c := plot.Chart{Title: fmt.Sprintf("%s, %s, seed %d", r.Load, r.Fairness, r.Seed), X: "minutes", Y: "% of slots",
			FromZero: true}
		x := make([]float64, len(r.Usage.Local))
		for k := range x {
			x[k] = float64(k) * r.Usage.IntervalS / minute
		}
		area := func(name string, faint bool, slots []float64) {
			y := make([]float64, len(slots))
			for k := range y {
				y[k] = 100 * slots[k] / float64(rep.Slots)
			}
			c.Curves = append(c.Curves, plot.Curve{Name: name, As: plot.Areas, Faint: faint, X: x, Y: y})
		}
		area("local jobs", false, r.Usage.Local)
		for k, j := range r.Jobs {
			area(j.Name, false, r.Usage.Jobs[k])
		}
		area("idle", true, r.Usage.Idle)
		charts = append(charts, c)
	}
	return charts
}
