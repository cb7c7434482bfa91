package task

import (
	"fmt"
	"slices"
	"strings"
)

// Tasks of a stage are grouped by axes, each of whose points is a group, and by columns of tables, AXIS.COLUMN:
// rows with the same text in it are one group. What goes together has groups together.

// A unit is an axis by which tasks are grouped, or some that go together.
type unit struct {
	head  int      // the first of the axes that go together, whether it is named or not
	names []string // in their order
	split *split   // by columns; nil: each point is a group
}

// columnOf takes a name apart by which tasks are grouped; column is "" for an axis.
func columnOf(name string) (axis, column string) {
	axis, column, _ = strings.Cut(name, ".")
	return axis, column
}

// byColumns reports whether one of the names is of a column.
func byColumns(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ".") })
}

// axis returns the place of an axis, or of that of a column; -1 for none.
func (s *Sweep) axis(name string) int {
	name, _ = columnOf(name)
	return slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name })
}

// head returns the first of the axes that go together with one.
func (s *Sweep) head(axis int) int {
	for axis > 0 && s.Axes[axis].Joined {
		axis--
	}
	return axis
}

// units returns by what tasks are grouped, in the order in which the first name of each comes. Names that there are
// not are left out.
func (s *Sweep) units(by []string) []unit {
	out := make([]unit, 0, len(by))
	for _, name := range by {
		i := s.axis(name)
		if i < 0 {
			continue
		}
		head := s.head(i)
		k := slices.IndexFunc(out, func(u unit) bool { return u.head == head })
		if k < 0 {
			k, out = len(out), append(out, unit{head: head})
		}
		out[k].names = append(out[k].names, name)
	}
	for k := range out {
		if u := &out[k]; byColumns(u.names) {
			u.split = &split{s.grouping(u.names), s.Axes[s.axis(u.names[0])].group}
		}
	}
	return out
}

// grouping returns the grouping by some columns. Where the job has none it has no groups.
func (s *Sweep) grouping(names []string) *Grouping {
	names = slices.Sorted(slices.Values(names))
	for _, g := range s.groups {
		if g != nil && slices.Equal(g.By, names) {
			return g
		}
	}
	return &Grouping{}
}

// over returns the sweep over the groups by some axes and columns, in that order; what goes together stands at the
// place of the first.
func (s *Sweep) over(by []string) Sweep {
	out := Sweep{groups: s.groups}
	for _, u := range s.units(by) {
		first := len(out.Axes)
		for _, name := range u.names {
			a := s.Axes[s.axis(name)]
			k := slices.IndexFunc(out.Axes[first:], func(o Axis) bool { return o.Name == a.Name })
			if k < 0 {
				a.Joined = len(out.Axes) > first
				if u.split != nil {
					a.group, a.columns = u.split.into, nil
				}
				k, out.Axes = len(out.Axes)-first, append(out.Axes, a)
			}
			if _, column := columnOf(name); u.split != nil {
				of := &out.Axes[first+k]
				of.columns = append(of.columns, column)
			}
		}
	}
	return out
}

// groupOf returns the number of the group, by some axes and columns, of a task of that local index.
func (s *Sweep) groupOf(by []string, local uint64) uint64 {
	steps := s.steps()
	var group uint64
	for _, u := range s.units(by) {
		a := steps[u.head]
		value, n := local/a.stride%a.n, a.n
		if u.split != nil {
			value, n = u.split.group(value), u.split.count()
		}
		group = group*n + value
	}
	return group
}

// inGroup adds to m the tasks of the group of that number, by some axes and columns.
func (s *Sweep) inGroup(m *Members, by []string, group uint64) {
	units := s.units(by)
	values := make([]uint64, len(units))
	for k, u := range slices.Backward(units) {
		n := s.Axes[u.head].Len()
		if u.split != nil {
			n = u.split.count()
		}
		values[k], group = group%n, group/n
	}
	for i, a := range s.steps() {
		k := slices.IndexFunc(units, func(u unit) bool { return u.head == i })
		switch {
		case k < 0:
		case units[k].split == nil:
			m.fixed += values[k] * a.stride
			continue
		default:
			a.points = units[k].split.points(values[k])
			a.n = uint64(len(a.points))
		}
		m.free = append(m.free, a)
		m.count *= a.n
	}
}

// soonest returns the number of the group, by some axes and columns, that is whole first where tasks end in their
// order.
func (s *Sweep) soonest(by []string) (group uint64) {
	for _, u := range s.units(by) {
		value, n := uint64(0), s.Axes[u.head].Len()
		if u.split != nil {
			value, n = u.split.soon(), u.split.count()
		}
		group = group*n + value
	}
	return group
}

