// Package backtest asks predictors who stays, on a trace that knows the answers.
package backtest

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"godwit/internal/failure"
	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/predictor"
	"godwit/trace"
)

// Options are those of `godwit score`.
type Options struct {
	Trace           traces.Source
	Path            string
	Predictors      string
	Horizon         time.Duration
	Questions       int
	After           float64
	MaxAvailability float64
	Threshold       float64
	Censor          bool
	Plot            string
	JSON            bool
}

// A back-test asks over the last 45 % of the time, as in docs/spec/predictors.md section 3.2.
const (
	DefaultAfter     = 0.55
	DefaultQuestions = 20000
	mostQuestions    = 10_000_000 // 560 MB of them
)

func (f *Options) check() ([]predictor.Model, error) {
	models, err := predictor.ParseList(f.Predictors)
	switch {
	case err != nil:
		return nil, failure.Usage("`godwit score --help` says what each does", "%w", err)
	case f.Horizon < time.Second:
		return nil, failure.Usage("write --horizon 1h", "--horizon %v is not a second", f.Horizon)
	case f.Questions < 1 || f.Questions > mostQuestions:
		return nil, failure.Usage("write --questions 20000", "--questions %d: 1 to %d can be asked", f.Questions,
			mostQuestions)
	case !(f.After >= 0 && f.After < 1):
		return nil, failure.Usage("write --after 0.55", "--after %v is not a share below 1", f.After)
	case !(f.MaxAvailability > 0 && f.MaxAvailability <= 1):
		return nil, failure.Usage("write --max-availability 0.9", "--max-availability %v is no share", f.MaxAvailability)
	case !(f.Threshold > 0 && f.Threshold <= 1):
		return nil, failure.Usage("write --threshold 0.5", "--threshold %v is not a probability above 0", f.Threshold)
	}
	return models, plot.CheckName(f.Plot)
}

// Run asks, and prints what was answered.
func (f *Options) Run(out io.Writer) error {
	models, err := f.check()
	if err != nil {
		return err
	}
	t, err := f.Trace.Load(f.Path)
	if err != nil {
		return err
	}
	if !f.Censor {
		t = t.Assume(trace.Unavailable)
	}
	test := f.test(t)
	questions, err := test.Ask()
	if err != nil {
		return failure.Usage("give a shorter --horizon or a smaller --after", "--horizon %v on %s: %w", f.Horizon, t.Name,
			err)
	}
	results, err := scoreAll(test, models, questions, f.Threshold)
	if err != nil {
		return err
	}
	for i := range results {
		results[i].describe(f, t)
	}
	if f.Plot != "" {
		if err := plot.Save(f.Plot, reliabilityChart(results)); err != nil {
			return err
		}
	}
	if f.JSON {
		for _, r := range results {
			if err := table.JSON(out, r); err != nil {
				return err
			}
		}
		return nil
	}
	f.print(out, t, len(test.Histories), results)
	return nil
}

// test plans the back-test on the hosts that are asked for.
func (f *Options) test(t *trace.Trace) *predictor.Backtest {
	test := &predictor.Backtest{Horizon: f.Horizon, End: t.End, Questions: f.Questions, Seed: f.Trace.Seed}
	test.From = t.Start.Add(time.Duration(f.After * float64(t.End.Sub(t.Start))))
	for _, h := range t.Hosts {
		if f.MaxAvailability == 1 || presence(h.History) <= f.MaxAvailability {
			test.Histories = append(test.Histories, h.History)
		}
	}
	return test
}

// presence is the share of the time watched that a host was available.
func presence(h *trace.History) float64 {
	var up, watched time.Duration
	for i := range h.Len() {
		s := h.Spell(i)
		if s.State != trace.Unobserved {
			watched += s.Length()
		}
		if s.State == trace.Available {
			up += s.Length()
		}
	}
	return up.Seconds() / max(1, watched.Seconds())
}

// scoreAll puts the questions to each model in turn, the hosts side by side, and
// draws the intervals of all of them at once.
func scoreAll(test *predictor.Backtest, models []predictor.Model, questions []predictor.Question,
	threshold float64) ([]report, error) {
	results := make([]report, len(models))
	spreads := make([]predictor.Spread, len(models))
	var drawing sync.WaitGroup
	defer drawing.Wait()
	for i, m := range models {
		answers, err := test.Run(m, questions, inParallel)
		if err != nil {
			return nil, err
		}
		drawing.Go(func() {
			s := predictor.NewScorer(answers, threshold)
			spreads[i] = s.Bootstrap(predictor.Resamples, test.Seed)
			results[i] = newReport(m.Name, s.Score(), &spreads[i])
		})
	}
	drawing.Wait()
	for i := 1; i < len(results); i++ {
		results[0].compare(results[i], &spreads[0], &spreads[i])
	}
	return results, nil
}

// inParallel calls f for 0 to n-1 on all cores.
func inParallel(n int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	all.Wait()
}

// stamped says which part of a trace was asked about.
func stamped(t *trace.Trace) string {
	if t.Synthetic != "" {
		return fmt.Sprintf("%s, synthetic (%s)", t.Name, t.Synthetic)
	}
	return t.Name
}
