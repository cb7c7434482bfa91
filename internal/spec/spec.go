// Package spec reads how a person names one of several things with its
// parameters, and has those things by name: a name, and after a colon NAME=VALUE pairs with commas between
// them, as in "flp:lambda=1,interval=10m".
package spec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Split cuts a specification into its name and its parameters, nil if it has
// none.
func Split(s string) (name string, values map[string]string, err error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(s), ":")
	if rest == "" {
		return name, nil, nil
	}
	values = map[string]string{}
	for _, f := range strings.Split(rest, ",") {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return "", nil, fmt.Errorf("%q: %q: write NAME=VALUE", s, f)
		}
		if _, twice := values[key]; twice {
			return "", nil, fmt.Errorf("%q: %s is given twice", s, key)
		}
		values[key] = value
	}
	return name, values, nil
}

// Params are the parameters of one specification. Each method reads one and
// answers with its default where it is not given; the first error stays, for
// Err.
type Params struct {
	values map[string]string
	known  []string
	times  map[string]time.Duration // that were read
	of     string                   // what errors begin with, such as "place: policy flp: "
	with   string                   // see With
	err    error
	void   error // see Void
	read   []Param
}

// A Param is a parameter as it was read.
type Param struct {
	Name    string
	Default string // "" if it has none
	Takes   string // the values that it may have, for people
}

// note keeps what a parameter takes, and its default, once.
func (ps *Params) note(name, zero, takes string) {
	if !slices.ContainsFunc(ps.read, func(p Param) bool { return p.Name == name }) {
		ps.read = append(ps.read, Param{name, zero, takes})
	}
}

// Read takes the values of a specification whose parameters have the known
// names. It keeps values.
func Read(values map[string]string, known []string) *Params {
	ps := &Params{values: values, known: known, times: map[string]time.Duration{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(known, key):
		case len(known) == 0:
			ps.err = fmt.Errorf("unknown parameter %q: it has none", key)
		default:
			ps.err = fmt.Errorf("unknown parameter %q: use one of %s", key, strings.Join(known, ", "))
		}
		if ps.err != nil {
			break
		}
	}
	return ps
}

// Err returns what was wrong first, or nil. It names whose parameters they are, if
// they were read by a Registry.
func (ps *Params) Err() error {
	if ps.err == nil || ps.of == "" {
		return ps.err
	}
	return fmt.Errorf("%s%w", ps.of, ps.err)
}

// Fail adds an error of parameters that are wrong together, if it is the first.
func (ps *Params) Fail(err error) {
	if ps.err == nil {
		ps.err = err
	}
}

func (ps *Params) fail(key, want string) {
	ps.Fail(fmt.Errorf("%s=%s: it takes %s", key, ps.values[key], want))
}

// value panics on a name that is not among the known ones: such a parameter
// could never be given.
func (ps *Params) value(key string) (string, bool) {
	if !slices.Contains(ps.known, key) {
		panic("spec: parameter " + key + " is read but not known")
	}
	v, ok := ps.values[key]
	return v, ok
}

// With names what the thing that is made works with, such as the predictor of a policy. "" is what it brings along.
func (ps *Params) With() string { return ps.with }

// Ignore notes that parameters have no effect, and why, if one of them was given: see Void.
func (ps *Params) Ignore(why string, keys ...string) {
	for _, key := range keys {
		if v, given := ps.value(key); given && ps.void == nil {
			ps.void = fmt.Errorf("%s%s=%s has no effect: %s", ps.of, key, v, why)
		}
	}
}

// Void names the first parameter that was given and has no effect; nil if there is none. Whoever follows a
// specification of somebody else goes on without the parameter. Whoever takes one in refuses it.
func (ps *Params) Void() error { return ps.void }

