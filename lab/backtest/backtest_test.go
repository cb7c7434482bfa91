package backtest

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"godwit/lab/traces"
	"godwit/predictor"
	"godwit/trace"
)

// phonesFile is one of the real sets that lie beside the project.
const phonesFile = "../../../shared/data/phones/availability_2state.csv.gz"

// On the phones the default ranks better than TDE over five days, errs at most
// .75 as much, and is no worse than the fixed blend beyond the interval.
// scripts/score-table asks in all eight settings, and more.
func TestDefaultOnPhones(t *testing.T) {
	if _, err := os.Stat(phonesFile); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there", phonesFile)
	}
	models, err := predictor.ParseList("blend,tde:n=5,tde5,blend442")
	if err != nil {
		t.Fatal(err)
	}
	for _, horizon := range []time.Duration{time.Hour, 3 * time.Hour} {
		f := Options{Trace: traces.Source{Seed: 2}, Path: phonesFile, Horizon: horizon, Questions: 4000, After: DefaultAfter,
			MaxAvailability: 1}
		set, err := f.Trace.Load(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		test := f.test(set.Assume(trace.Unavailable))
		questions, err := test.Ask()
		if err != nil {
			t.Fatal(err)
		}
		results, err := scoreAll(test, models, questions, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		mine := results[0]
		for _, tde := range results[1:3] {
			if *mine.AUC <= *tde.AUC || mine.Brier > .75*tde.Brier {
				t.Errorf("%v: AUC %.3f and Brier %.4f, beside %.3f and %.4f of %s", horizon, *mine.AUC, mine.Brier, *tde.AUC,
					tde.Brier, tde.Predictor)
			}
		}
		if less := mine.Less["blend442"]; less.AUC[2] < 0 || less.Brier[1] > 0 {
			t.Errorf("%v: worse than the fixed blend: AUC %v, Brier %v", horizon, *less.AUC, *less.Brier)
		}
	}
}
