package predictor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Model makes predictors of one kind.
type Model struct {
	// Name is the specification that it was read from, such as "tde:n=5".
	Name string
	make func(pool *Pool) Predictor
}

// New returns the predictor of one host of which nothing is known. Those made
// with one pool learn from whatever is written to it; most ignore it.
func (m Model) New(pool *Pool) Predictor { return m.make(pool) }

// kinds are all models, in the order in which they are listed.
var kinds = []struct {
	name, params, does string
	make               func(*params) (func(*Pool) Predictor, error)
}{
	{"blend", "", "the default: experts on a gossiped record, weighed as they prove right", plain(func(p *Pool) Predictor { return NewBlend(p) })},
	{"blend442", "", "the fixed blend: .4 session lengths, .4 hours of the day, .2 TDE over 5 days", plain(func(p *Pool) Predictor { return newFixed(p) })},
	{"tde", "n m reading missing_days absent weights", "the same window of the last n days (Zhang; Rood and Lewis)", tdeModel},
	{"tde5", "", "tde:n=5,missing_days=skip", plain(func(*Pool) Predictor { return NewTDE(TDEConfig{N: 5, Missing: MissingSkip}) })},
	{"window", "span states", "share of one sliding window, of one state or of two", windowModel},
	{"weekly", "slots by weights c", "share of the same interval of the week in earlier weeks (Kokaly)", weeklyModel},
	{"saturating", "bits slot", "saturating counter (Mickens and Noble)", counterModel(newSaturating, saturatingBits)},
	{"history", "bits slot", "counter for each pattern of the last slots (Mickens and Noble)", counterModel(newPattern, patternBits)},
	{"semimarkov", "days", "semi-Markov kernels of the same window (Ren et al.)", renModel},
	{"age", "", "longest uptime: a score that rises with the age of the session", plain(func(*Pool) Predictor { return &age{} })},
	{"exponential", "", "memoryless, with the host's mean uptime", plain(func(*Pool) Predictor { return &exponential{} })},
	{"availability", "", "share of time that the host was there", plain(func(*Pool) Predictor { return &share{} })},
	{"pooled", "", "how long anybody's sessions last, given the age", expertModel(expertPooled)},
	{"survival", "", "how long this host's sessions last, given the age", expertModel(expertLife)},
	{"hour", "", "how often the host leaves at these hours of the day", expertModel(expertHour)},
	{"days", "", "on how many of the last 7 days it stayed through these hours", expertModel(expertDays)},
	{"fast", "", "how often it left in its last hours", expertModel(expertFast)},
	{"slow", "", "how often it left in its last days", expertModel(expertSlow)},
	{"logistic", "rate", "logistic regression on nine features, learnt by each host alone", logisticModel},
}

func plain(f func(*Pool) Predictor) func(*params) (func(*Pool) Predictor, error) {
	return func(*params) (func(*Pool) Predictor, error) { return f, nil }
}

func expertModel(expert int) func(*params) (func(*Pool) Predictor, error) {
	return plain(func(p *Pool) Predictor {
		makePlain(p)
		return part{NewRecorder(p), expert}
	})
}

// Names lists the kinds of models, each with its parameters.
func Names() []string {
	var out []string
	for _, k := range kinds {
		name := k.name
		if k.params != "" {
			name += ":" + strings.Join(strings.Fields(k.params), "=,") + "="
		}
		out = append(out, name)
	}
	return out
}

// Describe says what each kind of model is, a line each.
func Describe() string {
	var b strings.Builder
	for i, k := range kinds {
		fmt.Fprintf(&b, "%s: %s\n", Names()[i], k.does)
	}
	return b.String()
}

// Parse reads a model's specification: a kind, and after a colon its parameters
// with commas between them, as in "tde:n=5,reading=prefix".
func Parse(spec string) (Model, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(spec), ":")
	for _, k := range kinds {
		if k.name != name {
			continue
		}
		ps, err := parseParams(rest, strings.Fields(k.params))
		if err != nil {
			return Model{}, fmt.Errorf("predictor %q: %w", spec, err)
		}
		f, err := k.make(ps)
		if err == nil {
			err = ps.err
		}
		if err != nil {
			return Model{}, fmt.Errorf("predictor %q: %w", spec, err)
		}
		return Model{Name: strings.TrimSpace(spec), make: f}, nil
	}
	return Model{}, fmt.Errorf("unknown predictor %q: it is one of %s", name, strings.Join(Names(), ", "))
}

