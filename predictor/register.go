package predictor

import "godwit/internal/spec"

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write predictors too.
type Params = spec.Params

// A Kind is a kind of model by name: its parameters, what it is, and what makes the
// predictor of one host of which nothing is known. All predictors of a run or of a
// node are made with one pool; a kind that has no use for it leaves it alone.
type Kind = spec.Kind[func(pool *Pool) Predictor]

// Register makes a kind of model known by name: to scenario files, policies that
// name a predictor and the command's help. It is called from init functions only,
// of any package, and panics on a name that is taken, or that no specification
// could have.
func Register(name string, k Kind) { kinds.Register(name, k) }

var kinds = spec.Registry[func(pool *Pool) Predictor]{Room: "predictor", Thing: "predictor", InOrder: true}

// The kinds of this package are registered in the order in which they are listed.
func init() {
	for _, k := range []struct {
		name, params, does string
		make               func(*Params) func(*Pool) Predictor
	}{
		{"blend", "firm",
			"the default: experts on a gossiped record, weighed and set right as they prove right", blendModel},
		{"opinions", "", "the default without what the pool learns: each host's own weights",
			plain(func(p *Pool) Predictor { return told{NewRecorder(p)} })},
		{"blend442", "", "the fixed blend: .4 session lengths, .4 hours of the day, .2 TDE over 5 days",
			plain(func(p *Pool) Predictor { return newFixed(p) })},
		{"tde", "n m reading missing_days absent weights", "the same window of the last n days (Zhang; Rood and Lewis)",
			tdeModel},
		{"tde5", "", "tde:n=5,missing_days=skip",
			plain(func(*Pool) Predictor { return NewTDE(TDEConfig{N: 5, Missing: MissingSkip}) })},
		{"window", "span states", "share of one sliding window, of one state or of two", windowModel},
		{"weekly", "slots by weights c", "share of the same interval of the week in earlier weeks (Kokaly)", weeklyModel},
		{"saturating", "bits slot", "saturating counter (Mickens and Noble)", counterModel(newSaturating, saturatingBits)},
		{"history", "bits slot", "counter for each pattern of the last slots (Mickens and Noble)",
			counterModel(newPattern, patternBits)},
		{"semimarkov", "days", "semi-Markov kernels of the same window (Ren et al.)", renModel},
		{"age", "", "longest uptime: a score that rises with the age of the session",
			plain(func(*Pool) Predictor { return &age{} })},
		{"exponential", "", "memoryless, with the host's mean uptime",
			plain(func(*Pool) Predictor { return &exponential{} })},
		{"availability", "", "share of time that the host was there", plain(func(*Pool) Predictor { return &share{} })},
		{"pooled", "", "how long anybody's sessions last, given the age", expertModel(expertPooled)},
		{"survival", "", "how long this host's sessions last, given the age", expertModel(expertLife)},
		{"hour", "", "how often the host leaves at these hours of the day", expertModel(expertHour)},
		{"days", "", "on how many of the last 7 days it stayed through these hours", expertModel(expertDays)},
		{"fast", "", "how often it left in its last hours", expertModel(expertFast)},
		{"slow", "", "how often it left in its last days", expertModel(expertSlow)},
		{"logistic", "rate", "logistic regression on nine features, learnt by each host alone", logisticModel},
	} {
		Register(k.name, Kind{Params: k.params, Does: k.does, Make: k.make})
	}
}
