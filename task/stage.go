package task

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"time"
)

// Limits of a job of several stages.
const (
	// MaxStages is the most stages that a job may have.
	MaxStages = 64
	// MaxStaged is the most tasks that all stages may have together: what waits for what is
	// counted task by task where tasks are grouped.
	MaxStaged = 200_000
	// MaxReads is the most tasks that one task may read, and the most files of theirs: a lease
	// names each, and is to fit into a frame beside others.
	MaxReads = 4096
	// maxReadInline is how many bytes of outputs one lease may carry in it, of all that a task reads.
	maxReadInline = 512 << 10
	// maxNeeds is the most stages that one stage may read.
	maxNeeds = 16
	// maxReadPatterns is the most patterns of outputs of one stage that another reads.
	maxReadPatterns = 64
	// shareWhole is all tasks of a stage, in the unit of Stage.AllowFailed.
	shareWhole = 1_000_000
)

// A Stage is a part of a job: a program over its own points. Its tasks come after those of the
// stages before it; the index of a task within its stage is called its local index.
type Stage struct {
	Name    string   `cbor:"1,keyasint"`
	Module  CID      `cbor:"2,keyasint"`
	Args    []string `cbor:"3,keyasint" most:"1024"`
	Env     []EnvVar `cbor:"4,keyasint" most:"256"`
	Files   []string `cbor:"5,keyasint" most:"1024"` // templates of names of Job.Inputs
	Stdin   string   `cbor:"6,keyasint,omitempty"`   // as Job.Stdin
	Outputs []string `cbor:"7,keyasint" most:"64"`
	// Sweep has the stage's own points. It is empty in a stage that follows another, which has
	// that one's points, and in one of groups, which has a point for each group.
	Sweep Sweep  `cbor:"8,keyasint"`
	Needs []Need `cbor:"9,keyasint,omitempty" most:"16"` // the stages that it reads, each once
	// StdinFrom is the path, among what a task reads of other stages, of its standard input; "" for none.
	StdinFrom string `cbor:"10,keyasint,omitempty"`
	// AllowFailed is the share of the tasks that it reads by groups, or all of a stage, that may have failed,
	// in millionths: what the others made is read then.
	AllowFailed uint32 `cbor:"11,keyasint,omitempty"`
	// Memory and Work are as Job's, of each of its tasks; 0: as of the job.
	Memory int64         `cbor:"12,keyasint,omitempty"`
	Work   time.Duration `cbor:"13,keyasint,omitempty"`
	// Groups are of its own points, by columns of tables by which tasks of other stages are grouped.
	Groups []*Grouping `cbor:"14,keyasint,omitempty" most:"64"`
}

// A Need says which tasks of another stage a task reads.
type Need struct {
	Stage uint64   `cbor:"1,keyasint"` // in Job.Stages; before the stage that has the need
	Kind  NeedKind `cbor:"2,keyasint"`
	// By are the axes, of the other stage's points, by whose values its tasks are grouped, and AXIS.COLUMN of a table;
	// of NeedBy alone.
	By []string `cbor:"3,keyasint,omitempty" most:"32"`
	// Reads are patterns of the outputs that are read, as of Job.Outputs. With none nothing is read: the
	// task waits alone.
	Reads []string `cbor:"4,keyasint,omitempty" most:"64"`
}

// A NeedKind says how tasks of two stages belong together.
type NeedKind uint8

// The kinds of needs.
const (
	NeedEach  NeedKind = iota + 1 // the task of the same local index
	NeedBy                        // all tasks whose values of some axes are the task's own
	NeedAfter                     // all tasks
)

