package task

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
)

// trialsKeys are the keys of a rule for trials.
var trialsKeys = []string{"least", "most", "of", "within"}

const trialsHint = "write trials: 100, or trials: {least: 10, most: 1000, of: value, within: 2%}"

// readTrials reads the number of trials of each point, or the rule for it.
func (r *reader) readTrials(p yamlfile.Pair) (e *Error) {
	if _, is := p.Value.(ast.MapNode); !is {
		r.times, e = r.readTimes(p.Value, p.Key)
		return e
	}
	pairs, e := yamlfile.Pairs(r.source, p.Value, "trials", trialsHint)
	if e != nil {
		return e
	}
	t := &Trials{Of: ValueField}
	r.times = LeastTrials
	for _, q := range pairs {
		if !slices.Contains(trialsKeys, q.Key) {
			return yamlfile.UnknownKey(r.source, q.Token, trialsKeys, "trials")
		}
		r.mark("trials."+q.Key, q.Value)
		switch q.Key {
		case "least":
			r.times, e = r.readTimes(q.Value, "least")
		case "most":
			t.Most, e = r.readTimes(q.Value, "most")
		case "of":
			t.Of, e = r.text(q.Value, q.Key)
		case "within":
			e = r.readWithin(q.Value, t)
		}
		if e != nil {
			return e
		}
	}
	for _, key := range []string{"most", "within"} {
		if _, found := r.places["trials."+key]; !found {
			return r.errorAtToken(yamlfile.First(p.Value), trialsHint, "trials have no %q", key)
		}
	}
	r.Trials = t
	return nil
}

// readTimes reads a number of trials.
func (r *reader) readTimes(node ast.Node, key string) (uint64, *Error) {
	if node.Type() == ast.SequenceType {
		return 0, r.errorAtToken(yamlfile.First(node), trialsHint, "%s is a number of trials, this is a list", quote(key))
	}
	s, e := r.text(node, key)
	if e != nil {
		return 0, e
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return 0, r.errorAtToken(yamlfile.First(node), trialsHint, "%s: %s is not a number of trials", key, quote(s))
	}
	return n, nil
}

// readWithin reads the half width of an interval: a number, or a percentage of the mean.
func (r *reader) readWithin(node ast.Node, t *Trials) *Error {
	s, e := r.text(node, "within")
	if e != nil {
		return e
	}
	within, relative, ok := ParseWithin(s)
	if !ok {
		return r.errorAtToken(yamlfile.First(node), withinHint, "within: %s is not the half width of an interval", quote(s))
	}
	t.Within, t.Relative = within, relative
	return nil
}

// ParseWithin reads the half width of a confidence interval: a positive decimal number, or with a % sign behind it a
// percentage of the mean.
func ParseWithin(s string) (within float64, relative, ok bool) {
	s, relative = strings.CutSuffix(s, "%")
	if d, ok := parseDecimal(strings.TrimSpace(s)); !ok || d.mantissa <= 0 {
		return 0, false, false
	}
	within, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if relative {
		within /= 100
	}
	return within, relative, err == nil && within > 0
}

// setTrials sets the number of trials of each point. It fails if the sweep has the older key `repeat`, too.
func (r *reader) setTrials() *Error {
	if r.times == 0 {
		return nil
	}
	if r.Sweep.Repeat != 0 {
		return r.place(faultf("trials", "leave repeat out of the sweep: trials is the same",
			"both trials and the sweep's repeat say how many trials a point has"))
	}
	r.Sweep.Repeat = r.times
	return nil
}
