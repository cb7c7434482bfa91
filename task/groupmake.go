package task

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// rootOf returns the stage whose own points a stage has, or has groups of.
func rootOf(j *Job, stage int) int {
	s := &j.Stages[stage]
	for i := range s.Needs {
		n := &s.Needs[i]
		if n.Kind == NeedBy || n.Kind == NeedEach && len(s.Sweep.Axes) == 0 && s.Sweep.Repeat == 0 {
			return rootOf(j, int(n.Stage))
		}
	}
	return stage
}

// ungrouped reports whether tasks are grouped by columns, and nothing says which rows belong together. The job may be
// hostile: what is wrong in another way is told elsewhere.
func ungrouped(j *Job) bool {
	for stage := range j.Stages {
		for k := range j.Stages[stage].Needs {
			n := &j.Stages[stage].Needs[k]
			if n.Stage >= uint64(stage) {
				return false
			}
			if n.Kind != NeedBy || !byColumns(n.By) {
				continue
			}
			of := j.SweepOf(int(n.Stage))
			if slices.ContainsFunc(of.units(n.By), func(u unit) bool {
				return u.split != nil && u.split.count() == 0 && of.tabled(u.names)
			}) {
				return true
			}
		}
	}
	return false
}

// tabled reports whether all names are of columns of axes that have tables.
func (s *Sweep) tabled(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, column := columnOf(name)
		return column == "" || s.Axes[s.axis(name)].Table == nil
	})
}

// Ungrouped reports whether the file's tables are set and SetGroups is to be called.
func (f *File) Ungrouped() bool { return len(f.Unread()) == 0 && ungrouped(f.draft()) }

// SetGroups works out which rows of tables belong together where stages are grouped by columns of theirs; rows gives
// the rows. The tables are set before: with this the file is checked as ParseFile checks one without tables. Errors
// are of type *Error, but for those of rows. It holds about 100 bytes for each group, and 4 for each row.
func (f *File) SetGroups(rows Rows) error {
	for stage := range f.Stages {
		for k := range f.Stages[stage].Needs {
			j := f.draft()
			n := &j.Stages[stage].Needs[k]
			if n.Kind != NeedBy || !byColumns(n.By) {
				continue
			}
			of := j.SweepOf(int(n.Stage))
			if ft := of.checkNames(n.By, j.Stages[n.Stage].Name); ft != nil {
				return f.place(in(j.Stages[stage].Name, ft))
			}
			root := rootOf(j, int(n.Stage))
			for _, u := range of.units(n.By) {
				if u.split == nil || u.split.count() > 0 {
					continue
				}
				g, ft, err := j.Stages[root].Sweep.group(u.names, rows)
				if ft != nil {
					return f.place(in(j.Stages[stage].Name, ft))
				}
				if err != nil {
					return err
				}
				f.Stages[root].Groups = append(slices.Clip(f.Stages[root].Groups), g)
			}
		}
	}
	return f.Validate()
}

// group makes the grouping by some columns of what goes together.
func (s *Sweep) group(names []string, rows Rows) (*Grouping, *fault, error) {
	names = slices.Sorted(slices.Values(names))
	points := s.Axes[s.axis(names[0])].Len()
	if points > MaxStaged {
		return nil, faultf("by", "split it into several jobs", "groups of %d rows, the most is %d", points,
			uint64(MaxStaged)), nil
	}
	known, of := map[[sha256.Size]byte]uint32{}, make([]uint32, points)
	var text []byte
	for p := range points {
		text = text[:0]
		for _, name := range names {
			cell, err := s.Axes[s.axis(name)].cell(p, name, rows)
			if err != nil {
				return nil, nil, err
			}
			text = append(binary.AppendUvarint(text, uint64(len(cell))), cell...)
		}
		key := sha256.Sum256(text)
		group, found := known[key]
		if !found {
			group = uint32(len(known))
			known[key] = group
		}
		of[p] = group
	}
	return newGrouping(names, uint64(len(known)), of), nil, nil
}

// cell returns the text of a column, AXIS.COLUMN, of a row of the axis's table.
func (a *Axis) cell(row uint64, name string, rows Rows) (string, error) {
	cells, err := a.cells(row, rows)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(cells, func(c EnvVar) bool { return c.Name == name })
	return cells[i].Value, nil // checkNames found it
}

// checkGroupings checks the groupings of a stage, whose own sweep is right. They add to what all of the job have.
func (s *Stage) checkGroupings(all *uint64) *fault {
	for i, g := range s.Groups {
		if g == nil {
			return faultf("by", "", "a grouping that is none")
		}
		if f := s.Sweep.checkNames(g.By, s.Name); f != nil {
			return f
		}
		units := s.Sweep.units(g.By)
		if len(units) != 1 || !s.Sweep.tabled(g.By) || !slices.IsSorted(g.By) ||
			slices.ContainsFunc(s.Groups[:i], func(o *Grouping) bool { return slices.Equal(o.By, g.By) }) {
			return faultf("by", "", "a grouping by %q", g.By)
		}
		if f := g.check(s.Sweep.Axes[units[0].head].Len()); f != nil {
			return f
		}
		if *all += g.Points; *all > maxGrouped {
			return faultf("by", "group by fewer columns, or split the job", "groups of more than %d rows in all",
				uint64(maxGrouped))
		}
	}
	return nil
}