// String returns the key of a job file that says so.
func (k NeedKind) String() string {
	switch k {
	case NeedEach:
		return "each"
	case NeedBy:
		return "by"
	case NeedAfter:
		return "after"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Tasks returns the number of tasks of the job, of all its stages.
func (j *Job) Tasks() uint64 {
	if len(j.Stages) == 0 {
		return j.Sweep.Count()
	}
	return j.begins(len(j.Stages))
}

// Roots returns how many tasks read no other: they are the first.
func (j *Job) Roots() uint64 {
	if len(j.Stages) == 0 {
		return j.Sweep.Count()
	}
	n := slices.IndexFunc(j.Stages, func(s Stage) bool { return len(s.Needs) > 0 })
	if n < 0 {
		n = len(j.Stages)
	}
	return j.begins(n)
}

// begins returns the index of the first task of a stage.
func (j *Job) begins(stage int) uint64 {
	var n uint64
	for s := range stage {
		n += j.countOf(s)
	}
	return n
}

// StageRange returns the indices of the tasks of a stage: from, and to-1.
func (j *Job) StageRange(stage int) (from, to uint64) {
	from = j.begins(stage)
	return from, from + j.countOf(stage)
}

// StageOf returns the stage of a task, and the task's local index. A job without stages has one, 0.
func (j *Job) StageOf(index uint64) (stage int, local uint64) {
	for s := range j.Stages {
		n := j.countOf(s)
		if index < n {
			return s, index
		}
		index -= n
	}
	return max(0, len(j.Stages)-1), index
}

func (j *Job) countOf(stage int) uint64 {
	s := j.SweepOf(stage)
	return s.Count()
}

// SweepOf returns the points of a stage. It shares memory with the job.
func (j *Job) SweepOf(stage int) Sweep {
	s := &j.Stages[stage]
	for i := range s.Needs {
		switch n := &s.Needs[i]; {
		case n.Kind == NeedBy:
			of := j.SweepOf(int(n.Stage))
			return of.over(n.By)
		case n.Kind == NeedEach && len(s.Sweep.Axes) == 0 && s.Sweep.Repeat == 0:
			return j.SweepOf(int(n.Stage))
		}
	}
	own := s.Sweep
	own.groups = s.Groups
	return own
}

// At returns the job that a task is of as one without stages, and the task's index in that: for a job
// without stages the job itself. It has the stage's program and the job's bounds, shares memory with
// the job, and is read only.
func (j *Job) At(index uint64) (*Job, uint64) {
	if len(j.Stages) == 0 {
		return j, index
	}
	stage, local := j.StageOf(index)
	return j.OfStage(stage), local
}

// OfStage returns a stage as a job without stages: see At.
func (j *Job) OfStage(stage int) *Job {
	s, of := &j.Stages[stage], *j
	of.Module, of.Args, of.Env, of.Files, of.Stdin = s.Module, s.Args, s.Env, s.Files, s.Stdin
	of.Outputs, of.Sweep, of.Stages = s.Outputs, j.SweepOf(stage), nil
	of.Memory, of.Work = cmp.Or(s.Memory, j.Memory), cmp.Or(s.Work, j.Work)
	return &of
}

// OutputsOf returns the patterns of the outputs of a task.
func (j *Job) OutputsOf(index uint64) []string {
	if len(j.Stages) == 0 {
		return j.Outputs
	}
	stage, _ := j.StageOf(index)
	return j.Stages[stage].Outputs
}

// Modules returns the programs of the job's tasks, each once, in the order of its stages.
func (j *Job) Modules() []CID {
	if len(j.Stages) == 0 {
		return []CID{j.Module}
	}
	var out []CID
	for i := range j.Stages {
		if m := j.Stages[i].Module; !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// TaskName returns what a task is called within its job, for people: "fit[3]", or "7" of a job
// without stages.
func (j *Job) TaskName(index uint64) string {
	if len(j.Stages) == 0 {
		return fmt.Sprint(index)
	}
	stage, local := j.StageOf(index)
	return fmt.Sprintf("%s[%d]", j.Stages[stage].Name, local)
}

// FilesOf selects, of what one task of a need's stage made, the files that another reads, named as
// that one sees them: below the stage's name and, where there may be several tasks, the local index. The names
// are sorted if the outputs are.
func (j *Job) FilesOf(n *Need, from uint64, outputs []Output) []Output {
	if len(n.Reads) == 0 {
		return nil
	}
	dir := j.Stages[n.Stage].Name
	if n.Kind != NeedEach {
		first, to := j.StageRange(int(n.Stage))
		dir = path.Join(dir, Padded(from-first, to-first))
	}
	var out []Output
	for _, o := range outputs {
		if MatchOutput(n.Reads, o.Name) {
			o.Name = path.Join(dir, o.Name)
			out = append(out, o)
		}
	}
	return out
}

// Padded writes one of n indices with as many digits as the last of them has.
func Padded(index, n uint64) string {
	return fmt.Sprintf("%0*d", len(fmt.Sprint(max(n, 1)-1)), index)
}

// InlineOf is how many bytes an output of a task may have to travel in its result: less than MaxInline
// where so many are read by one task that a lease could not carry them.
func (j *Job) InlineOf(index uint64) int {
	if len(j.Stages) == 0 {
		return MaxInline
	}
	most := uint64(1)
	stage, _ := j.StageOf(index)
	for d := range j.Stages {
		for k := range j.Stages[d].Needs {
			if n := &j.Stages[d].Needs[k]; int(n.Stage) == stage && len(n.Reads) > 0 {
				most = max(most, j.Widest(n))
			}
		}
	}
	return min(MaxInline, int(maxReadInline/most))
}

// Needed iterates over the needs of a task, each with the tasks that it is of.
func (j *Job) Needed(index uint64) iter.Seq2[*Need, Members] {
	return func(yield func(*Need, Members) bool) {
		if len(j.Stages) == 0 {
			return
		}
		stage, local := j.StageOf(index)
		for k := range j.Stages[stage].Needs {
			n := &j.Stages[stage].Needs[k]
			if !yield(n, j.members(stage, n, local)) {
				return
			}
		}
	}
}

// MayFail is how many of so many tasks that a need is of may have failed.
func (s *Stage) MayFail(n *Need, of uint64) uint64 {
	if n.Kind == NeedEach {
		return 0
	}
	return of * uint64(s.AllowFailed) / shareWhole
}
