package task

import (
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
)

// readSweep reads the axes in file order. The key `repeat` is none of them.
func (r *reader) readSweep(node ast.Node) *Error {
	pairs, e := yamlfile.Pairs(r.source, node, "sweep", "write AXIS: [VALUE, ...] or AXIS: {from: 0, to: 9} lines")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		if p.Key == "repeat" {
			if e := r.readRepeat(p); e != nil {
				return e
			}
			continue
		}
		// Faults of an axis's name are shown at the name.
		r.places["sweep."+p.Key] = yamlfile.At(p.Token)
		a, e := r.readAxis(p)
		if e != nil {
			return e
		}
		r.Sweep.Axes = append(r.Sweep.Axes, a)
	}
	return nil
}

func (r *reader) readRepeat(p yamlfile.Pair) *Error {
	const hint = "`repeat: 100` gives every point 100 trials; an axis needs another name"
	if kind := p.Value.Type(); kind == ast.SequenceType || kind == ast.MappingType || kind == ast.MappingValueType {
		return r.errorAtToken(p.Token, hint, "no axis may be called \"repeat\"")
	}
	s, e := r.text(p.Value, "repeat")
	if e != nil {
		return e
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return r.errorAtToken(yamlfile.First(p.Value), hint, "repeat: %s is not a number of trials", quote(s))
	}
	r.Sweep.Repeat = n
	return nil
}

func (r *reader) readAxis(p yamlfile.Pair) (Axis, *Error) {
	switch n := p.Value.(type) {
	case *ast.SequenceNode:
		return r.readList(p, n)
	case ast.MapNode:
		return r.readRange(p)
	}
	return Axis{}, r.errorAtToken(yamlfile.First(p.Value),
		"write a list such as [low, high], or a range such as {from: 0, to: 63, step: 1}",
		"axis %s is a list or a range, this is %s", quote(p.Key), yamlfile.Kind(p.Value))
}

func (r *reader) readList(p yamlfile.Pair, list *ast.SequenceNode) (Axis, *Error) {
	if len(list.Values) == 0 {
		return Axis{}, r.errorAtToken(yamlfile.First(list), "give it at least one value, or leave it out",
			"axis %s is empty", quote(p.Key))
	}
	a := Axis{Name: p.Key, Values: make([]string, 0, len(list.Values))}
	for _, v := range list.Values {
		if yamlfile.Nothing(v) {
			return Axis{}, r.errorAtToken(yamlfile.FirstOr(v, list), `write "" for empty text`,
				"axis %s has a value that is nothing", quote(p.Key))
		}
		s, e := r.text(v, p.Key)
		if e != nil {
			return Axis{}, e
		}
		if ft := checkText("", s, MaxValue); ft != nil {
			return Axis{}, r.errorAtToken(yamlfile.First(v), ft.hint, "axis %s: %s", quote(p.Key), ft.msg)
		}
		a.Values = append(a.Values, s)
	}
	return a, nil
}

// rangeKeys are the keys of a range.
var rangeKeys = []string{"from", "to", "step"}

func (r *reader) readRange(p yamlfile.Pair) (Axis, *Error) {
	pairs, e := yamlfile.Pairs(r.source, p.Value, "a range", "write {from: 0, to: 63, step: 1}")
	if e != nil {
		return Axis{}, e
	}
	if slices.ContainsFunc(pairs, func(q yamlfile.Pair) bool { return isSourceKind(q.Key) }) {
		return r.readSource(p, pairs)
	}
	numbers := map[string]decimal{"step": {mantissa: 1}}
	for _, q := range pairs {
		if !slices.Contains(rangeKeys, q.Key) {
			return Axis{}, yamlfile.UnknownKey(r.source, q.Token, rangeKeys, "a range")
		}
		s, e := r.text(q.Value, q.Key)
		if e != nil {
			return Axis{}, e
		}
		d, ok := parseDecimal(s)
		if !ok {
			return Axis{}, r.errorAtToken(yamlfile.First(q.Value), "write a decimal of at most 18 digits, such as 0, -3 or 0.25",
				"%s: %s is not a decimal number", q.Key, quote(s))
		}
		numbers[q.Key] = d
		r.mark("sweep."+p.Key+"."+q.Key, q.Value)
	}
	for _, k := range rangeKeys {
		if _, found := numbers[k]; !found {
			return Axis{}, r.errorAtToken(yamlfile.First(p.Value),
				"write {from: 0, to: 63, step: 1}; the step is 1 where it is left out",
				"range %s has no %q", quote(p.Key), k)
		}
	}
	a, ft := rangeAxis(p.Key, numbers["from"], numbers["to"], numbers["step"])
	if ft != nil {
		return Axis{}, r.place(ft)
	}
	return a, nil
}
