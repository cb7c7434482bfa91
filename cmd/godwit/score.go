package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/predictor"
	"godwit/trace"
)

// scoreFlags are those of `godwit score`.
type scoreFlags struct {
	trace      traces.Source
	path       string
	predictors string
	horizon    time.Duration
	questions  int
	after      float64
	most       float64
	threshold  float64
	censor     bool
	plot       string
	json       bool
}

// A back-test asks over the last 45 % of the time, as in predictors.md section 3.2.
const (
	defaultAfter     = 0.55
	defaultQuestions = 20000
	mostQuestions    = 10_000_000 // 560 MB of them
)

func newScore() *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:   "score --trace FILE | --synth KIND",
		Short: "Back-test predictors on a trace: would they have known who stays?",
		Long: `Back-test predictors on a trace. Questions are put at random times, of hosts that
are available then: will this one stay without a break for the horizon? Each
predictor sees a host's past only, in the order of time.

Intervals are of 95 %, by drawing the hosts again. Hosts that nobody watched are
taken to have left (closing hours are departures), unless --censor is given.

Predictors:
` + indented(predictor.Describe()),
		Example: `  godwit score --trace sessions.csv.gz --horizon 24h
  godwit score --synth deug --predictor blend,tde:n=5,reading=prefix,age --horizon 1h`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	addTrace(&f.trace, cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.path, "trace", "", "file with the trace")
	fl.StringVar(&f.predictors, "predictor", "blend,tde5,blend442", "predictors, with commas between them; the first is compared with the others")
	fl.DurationVar(&f.horizon, "horizon", time.Hour, "how long a host is to stay")
	fl.IntVar(&f.questions, "questions", defaultQuestions, "how many questions to ask, in tens at one time")
	fl.Float64Var(&f.after, "after", defaultAfter, "share of the time, 0 to 1, after which questions are asked")
	fl.Float64Var(&f.most, "max-availability", 1, "leave out hosts that are available for a larger share of their time")
	fl.Float64Var(&f.threshold, "threshold", 0.5, "an exit counts as predicted below this probability (1: the rule of PSPP)")
	fl.BoolVar(&f.censor, "censor", false, "ask nothing whose answer nobody watched, and cut stays off there")
	fl.StringVar(&f.plot, "plot", "", "draw the reliability diagram into this .png or .svg file")
	fl.BoolVar(&f.json, "json", false, "print JSON, one object per predictor")
	return cmd
}

func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

func (f *scoreFlags) check() ([]predictor.Model, error) {
	models, err := predictor.ParseList(f.predictors)
	switch {
	case err != nil:
		return nil, failure.Usage("`godwit score --help` says what each does", "%w", err)
	case f.horizon < time.Second:
		return nil, failure.Usage("write --horizon 1h", "--horizon %v is not a second", f.horizon)
	case f.questions < 1 || f.questions > mostQuestions:
		return nil, failure.Usage("write --questions 20000", "--questions %d: 1 to %d can be asked", f.questions, mostQuestions)
	case !(f.after >= 0 && f.after < 1):
		return nil, failure.Usage("write --after 0.55", "--after %v is not a share below 1", f.after)
	case !(f.most > 0 && f.most <= 1):
		return nil, failure.Usage("write --max-availability 0.9", "--max-availability %v is no share", f.most)
	case !(f.threshold > 0 && f.threshold <= 1):
		return nil, failure.Usage("write --threshold 0.5", "--threshold %v is not a probability above 0", f.threshold)
	}
	return models, plot.CheckName(f.plot)
}

func (f *scoreFlags) run(cmd *cobra.Command) error {
	models, err := f.check()
	if err != nil {
		return err
	}
	t, err := f.trace.Load(f.path)
	if err != nil {
		return err
	}
	if !f.censor {
		t = t.Assume(trace.Unavailable)
	}
	test := f.test(t)
	questions, err := test.Ask()
	if err != nil {
		return failure.Usage("give a shorter --horizon or a smaller --after", "--horizon %v on %s: %w", f.horizon, t.Name, err)
	}
	results, err := scoreAll(test, models, questions, f.threshold)
	if err != nil {
		return err
	}
	for i := range results {
		results[i].describe(f, t)
	}
	if f.plot != "" {
		if err := plot.Save(f.plot, reliabilityChart(results)); err != nil {
			return err
		}
	}
	if f.json {
		for _, r := range results {
			if err := table.JSON(cmd.OutOrStdout(), r); err != nil {
				return err
			}
		}
		return nil
	}
	f.print(cmd.OutOrStdout(), t, len(test.Histories), results)
	return nil
}

// test plans the back-test on the hosts that are asked for.
func (f *scoreFlags) test(t *trace.Trace) *predictor.Backtest {
	test := &predictor.Backtest{Horizon: f.horizon, End: t.End, Questions: f.questions, Seed: f.trace.Seed}
	test.From = t.Start.Add(time.Duration(f.after * float64(t.End.Sub(t.Start))))
	for _, h := range t.Hosts {
		if f.most == 1 || presence(h.History) <= f.most {
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
func scoreAll(test *predictor.Backtest, models []predictor.Model, questions []predictor.Question, threshold float64) ([]scoreReport, error) {
	results := make([]scoreReport, len(models))
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
			results[i] = newScoreReport(m.Name, s.Score(), &spreads[i])
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
