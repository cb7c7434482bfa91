package task

import (
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"
)

// Members are tasks of one stage that another task needs, as a few numbers: they are computed from their
// place, and never listed.
type Members struct {
	first uint64 // index of the first task of the stage
	fixed uint64 // what the values that all have add to a local index
	free  []step // the axes over which they range, the last the fastest
	count uint64
}

// A step is an axis of a stage: how many points it has, and by how much one changes a local index.
type step struct {
	n, stride uint64
	points    []uint32 // those that are taken, if not all are
}

// at is what the k-th point adds to a local index, k < n.
func (s *step) at(k uint64) uint64 {
	if s.points != nil {
		k = uint64(s.points[k])
	}
	return k * s.stride
}

// Count returns how many they are: at least 1.
func (m Members) Count() uint64 { return m.count }

// At returns the index of the k-th, in growing order, k < Count().
func (m Members) At(k uint64) uint64 {
	i := m.first + m.fixed
	for s := len(m.free) - 1; s >= 0; s-- {
		i += m.free[s].at(k % m.free[s].n)
		k /= m.free[s].n
	}
	return i
}

// All iterates over their indices, in growing order.
func (m Members) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for k := range m.count {
			if !yield(m.At(k)) {
				return
			}
		}
	}
}

// members returns the tasks that a need of a stage's task of that local index is of.
func (j *Job) members(stage int, n *Need, local uint64) Members {
	m := Members{first: j.begins(int(n.Stage)), count: 1}
	of := j.SweepOf(int(n.Stage))
	switch n.Kind {
	case NeedEach:
		m.fixed = local
	case NeedAfter:
		m.count = of.Count()
		m.free = []step{{n: m.count, stride: 1}}
	case NeedBy:
		of.inGroup(&m, n.By, local)
	}
	return m
}

// steps returns the axes of a sweep, the trials last. Of axes that go together the first has their points,
// and the others take no step of their own.
func (s *Sweep) steps() []step {
	out := make([]step, len(s.Axes)+1)
	out[len(s.Axes)] = step{n: s.trials(), stride: 1}
	stride := s.trials()
	for i := len(s.Axes) - 1; i >= 0; i-- {
		if out[i] = (step{n: s.Axes[i].Len(), stride: stride}); s.Axes[i].Joined {
			out[i] = step{n: 1}
		}
		stride *= out[i].n
	}
	return out
}

// A Reader is what needs a task: tasks of a stage, from From to To-1, by one of the stage's needs.
type Reader struct {
	Stage    int
	Need     int // in the stage's Needs
	From, To uint64
}

// Readers iterates over what needs a task.
func (j *Job) Readers(index uint64) iter.Seq[Reader] {
	return func(yield func(Reader) bool) {
		if len(j.Stages) == 0 {
			return
		}
		stage, local := j.StageOf(index)
		for d := stage + 1; d < len(j.Stages); d++ {
			for k := range j.Stages[d].Needs {
				n := &j.Stages[d].Needs[k]
				if int(n.Stage) != stage {
					continue
				}
				r := Reader{Stage: d, Need: k}
				r.From, r.To = j.StageRange(d)
				switch n.Kind {
				case NeedEach:
					r.From += local
					r.To = r.From + 1
				case NeedBy:
					of := j.SweepOf(stage)
					r.From += of.groupOf(n.By, local)
					r.To = r.From + 1
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Needing returns how many tasks of a job each of the tasks that a reader is needs, by the reader's need.
func Needing(j *Job, r Reader) uint64 {
	from, _ := j.StageRange(r.Stage)
	return j.members(r.Stage, &j.Stages[r.Stage].Needs[r.Need], r.From-from).Count()
}

// CheckReads refuses files that a task does not read of others: names of files in a lease are its leader's
// word. They must be sorted by name, each once.
func (j *Job) CheckReads(index uint64, files []Output) error {
	if len(files) > 0 && len(j.Stages) == 0 {
		return fmt.Errorf("the task reads no others, and %s is said to be of one", quote(files[0].Name))
	}
	for i := range files {
		if !j.readsFile(index, files[i].Name) {
			return fmt.Errorf("the task does not read %s", quote(files[i].Name))
		}
		if i > 0 && strings.HasPrefix(files[i].Name, files[i-1].Name+"/") {
			return fmt.Errorf("%s is both a file and a directory", quote(files[i-1].Name))
		}
	}
	return nil
}

// readsFile reports whether a task reads a file of that name of another.
func (j *Job) readsFile(index uint64, name string) bool {
	for n, members := range j.Needed(index) {
		rest, is := strings.CutPrefix(name, j.Stages[n.Stage].Name+"/")
		if !is {
			continue
		}
		if n.Kind != NeedEach {
			var local string
			from, to := j.StageRange(int(n.Stage))
			local, rest, _ = strings.Cut(rest, "/")
			k, err := strconv.ParseUint(local, 10, 64)
			if err != nil || local != Padded(k, to-from) || !members.Has(from+k) {
				return false
			}
		}
		return MatchOutput(n.Reads, rest)
	}
	return false
}

// Has reports whether the task of an index is one of them.
func (m Members) Has(index uint64) bool {
	k := sort.Search(int(m.count), func(k int) bool { return m.At(uint64(k)) >= index })
	return k < int(m.count) && m.At(uint64(k)) == index
}
