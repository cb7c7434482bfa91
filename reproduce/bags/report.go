package bags

import (
	"fmt"
	"math"
	"slices"
)

// Played is a run, in what came of it.
type Played struct {
	Seed      uint64  `json:"seed"`
	MakespanS float64 `json:"makespan_s"` // of the whole bag; to the end of the records where it is not done
	IdealS    float64 `json:"ideal_s"`    // that no schedule beats
	Done      bool    `json:"done"`
	Met       bool    `json:"met"` // the deadline, one and a half times the ideal
	// SentMiB is of checkpoints and states that moved, UploadMiB with those that went on
	// from coordinators to who goes on with a task.
	SentMiB     float64 `json:"sent_mib"`
	UploadMiB   float64 `json:"upload_mib"`
	Lost        float64 `json:"lost"` // runs of tasks lost with their hosts
	Moves       float64 `json:"moves"`
	Checkpoints float64 `json:"checkpoints"`
	Copies      float64 `json:"copies"`
	WastedS     float64 `json:"wasted_s"`
}

// Figures are a contender's in a cell: over the seeds.
type Figures struct {
	Name    string  `json:"name"`
	Part    Part    `json:"part"`
	MedianS float64 `json:"median_s"`
	P95S    float64 `json:"p95_s"`
	// MeanS is the geometric mean, which ratios are of; HalfPct half of its 95 % interval
	// in percent.
	MeanS       float64 `json:"mean_s"`
	IdealS      float64 `json:"ideal_s"` // the same of the ideal
	MetPct      float64 `json:"met_pct"` // deadlines
	DonePct     float64 `json:"done_pct"`
	SentMiB     float64 `json:"sent_mib"` // this and the rest: means
	UploadMiB   float64 `json:"upload_mib"`
	Lost        float64 `json:"lost"`
	Moves       float64 `json:"moves"`
	Checkpoints float64 `json:"checkpoints"`
	Copies      float64 `json:"copies"`
	WastedS     float64 `json:"wasted_s"`

	runs []Played
}

func figures(c *Contender, runs []Played) Figures {
	f := Figures{Name: c.Name, Part: c.Part, runs: runs}
	n := float64(len(runs))
	var spans []float64
	for i := range runs {
		p := &runs[i]
		spans = append(spans, p.MakespanS)
		f.MeanS += math.Log(p.MakespanS) / n
		f.IdealS += math.Log(p.IdealS) / n
		f.SentMiB += p.SentMiB / n
		f.UploadMiB += p.UploadMiB / n
		f.Lost += p.Lost / n
		f.Moves += p.Moves / n
		f.Checkpoints += p.Checkpoints / n
		f.Copies += p.Copies / n
		f.WastedS += p.WastedS / n
		const percent = 100
		if p.Met {
			f.MetPct += percent / n
		}
		if p.Done {
			f.DonePct += percent / n
		}
	}
	slices.Sort(spans)
	const median, late = .5, .95
	f.MedianS, f.P95S = at(spans, median), at(spans, late)
	f.MeanS, f.IdealS = math.Exp(f.MeanS), math.Exp(f.IdealS)
	return f
}

// at is a quantile of sorted numbers: the least that as many are not above.
func at(x []float64, q float64) float64 {
	return x[max(0, min(len(x)-1, int(math.Ceil(q*float64(len(x))))-1))]
}

// A Cell is a set and a bag.
type Cell struct {
	Set       string    `json:"set"`
	Synthetic bool      `json:"synthetic"`
	Bag       string    `json:"bag"`
	Figures   []Figures `json:"contenders"` // the default first
}

