package predictor

import (
	"fmt"
	"strings"

	"godwit/internal/spec"
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

func plain(f func(*Pool) Predictor) func(*Params) func(*Pool) Predictor {
	return func(*Params) func(*Pool) Predictor { return f }
}

func expertModel(expert int) func(*Params) func(*Pool) Predictor {
	return plain(func(p *Pool) Predictor {
		makePlain(p)
		return part{NewRecorder(p), expert}
	})
}

// Names lists the kinds of models, each with its parameters: those of this package
// from the default on, then others in the order in which they were registered.
func Names() []string { return kinds.Usages() }

// Describe says what each kind of model is, a line each, in the order of Names.
func Describe() string { return kinds.Describe() }

// Parse reads a model's specification: a kind, and after a colon its parameters
// with commas between them, as in "tde:n=5,reading=prefix".
func Parse(s string) (Model, error) {
	if name, _, err := spec.Split(s); err == nil && !kinds.Has(name) {
		return Model{}, fmt.Errorf("unknown predictor %q: it is one of %s", name, strings.Join(Names(), ", "))
	}
	made, _, err := kinds.Parse(s)
	if err != nil {
		return Model{}, err
	}
	return Model{Name: strings.TrimSpace(s), make: made}, nil
}

// ParseList reads specifications with commas between them. A part that has an
// equals sign and no colon before it belongs to the specification before.
func ParseList(list string) ([]Model, error) {
	var out []Model
	for _, s := range spec.List(list) {
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
func tdeModel(ps *Params) func(*Pool) Predictor {
	c := TDEConfig{
		N: ps.Integer("n", 1, 1, mostDays), M: ps.Integer("m", 1, 1, mostFactor),
		Reading: Reading(ps.Choice("reading", "transitional", "prefix", "fraction")),
		Missing: Missing(ps.Choice("missing_days", "zero", "skip")),
		Absent:  Absent(ps.Choice("absent", "leaves", "stays")),
		Weights: ps.Numbers("weights"),
	}
	ps.Fail(c.Validate())
	return func(*Pool) Predictor { return NewTDE(c) }
}
