package task

import (
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// readSweep reads the axes in file order. The key `repeat` is none of them.
func (r *reader) readSweep(node ast.Node) *Error {
	pairs, e := r.mapping(node, "sweep", "write AXIS: [VALUE, ...] or AXIS: {from: 0, to: 9} lines")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		if p.key == "repeat" {
			if e := r.readRepeat(p); e != nil {
				return e
			}
			continue
		}
		// Faults of an axis's name are shown at the name.
		r.places["sweep."+p.key] = at(p.token)
		a, e := r.readAxis(p)
		if e != nil {
			return e
		}
		r.Sweep.Axes = append(r.Sweep.Axes, a)
	}
	return nil
}

func (r *reader) readRepeat(p pair) *Error {
	const hint = "`repeat: 100` gives every point 100 trials; an axis needs another name"
	if kind := p.value.Type(); kind == ast.SequenceType || kind == ast.MappingType || kind == ast.MappingValueType {
		return r.errorAtToken(p.token, hint, "no axis may be called \"repeat\"")
	}
	s, e := r.text(p.value, "repeat")
	if e != nil {
		return e
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return r.errorAtToken(first(p.value), hint, "repeat: %s is not a number of trials", quote(s))
	}
	r.Sweep.Repeat = n
	return nil
}

func (r *reader) readAxis(p pair) (Axis, *Error) {
	switch n := p.value.(type) {
	case *ast.SequenceNode:
		return r.readList(p, n)
	case ast.MapNode:
		return r.readRange(p)
	}
	return Axis{}, r.errorAtToken(first(p.value), "write a list such as [low, high], or a range such as {from: 0, to: 63, step: 1}",
		"axis %s is a list or a range, this is %s", quote(p.key), kind(p.value))
}

func (r *reader) readList(p pair, list *ast.SequenceNode) (Axis, *Error) {
	if len(list.Values) == 0 {
		return Axis{}, r.errorAtToken(first(list), "give it at least one value, or leave it out", "axis %s is empty", quote(p.key))
	}
	a := Axis{Name: p.key, Values: make([]string, 0, len(list.Values))}
	for _, v := range list.Values {
		if v == nil || v.Type() == ast.NullType {
			return Axis{}, r.errorAtToken(firstOr(v, list), `write "" for empty text`, "axis %s has a value that is nothing", quote(p.key))
		}
		s, e := r.text(v, p.key)
		if e != nil {
			return Axis{}, e
		}
		if ft := checkText("", s, MaxValue); ft != nil {
			return Axis{}, r.errorAtToken(first(v), ft.hint, "axis %s: %s", quote(p.key), ft.msg)
		}
		a.Values = append(a.Values, s)
	}
	return a, nil
}

// rangeKeys are the keys of a range.
var rangeKeys = []string{"from", "to", "step"}

func (r *reader) readRange(p pair) (Axis, *Error) {
	pairs, e := r.mapping(p.value, "a range", "write {from: 0, to: 63, step: 1}")
	if e != nil {
		return Axis{}, e
	}
	numbers := map[string]decimal{"step": {mantissa: 1}}
	for _, q := range pairs {
		if !slices.Contains(rangeKeys, q.key) {
			return Axis{}, r.unknownKey(q, rangeKeys, "a range")
		}
		s, e := r.text(q.value, q.key)
		if e != nil {
			return Axis{}, e
		}
		d, ok := parseDecimal(s)
		if !ok {
			return Axis{}, r.errorAtToken(first(q.value), "write a decimal of at most 18 digits, such as 0, -3 or 0.25",
				"%s: %s is not a decimal number", q.key, quote(s))
		}
		numbers[q.key] = d
		r.mark("sweep."+p.key+"."+q.key, q.value)
	}
	for _, k := range rangeKeys {
		if _, found := numbers[k]; !found {
			return Axis{}, r.errorAtToken(first(p.value), "write {from: 0, to: 63, step: 1}; the step is 1 where it is left out",
				"range %s has no %q", quote(p.key), k)
		}
	}
	a, ft := rangeAxis(p.key, numbers["from"], numbers["to"], numbers["step"])
	if ft != nil {
		return Axis{}, r.place(ft)
	}
	return a, nil
}