// of is the figures of a name, nil of who did not run.
func (c *Cell) of(name string) *Figures {
	i := slices.IndexFunc(c.Figures, func(f Figures) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Figures[i]
}

// A Row is a contender over cells: of one set, or of all.
type Row struct {
	Set  string `json:"set"` // "" of all
	Name string `json:"name"`
	Part Part   `json:"part"`
	// Times are the makespan as a multiple of FCFS's, of the oracle's and of the ideal:
	// geometric means; Worst is the greatest of FCFS's in a cell. TimesOracle is 0 where
	// the oracle did not run.
	TimesFCFS   float64 `json:"times_fcfs"`
	Worst       float64 `json:"worst"`
	WorstAt     string  `json:"worst_at"`
	TimesOracle float64 `json:"times_oracle"`
	TimesIdeal  float64 `json:"times_ideal"`
	// Median and Late are the same as TimesFCFS of medians and 95th percentiles over seeds.
	MedianFCFS float64 `json:"median_times_fcfs"`
	LateFCFS   float64 `json:"late_times_fcfs"`
	MetPct     float64 `json:"met_pct"`
	SentFCFS   float64 `json:"sent_times_fcfs"` // sums over cells
	SentMiB    float64 `json:"sent_mib"`        // mean of a bag
	UploadMiB  float64 `json:"upload_mib"`
	Lost       float64 `json:"lost"`
	Moves      float64 `json:"moves"`
	Copies     float64 `json:"copies"`
}

// A Report is what came of it.
type Report struct {
	Seed       uint64      `json:"seed"`
	Runs       int         `json:"runs"`
	Contenders []Contender `json:"contenders"`
	Cells      []Cell      `json:"cells"`
	Rows       []Row       `json:"rows"` // of each set, then of all
	Targets    []Target    `json:"targets"`
}

// A Target is a figure that the default is held to.
type Target struct {
	Name     string `json:"target"`
	Wanted   string `json:"wanted"`
	Obtained string `json:"obtained"`
	Holds    bool   `json:"holds"`
}

// The targets, as multiples of FCFS with checkpoints and copies.
const (
	wantedMean  = 0.90
	wantedWorst = 1.02
	wantedSent  = 0.50
)

// sum fills rows and targets.
func (r *Report) sum() {
	var sets []string
	for i := range r.Cells {
		if !slices.Contains(sets, r.Cells[i].Set) {
			sets = append(sets, r.Cells[i].Set)
		}
	}
	for _, s := range append(sets, "") {
		for k := range r.Contenders {
			r.Rows = append(r.Rows, r.row(s, k))
		}
	}
	ours := &r.Rows[len(r.Rows)-len(r.Contenders)]
	r.Targets = []Target{
		{"makespan over FCFS's, geometric mean over sets and bags", fmt.Sprintf("<= %.2f", wantedMean),
			fmt.Sprintf("%.3f", ours.TimesFCFS), ours.TimesFCFS <= wantedMean},
		{"makespan over FCFS's, worst of a set and a bag", fmt.Sprintf("<= %.2f", wantedWorst),
			fmt.Sprintf("%.3f (%s)", ours.Worst, ours.WorstAt), ours.Worst <= wantedWorst},
		{"bytes of checkpoints and moves over FCFS's", fmt.Sprintf("<= %.2f", wantedSent),
			fmt.Sprintf("%.3f", ours.SentFCFS), ours.SentFCFS <= wantedSent},
	}
}

// row sums up a contender in a set, "" for all.
func (r *Report) row(set string, k int) Row {
	row := Row{Set: set, Name: r.Contenders[k].Name, Part: r.Contenders[k].Part}
	n, sent, base := 0., 0., 0.
	for i := range r.Cells {
		c := &r.Cells[i]
		if set != "" && c.Set != set {
			continue
		}
		f, fcfs := &c.Figures[k], c.of(FCFSName)
		times := f.MeanS / fcfs.MeanS
		if times > row.Worst {
			row.Worst, row.WorstAt = times, c.Set+", "+c.Bag
		}
		n++
		row.TimesFCFS += math.Log(times)
		if oracle := c.of(OracleName); oracle != nil {
			row.TimesOracle += math.Log(f.MeanS / oracle.MeanS)
		} else {
			row.TimesOracle = math.Inf(-1)
		}
		row.TimesIdeal += math.Log(f.MeanS / f.IdealS)
		row.MedianFCFS += math.Log(f.MedianS / fcfs.MedianS)
		row.LateFCFS += math.Log(f.P95S / fcfs.P95S)
		row.MetPct += f.MetPct
		row.UploadMiB += f.UploadMiB
		row.Lost += f.Lost
		row.Moves += f.Moves
		row.Copies += f.Copies
		sent, base = sent+f.SentMiB, base+fcfs.SentMiB
	}
	for _, x := range []*float64{&row.TimesFCFS, &row.TimesOracle, &row.TimesIdeal, &row.MedianFCFS,
		&row.LateFCFS} {
		*x = math.Exp(*x / n)
	}
	for _, x := range []*float64{&row.MetPct, &row.UploadMiB, &row.Lost, &row.Moves, &row.Copies} {
		*x /= n
	}
	row.SentMiB, row.SentFCFS = sent/n, sent/max(base, 1)
	return row
}
