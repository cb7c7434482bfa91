package policies

import (
	"fmt"
	"math"
	"time"

	"godwit/reproduce"
	"godwit/sim"
)

// A played run, in what came of it. Times are in seconds.
type played struct {
	useful, wasted, idle, pending float64 // host time; it sums to the time available
	came, done, lost, returned    float64 // tasks, completed tasks, running tasks lost with their hosts, given back
	moves, checkpoints            float64
	// stay is the mean of what tasks took to completion, or to the end of the run
	// where they were not completed: of equal tasks for all contenders, where the
	// mean of completed ones flatters those that complete the easy ones alone.
	stay float64
}

// play runs a scenario.
func play(s *sim.Scenario) (played, error) {
	var came, done, stay float64
	s.Watch = func(d sim.Decision) {
		switch d.Action {
		case "arrived":
			came++
			stay += s.End.Sub(d.At).Seconds()
		case "completed":
			done++
			stay -= s.End.Sub(d.At).Seconds()
		}
	}
	r, err := sim.Run(s)
	if err != nil {
		return played{}, err
	}
	return played{
		useful: r.UsefulS, wasted: r.WastedS, idle: r.IdleS, pending: r.PendingS,
		came: came, done: done, lost: float64(r.Failed), returned: float64(r.Returned),
		moves: float64(r.Migrations), checkpoints: float64(r.Checkpoints), stay: stay / max(1, came),
	}, nil
}

// Figures are a contender's in a cell: means over the seeds.
type Figures struct {
	Contender
	Name     string  `json:"name"`
	UsefulS  float64 `json:"useful_s"`
	WastedS  float64 `json:"wasted_s"`
	IdleS    float64 `json:"idle_s"`
	PendingS float64 `json:"pending_s"` // in tasks not completed at the end
	// WastedPct is WastedS of WastedS + UsefulS.
	WastedPct   float64 `json:"wasted_pct"`
	Tasks       float64 `json:"tasks"` // that came
	Done        float64 `json:"done"`  // of those
	Lost        float64 `json:"lost"`  // times that a running task was lost with its host
	Moves       float64 `json:"moves"`
	Checkpoints float64 `json:"checkpoints"`
	DonePct     float64 `json:"done_pct"`    // Done of Tasks
	SuccessPct  float64 `json:"success_pct"` // Zhang's S/(S+F): Done of Done + Lost
	ResponseS   float64 `json:"response_s"`  // mean; a task that is not completed counts up to the end
}

func figures(c Contender, runs []played) Figures {
	f := Figures{Contender: c, Name: c.String()}
	n := float64(len(runs))
	for _, o := range runs {
		f.UsefulS += o.useful / n
		f.WastedS += o.wasted / n
		f.IdleS += o.idle / n
		f.PendingS += o.pending / n
		f.Tasks += o.came / n
		f.Done += o.done / n
		f.Lost += o.lost / n
		f.Moves += o.moves / n
		f.Checkpoints += o.checkpoints / n
		f.ResponseS += o.stay / n
	}
	f.WastedPct = percentOf(f.WastedS, f.WastedS+f.UsefulS)
	f.DonePct = percentOf(f.Done, f.Tasks)
	f.SuccessPct = percentOf(f.Done, f.Done+f.Lost)
	return f
}

// percentOf is in percent, 0 of nothing.
func percentOf(part, whole float64) float64 {
	if !(whole > 0) {
		return 0
	}
	return 100 * part / whole
}

// A Difference is the mean over seeds of what the default has more than a rival,
// on the same hosts with the same arrivals.
type Difference struct {
	Mean float64 `json:"mean"`
	// Half is half of the 95 % interval of the mean by Student's t; -1 of one run,
	// which has none.
	Half float64 `json:"half"`
}

// difference compares a figure run by run.
func difference(ours, theirs []played, of func(*played) float64) Difference {
	d := make([]float64, len(ours))
	for i := range d {
		d[i] = of(&ours[i]) - of(&theirs[i])
	}
	mean, half := reproduce.Interval(d)
	return Difference{mean, half}
}