// ParseList reads specifications with commas between them. A part that has an
// equals sign and no colon before it belongs to the specification before.
func ParseList(list string) ([]Model, error) {
	var specs []string
	for _, s := range strings.Split(list, ",") {
		eq, colon := strings.Index(s, "="), strings.Index(s, ":")
		if len(specs) > 0 && eq >= 0 && (colon < 0 || colon > eq) {
			specs[len(specs)-1] += "," + s
			continue
		}
		specs = append(specs, s)
	}
	var out []Model
	for _, s := range specs {
		m, err := Parse(s)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// tdeModel reads TDE's parameters. Weights have a slash between them, the oldest
// day's first.
func tdeModel(ps *params) (func(*Pool) Predictor, error) {
	c := TDEConfig{
		N: ps.integer("n", 1), M: ps.integer("m", 1),
		Reading: Reading(ps.choice("reading", "transitional", "prefix", "fraction")),
		Missing: Missing(ps.choice("missing_days", "zero", "skip")),
		Absent:  Absent(ps.choice("absent", "leaves", "stays")),
		Weights: ps.numbers("weights"),
	}
	if ps.err != nil {
		return nil, ps.err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return func(*Pool) Predictor { return NewTDE(c) }, nil
}

// params are the parameters of one specification; the first error stays.
type params struct {
	values map[string]string
	err    error
}

func parseParams(s string, known []string) (*params, error) {
	ps := &params{values: map[string]string{}}
	if s == "" {
		return ps, nil
	}
	for _, f := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(f, "=")
		if !ok || !slices.Contains(known, key) {
			if len(known) == 0 {
				return nil, fmt.Errorf("%q: it takes no parameter", f)
			}
			return nil, fmt.Errorf("%q: write NAME=VALUE, the name one of %s", f, strings.Join(known, ", "))
		}
		if _, twice := ps.values[key]; twice {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		ps.values[key] = value
	}
	return ps, nil
}

func (ps *params) fail(key, want string) {
	if ps.err == nil {
		ps.err = fmt.Errorf("%s=%s: %s", key, ps.values[key], want)
	}
}

func (ps *params) integer(key string, zero int) int {
	v, ok := ps.values[key]
	if !ok {
		return zero
	}
	var n int
	if _, err := fmt.Sscanf(v+"\n", "%d\n", &n); err != nil || n < 1 {
		ps.fail(key, "a whole number from 1 on")
		return zero
	}
	return n
}

func (ps *params) number(key string, zero float64) float64 {
	v, ok := ps.values[key]
	if !ok {
		return zero
	}
	var x float64
	if _, err := fmt.Sscanf(v+"\n", "%g\n", &x); err != nil || !(x > 0) {
		ps.fail(key, "a number above 0")
		return zero
	}
	return x
}

func (ps *params) numbers(key string) []float64 {
	v, ok := ps.values[key]
	if !ok {
		return nil
	}
	var out []float64
	for _, f := range strings.Split(v, "/") {
		var x float64
		if _, err := fmt.Sscanf(f+"\n", "%g\n", &x); err != nil {
			ps.fail(key, "numbers with slashes between them, such as .7/.2/.1")
			return nil
		}
		out = append(out, x)
	}
	return out
}

func (ps *params) duration(key string, zero time.Duration) time.Duration {
	v, ok := ps.values[key]
	if !ok {
		return zero
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		ps.fail(key, "a length of time such as 12h")
		return zero
	}
	return d
}

func (ps *params) choice(key string, names ...string) int {
	v, ok := ps.values[key]
	if !ok {
		return 0
	}
	i := slices.Index(names, v)
	if i < 0 {
		ps.fail(key, "one of "+strings.Join(names, ", "))
		return 0
	}
	return i
}
