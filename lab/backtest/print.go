package backtest

import (
	"fmt"
	"io"
	"math"
	"time"

	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/predictor"
	"godwit/trace"
)

// A report is one object of `godwit score --json`. Figures that the questions
// cannot decide are left out.
type report struct {
	Predictor string   `json:"predictor"`
	Trace     string   `json:"trace"`
	Synthetic string   `json:"synthetic"`
	HorizonS  float64  `json:"horizon_s"`
	Seed      uint64   `json:"seed"`
	Unwatched string   `json:"unwatched"` // "left" or "censored"
	Questions int      `json:"questions"`
	NoHistory float64  `json:"no_history"`
	BaseRate  float64  `json:"base_rate"`
	AUC       *float64 `json:"auc,omitempty"`
	Brier     float64  `json:"brier"`
	LogLoss   float64  `json:"log_loss"`
	Pick      float64  `json:"pick10"`
	// Reliability has of each tenth what was said, what came true, of how many answers, and how far
	// these may be apart by chance.
	Reliability [][4]float64          `json:"reliability"`
	Surest      *[4]float64           `json:"surest,omitempty"` // the same of answers of at least predictor.Sure
	Detection   *float64              `json:"detection_pct,omitempty"`
	Correct     *float64              `json:"correct_pct,omitempty"`
	CI          map[string][2]float64 `json:"ci"`
	Less        map[string]difference `json:"less,omitempty"` // this one less another, by the other's name
}

// A difference is how far one predictor is from another on the same questions:
// the difference and its interval.
type difference struct {
	AUC   *[3]float64 `json:"auc,omitempty"`
	Brier *[3]float64 `json:"brier,omitempty"`
	Pick  *[3]float64 `json:"pick10,omitempty"`
}

// measureNames are as in JSON.
var measureNames = map[predictor.Measure]string{predictor.AUC: "auc", predictor.Brier: "brier",
	predictor.LogLoss: "log_loss", predictor.Pick: "pick10"}

func newReport(name string, s predictor.Score, spread *predictor.Spread) report {
	r := report{
		Predictor: name, Questions: s.Questions, NoHistory: s.NoHistory, BaseRate: s.BaseRate,
		AUC: known(s.AUC), Brier: s.Brier, LogLoss: s.LogLoss, Pick: s.Pick,
		Detection: known(100 * s.Detection), Correct: known(100 * s.Correct),
		Reliability: [][4]float64{}, CI: map[string][2]float64{},
	}
	for _, b := range s.Reliability {
		r.Reliability = append(r.Reliability, row(b))
	}
	if b := s.Surest; b.N > 0 {
		surest := row(b)
		r.Surest = &surest
	}
	for m, name := range measureNames {
		if low, high := spread.Interval(m); plot.Finite(low) && plot.Finite(high) {
			r.CI[name] = [2]float64{low, high}
		}
	}
	return r
}

func row(b predictor.Bin) [4]float64 { return [4]float64{b.P, b.Stayed, float64(b.N), b.Chance} }

func known(x float64) *float64 {
	if !plot.Finite(x) {
		return nil
	}
	return &x
}

// compare notes how far r is from another on the same questions.
func (r *report) compare(o report, mine, others *predictor.Spread) {
	beside := func(m predictor.Measure, a, b float64) *[3]float64 {
		low, high := mine.Difference(others, m)
		if !plot.Finite(low) || !plot.Finite(high) || !plot.Finite(a-b) {
			return nil
		}
		return &[3]float64{a - b, low, high}
	}
	if r.Less == nil {
		r.Less = map[string]difference{}
	}
	r.Less[o.Predictor] = difference{
		AUC:   beside(predictor.AUC, orNaN(r.AUC), orNaN(o.AUC)),
		Brier: beside(predictor.Brier, r.Brier, o.Brier),
		Pick:  beside(predictor.Pick, r.Pick, o.Pick),
	}
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

func (r *report) describe(f *Options, t *trace.Trace) {
	r.Trace, r.Synthetic, r.HorizonS, r.Seed = t.Name, t.Synthetic, f.Horizon.Seconds(), f.Trace.Seed
	r.Unwatched = "left"
	if f.Censor {
		r.Unwatched = "censored"
	}
}

func (f *Options) print(w io.Writer, t *trace.Trace, hosts int, results []report) {
	first := results[0]
	fmt.Fprintf(w, "%s: %d hosts, %d questions after %.0f %% of %s, seed %d\n", stamped(t), hosts, first.Questions,
		100*f.After, span(t), f.Trace.Seed)
	fmt.Fprintf(w, "%.1f %% stay for %v; unwatched hosts have %s\n\n", 100*first.BaseRate, f.Horizon,
		map[bool]string{false: "left", true: "been cut off there"}[f.Censor])
	rows := make([][]string, len(results))
	for i, r := range results {
		rows[i] = []string{r.Predictor, withCI(orNaN(r.AUC), r.CI["auc"]), withCI(r.Brier, r.CI["brier"]),
			withCI(r.LogLoss, r.CI["log_loss"]),
			withCI(r.Pick, r.CI["pick10"]), percent(r.Detection), percent(r.Correct), fmt.Sprintf("%.1f%%", 100*r.NoHistory)}
	}
	table.Print(w, "PREDICTOR AUC BRIER LOG-LOSS BEST-OF-10 DETECTED CORRECT NO-HISTORY", rows)
	if len(results) > 1 {
		fmt.Fprintf(w, "\n%s less the others, on the same questions:\n", first.Predictor)
		rows = rows[:0]
		for _, r := range results[1:] {
			b := first.Less[r.Predictor]
			rows = append(rows, []string{r.Predictor, differenceText(b.AUC), differenceText(b.Brier), differenceText(b.Pick)})
		}
		table.Print(w, "PREDICTOR AUC BRIER BEST-OF-10", rows)
	}
}

func span(t *trace.Trace) string {
	return fmt.Sprintf("%.1f days", t.End.Sub(t.Start).Hours()/float64(24*time.Hour/time.Hour))
}

func withCI(x float64, ci [2]float64) string {
	if !plot.Finite(x) {
		return "-"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", x, ci[0], ci[1])
}

func differenceText(d *[3]float64) string {
	if d == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d[0], d[1], d[2])
}

func percent(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", *x)
}

// reliabilityChart shows what was said beside what came true.
func reliabilityChart(results []report) plot.Chart {
	c := plot.Chart{Title: "Reliability", X: "probability of a stay that was given", Y: "share that stayed",
		FromZero: true,
		Curves:   []plot.Curve{{Name: "as it should be", X: []float64{0, 1}, Y: []float64{0, 1}}}}
	for _, r := range results {
		v := plot.Curve{Name: r.Predictor}
		for _, b := range r.Reliability {
			v.X, v.Y = append(v.X, b[0]), append(v.Y, b[1])
		}
		c.Curves = append(c.Curves, v)
	}
	return c
}