// A Standing says how the default stands to the best rival of a cell.
type Standing string

// The standings.
const (
	Won      Standing = "won"    // as much as the best rival or more
	WithinIt Standing = "within" // less, and by no more than half of the difference's interval
	Lost     Standing = "LOST"
)

// slightly is what sums of the same work may differ by, as a share: rounding.
const slightly = 1e-9

// stands judges a difference of which more is better; scale is the rival's figure.
func (d Difference) stands(scale float64) Standing {
	switch {
	case d.Mean >= -slightly*math.Abs(scale):
		return Won
	case d.Mean+max(0, d.Half) >= 0:
		return WithinIt
	}
	return Lost
}

// A Cell is one set, job size and workload.
type Cell struct {
	Set       string  `json:"set"`
	Synthetic bool    `json:"synthetic"`
	JobSizeS  float64 `json:"job_size_s"`
	Workload  string  `json:"workload"`

	Ours   Figures `json:"default"`
	Best   Figures `json:"best"` // rival, by useful work; the first of several
	Ties   int     `json:"ties"` // how many other rivals have as much
	FCFS   Figures `json:"fcfs"` // in turn, without moves
	Oracle Figures `json:"oracle"`
	// Gain is of useful work over the best rival, in seconds.
	Gain    Difference `json:"gain_s"`
	Verdict Standing   `json:"verdict"`
	Reason  string     `json:"reason"` // where it is not won: which part of the hosts' time makes the difference

	// Quickest is the rival with the least mean response, and Delay by how much
	// the default's is longer, in seconds. They and Response mean nothing, and are
	// nil and "", where a task always waits.
	Quickest *Figures    `json:"quickest,omitempty"`
	Delay    *Difference `json:"delay_s,omitempty"`
	Response Standing    `json:"response,omitempty"`

	Rivals []Figures `json:"rivals"`

	level Level
	size  time.Duration
}

// String names the cell.
func (c *Cell) String() string { return fmt.Sprintf("%s, %s, %s", c.Set, c.Size(), c.Workload) }

// Size is the job size without zeros: 10m, 6h.
func (c *Cell) Size() string {
	if c.size%time.Hour == 0 {
		return fmt.Sprintf("%dh", c.size/time.Hour)
	}
	return fmt.Sprintf("%gm", c.size.Minutes())
}

// judge fills the cell from the outcomes of all contenders by seed.
func (c *Cell) judge(all []Contender, runs [][]played) {
	c.Ours, c.Oracle = figures(all[oursAt], runs[oursAt]), figures(all[oracleAt], runs[oracleAt])
	best, quickest := rivalsAt, rivalsAt
	for k := rivalsAt; k < len(all); k++ {
		f := figures(all[k], runs[k])
		c.Rivals = append(c.Rivals, f)
		if f.UsefulS > c.rival(best).UsefulS {
			best = k
		}
		if f.ResponseS < c.rival(quickest).ResponseS {
			quickest = k
		}
		if all[k].Placement == reproduce.FCFS && all[k].Migration == "none" {
			c.FCFS = f
		}
	}
	c.Best = *c.rival(best)
	c.Ties = -1
	for k := range c.Rivals {
		if c.Rivals[k].UsefulS >= c.Best.UsefulS*(1-slightly) {
			c.Ties++
		}
	}
	c.Gain = difference(runs[oursAt], runs[best], func(o *played) float64 { return o.useful })
	if c.Verdict = c.Gain.stands(c.Best.UsefulS); c.Verdict != Won {
		c.Reason = why(&c.Ours, &c.Best)
	}
	if c.level.Load > 0 {
		d := difference(runs[oursAt], runs[quickest], func(o *played) float64 { return o.stay })
		c.Quickest, c.Delay = c.rival(quickest), &d
		c.Response = Difference{-d.Mean, d.Half}.stands(c.Quickest.ResponseS)
	}
}

// rival is the figures of a contender that is a rival.
func (c *Cell) rival(k int) *Figures { return &c.Rivals[k-rivalsAt] }
