package task

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
)

// places returns at which of its points each axis is at the index's point of the sweep, i < Count(), and
// the trial. Axes that are joined are at the same.
func (s *Sweep) places(i uint64) (at []uint64, trial uint64) {
	at = make([]uint64, len(s.Axes))
	trial, i = i%s.trials(), i/s.trials()
	for k := len(s.Axes) - 1; k >= 0; k-- {
		if s.Axes[k].Joined {
			continue // its first is yet to come
		}
		n := s.Axes[k].Len()
		at[k], i = i%n, i/n
		for j := k + 1; j < len(s.Axes) && s.Axes[j].Joined; j++ {
			at[j] = at[k]
		}
	}
	return at, trial
}

// checkJoined checks the axes that go together: an axis is joined to those before it.
func (s *Sweep) checkJoined() *fault {
	for i := range s.Axes {
		a := &s.Axes[i]
		switch {
		case !a.Joined:
		case i == 0:
			return faultf("zip", "", "axis %s goes with one before it, and there is none", quote(a.Name))
		case a.Len() != s.Axes[i-1].Len():
			b := &s.Axes[i-1]
			return faultf("zip", "axes that go together have a value of each for every point",
				"axis %s has %d values, and axis %s has %d", b.Name, b.Len(), a.Name, a.Len())
		}
	}
	return nil
}

// only returns the sweep over some of the axes.
func (s *Sweep) only(used func(axis int) bool) (r Sweep) {
	joins := false // an axis of this group is in r
	for i := range s.Axes {
		joins = joins && s.Axes[i].Joined
		if !used(i) {
			continue
		}
		a := s.Axes[i]
		a.Joined, joins = joins, true
		r.Axes = append(r.Axes, a)
	}
	return r
}

const zipHint = "write zip: [case, image], with names of axes of the sweep"

// readZip notes which axes go together: a list of names, or of such lists.
func (r *reader) readZip(node ast.Node) *Error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return r.errorAtToken(yamlfile.First(node), zipHint, `"zip" is a list, this is %s`, yamlfile.Kind(node))
	}
	if len(list.Values) == 0 {
		return nil // none go together
	}
	nested := slices.ContainsFunc(list.Values, func(v ast.Node) bool { return v.Type() == ast.SequenceType })
	if !nested {
		names, e := r.texts(node, "zip", "zip: [case, image]")
		r.zip = [][]string{names}
		return e
	}
	for i, v := range list.Values {
		names, e := r.texts(v, fmt.Sprintf("zip[%d]", i), "zip: [[case, image], [a, b]]")
		if e != nil {
			return e
		}
		r.zip = append(r.zip, names)
	}
	return nil
}

// setZip has the axes go together that are to: the others of a group follow its first.
func (r *reader) setZip() *Error {
	used := map[string]bool{}
	for _, group := range r.zip {
		if len(group) < 2 {
			return r.place(faultf("zip", zipHint, "axes that go together are two at least"))
		}
		var joined []Axis
		for _, name := range group {
			i := slices.IndexFunc(r.Sweep.Axes, func(a Axis) bool { return a.Name == name })
			switch {
			case i < 0 || name == "":
				return r.place(faultf("zip", zipHint, "the sweep has no axis %s", quote(name)))
			case used[name]:
				return r.place(faultf("zip", zipHint, "axis %s is named twice", quote(name)))
			}
			used[name] = true
			joined = append(joined, r.Sweep.Axes[i])
		}
		r.Sweep.join(joined)
	}
	return nil
}

// join puts axes one after the other, at the place of the one that comes first.
func (s *Sweep) join(group []Axis) {
	in := func(a Axis) bool {
		return slices.ContainsFunc(group, func(g Axis) bool { return g.Name == a.Name })
	}
	first := slices.IndexFunc(s.Axes, in)
	rest := slices.DeleteFunc(slices.Clone(s.Axes), in)
	for i := range group {
		group[i].Joined = i > 0
	}
	s.Axes = slices.Insert(rest, first, group...)
}
