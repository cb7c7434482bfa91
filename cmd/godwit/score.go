package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/lab/backtest"
	"godwit/predictor"
)

func newScore() *cobra.Command {
	var f backtest.Options
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
		RunE: func(cmd *cobra.Command, _ []string) error { return f.Run(cmd.OutOrStdout()) },
	}
	addTrace(&f.Trace, cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.Path, "trace", "", "file with the trace")
	fl.StringVar(&f.Predictors, "predictor", "blend,tde5,blend442",
		"predictors, with commas between them; the first is compared with the others")
	fl.DurationVar(&f.Horizon, "horizon", time.Hour, "how long a host is to stay")
	fl.IntVar(&f.Questions, "questions", backtest.DefaultQuestions, "how many questions to ask, in tens at one time")
	fl.Float64Var(&f.After, "after", backtest.DefaultAfter, "share of the time, 0 to 1, after which questions are asked")
	fl.Float64Var(&f.MaxAvailability, "max-availability", 1,
		"leave out hosts that are available for a larger share of their time")
	fl.Float64Var(&f.Threshold, "threshold", 0.5,
		"an exit counts as predicted below this probability (1: the rule of PSPP)")
	fl.BoolVar(&f.Censor, "censor", false, "ask nothing whose answer nobody watched, and cut stays off there")
	fl.StringVar(&f.Plot, "plot", "", "draw the reliability diagram into this .png or .svg file (with -tags plot)")
	fl.BoolVar(&f.JSON, "json", false, "print JSON, one object per predictor")
	return cmd
}

func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}