// widestGroup is how many tasks the largest group has, by some axes and columns.
func (s *Sweep) widestGroup(by []string) uint64 {
	n := s.Count()
	for _, u := range s.units(by) {
		n /= s.Axes[u.head].Len()
		if u.split != nil {
			n *= u.split.widest()
		}
	}
	return n
}

// checkBy checks the axes and columns by which tasks of a stage of these points are grouped.
func (s *Sweep) checkBy(by []string, stage string) *fault {
	if f := s.checkNames(by, stage); f != nil {
		return f
	}
	for _, u := range s.units(by) {
		if u.split != nil && u.split.count() == 0 {
			return faultf("by", "", "nothing says which rows of stage %s belong together by %s", stage,
				strings.Join(u.names, ", "))
		}
	}
	return s.checkGroups(by, stage)
}

// checkNames checks that there are the axes and columns by which tasks of a stage are grouped.
func (s *Sweep) checkNames(by []string, stage string) *fault {
	if len(by) == 0 {
		return faultf("by", "write by: [AXIS], or after: STAGE for all tasks at once", "groups by no axis")
	}
	for i, name := range by {
		switch {
		case slices.Contains(by[:i], name):
			return faultf("by", "name it once", "groups by axis %s twice", quote(name))
		case s.axis(name) < 0:
			return faultf("by", s.byHint(stage), "stage %s has no axis %s", stage, quote(strings.Split(name, ".")[0]))
		}
		if f := s.checkColumn(name, stage); f != nil {
			return f
		}
	}
	for _, u := range s.units(by) {
		whole := slices.IndexFunc(u.names, func(name string) bool { return !strings.Contains(name, ".") })
		if whole >= 0 && u.split != nil {
			return faultf("by", "leave the columns out: each row is a group then; or name columns alone",
				"groups by axis %s and by columns of what goes with it: %s", u.names[whole], strings.Join(u.names, ", "))
		}
	}
	return nil
}

// byHint says what axes there are, in place of a name that is none.
func (s *Sweep) byHint(stage string) string {
	if len(s.Axes) == 0 {
		return fmt.Sprintf("stage %s has no axes: give it a sweep", stage)
	}
	names := make([]string, len(s.Axes))
	for i := range s.Axes {
		names[i] = s.Axes[i].Name
	}
	return fmt.Sprintf("stage %s has axes %s", stage, strings.Join(names, ", "))
}

// checkColumn checks that a column by which tasks are grouped is one of its axis.
func (s *Sweep) checkColumn(name, stage string) *fault {
	axis, column := columnOf(name)
	if !strings.Contains(name, ".") {
		return nil
	}
	var names []string
	for _, c := range s.Axes[s.axis(name)].cellColumns() {
		if c.name != "" {
			names = append(names, c.name)
		}
	}
	if slices.Contains(names, column) {
		return nil
	}
	hint := fmt.Sprintf("write by: [%s], which makes a group of each value", axis)
	if near := Nearest(column, names); near != "" {
		hint = fmt.Sprintf("did you mean %s.%s?", axis, near)
	}
	if len(names) == 0 {
		return faultf("by", hint, "axis %s of stage %s has no columns", axis, stage)
	}
	return faultf("by", hint, "axis %s of stage %s has no column %s; its columns are %s", axis, stage, quote(column),
		strings.Join(names, ", "))
}

// checkGroups refuses groups by axes that go together and of which a value, or several together, comes twice: each
// of their points is a group.
func (s *Sweep) checkGroups(by []string, stage string) *fault {
	points := s.over(by)
	for i := 0; i < len(points.Axes); {
		to := i + 1
		for to < len(points.Axes) && points.Axes[to].Joined {
			to++
		}
		axes := points.Axes[i:to]
		i = to
		listed := !slices.ContainsFunc(axes, func(a Axis) bool { return len(a.Values) == 0 })
		if !listed || !s.together(s.axis(axes[0].Name)) {
			continue // rows and numbers come once
		}
		if value := repeated(axes); value != "" {
			return faultf("by", "give each point of a zip a value of its own, or read all tasks with after: "+stage,
				"groups are by points of a zip, and in that of stage %s %s comes twice", stage, value)
		}
	}
	return nil
}

// repeated returns which values of axes that go together come twice, as text; "" for none.
func repeated(axes []Axis) string {
	seen := make(map[string]bool, axes[0].Len())
	for k := range axes[0].Values {
		var value []string
		for i := range axes {
			value = append(value, quote(axes[i].Values[k]))
		}
		text := strings.Join(value, " with ")
		if seen[text] {
			return text
		}
		seen[text] = true
	}
	return ""
}
