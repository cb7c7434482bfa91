package report

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A sweep is a set of groups whose policies differ in one numeric parameter
// only, such as fcfspp:n=1 to fcfspp:n=6, and those beside them that have no
// such parameter, with which the others are compared.
type sweep struct {
	param  string
	hours  bool // the parameter is a length of time, told in hours
	series []series
	fixed  []Group
}

// A series is a line: one group for each value, in ascending order.
type series struct {
	name   string // what all its groups have in common
	x      []float64
	groups []Group
}

// leastSwept is how many values make a line worth drawing instead of bars.
const leastSwept = 3

// findSweep finds the sweep in groups: first over the placement policies'
// parameters, then over the migration policies'. It is nil where there is none,
// or more than one parameter is swept.
func findSweep(groups []Group) *sweep {
	for _, of := range []func(*Group) *string{
		func(g *Group) *string { return &g.Policy },
		func(g *Group) *string { return &g.Migration },
	} {
		var found *sweep
		for _, param := range parameters(groups, of) {
			s := sweepOver(groups, of, param)
			if s == nil {
				continue
			}
			if found != nil {
				return nil
			}
			found = s
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// parameters lists the names of the parameters that policies have, each once.
func parameters(groups []Group, of func(*Group) *string) (names []string) {
	for i := range groups {
		_, rest, _ := strings.Cut(*of(&groups[i]), ":")
		for pair := range strings.SplitSeq(rest, ",") {
			if name, _, ok := strings.Cut(pair, "="); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// sweepOver makes the sweep over one parameter, or nil if some line of it has
// fewer than leastSwept values.
func sweepOver(groups []Group, of func(*Group) *string, param string) *sweep {
	s := &sweep{param: param}
	for _, g := range groups {
		rest, x, isTime, ok := without(*of(&g), param)
		if !ok {
			s.fixed = append(s.fixed, g)
			continue
		}
		s.hours = s.hours || isTime
		common := g
		*of(&common) = rest
		s.add(common.name(), x, g)
	}
	for _, line := range s.series {
		if len(line.x) < leastSwept {
			return nil
		}
	}
	if len(s.series) == 0 {
		return nil
	}
	return s
}

func (s *sweep) add(name string, x float64, g Group) {
	i := slices.IndexFunc(s.series, func(l series) bool { return l.name == name })
	if i < 0 {
		i = len(s.series)
		s.series = append(s.series, series{name: name})
	}
	l := &s.series[i]
	at, _ := slices.BinarySearch(l.x, x)
	l.x, l.groups = slices.Insert(l.x, at, x), slices.Insert(l.groups, at, g)
}

// without takes a parameter out of a specification. Its value is a number, or a
// length of time, which becomes one of hours.
func without(spec, param string) (rest string, x float64, isTime, ok bool) {
	name, params, _ := strings.Cut(spec, ":")
	var others []string
	for pair := range strings.SplitSeq(params, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if key != param {
			others = append(others, pair)
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			x, ok = n, true
		} else if d, err := time.ParseDuration(value); err == nil {
			x, isTime, ok = d.Hours(), true, true
		}
	}
	if len(others) > 0 {
		name += ":" + strings.Join(others, ",")
	}
	return name, x, isTime, ok
}