// Integer reads a whole number from low to high.
func (ps *Params) Integer(key string, zero, low, high int) int {
	ps.note(key, strconv.Itoa(zero), fmt.Sprintf("%d to %d", low, high))
	v, ok := ps.value(key)
	if !ok {
		return zero
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		ps.fail(key, fmt.Sprintf("a whole number from %d to %d", low, high))
		return zero
	}
	return n
}

// Number reads a number from low to high, each of which it may be.
func (ps *Params) Number(key string, zero, low, high float64) float64 {
	ps.note(key, strconv.FormatFloat(zero, 'g', -1, 64), rangeOf(low, high))
	v, ok := ps.value(key)
	if !ok {
		return zero
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(x) || x < low || x > high {
		ps.fail(key, fmt.Sprintf("a number from %v to %v", low, high))
		return zero
	}
	return x
}

// rangeOf is a range of numbers for people.
func rangeOf(low, high float64) string {
	switch above := low == math.SmallestNonzeroFloat64; {
	case above && high == math.MaxFloat64:
		return "above 0"
	case above:
		return fmt.Sprintf("above 0, to %v", high)
	}
	return fmt.Sprintf("%v to %v", low, high)
}

// leastTime is the shortest length of time that a parameter may have.
const leastTime = time.Second

// Numbers reads finite numbers with slashes between them, such as .7/.2/.1; nil
// where none are given.
func (ps *Params) Numbers(key string) []float64 {
	ps.note(key, "", "numbers with slashes between them")
	v, ok := ps.value(key)
	if !ok {
		return nil
	}
	var out []float64
	for f := range strings.SplitSeq(v, "/") {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			ps.fail(key, "numbers with slashes between them, such as .7/.2/.1")
			return nil
		}
		out = append(out, x)
	}
	return out
}

// Duration reads a length of time of at least a second.
func (ps *Params) Duration(key string, zero time.Duration) time.Duration {
	ps.note(key, zero.String(), leastTime.String()+" or more")
	v, ok := ps.value(key)
	ps.times[key] = zero
	if !ok {
		return zero
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < leastTime {
		ps.fail(key, "a length of time of a second or more, such as 10m")
		return zero
	}
	ps.times[key] = d
	return d
}

// Faster writes the specification of a name with these parameters, all of which
// have been read, for a world whose time runs so many times as fast: each length
// of time is divided by that, also one that was not given. The error names one
// that becomes too short.
func (ps *Params) Faster(name string, by float64) (string, error) {
	values := maps.Clone(ps.values)
	if values == nil {
		values = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(ps.times)) {
		if ps.times[key] == 0 { // it is off
			continue
		}
		d := time.Duration(math.Round(float64(ps.times[key]) / by))
		if d < leastTime {
			return "", fmt.Errorf("%s: %s=%v is %v at %g times the speed: give it %v or more", name, key, ps.times[key], d, by,
				time.Duration(math.Ceil(by))*leastTime)
		}
		values[key] = d.String()
	}
	for i, key := range slices.Sorted(maps.Keys(values)) {
		name += string(":,"[min(i, 1)]) + key + "=" + values[key]
	}
	return name, nil
}

// Choice reads one of the names and returns its place; the first is the
// default.
func (ps *Params) Choice(key string, names ...string) int {
	ps.note(key, names[0], strings.Join(names, ", "))
	v, ok := ps.value(key)
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

// Pass returns those of the named parameters that were given, as they were: the
// specification, after its colon, of something that has parameters of the same
// names.
func (ps *Params) Pass(keys ...string) string {
	var out []string
	for _, key := range keys {
		if v, ok := ps.value(key); ok {
			out = append(out, key+"="+v)
		}
	}
	return strings.Join(out, ",")
}

// Usage is how a policy is written: its name, and after a colon its parameters, which
// params has with spaces between them, each with an equals sign.
func Usage(name, params string) string {
	keys := strings.Fields(params)
	if len(keys) == 0 {
		return name
	}
	return name + ":" + strings.Join(keys, "=,") + "="
}
