// Package memo finds, of the results that a submitter holds, those of tasks that another job of its own has, too.
// Such tasks have the same name: see task.Job.NameOf.
package memo

import (
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// MostTasks is how many tasks a job may have of which results are sought, or taken: all their names are in memory
// for a moment, about 60 bytes each. It is as many as a job with stages may have.
const MostTasks = task.MaxStaged

// A Source is a job whose results may be taken.
type Source struct {
	ID   task.JobID
	Spec *task.Job
	Rows task.Rows // of its tables; nil if it has none
	// Plain is that of its inputs and outputs; nil if the job is not sealed.
	Plain task.Plain
	Held  ledger.Set // tasks whose ends are held
	// Sound are those of Held whose results may be taken, if they have any: not what is still to be checked.
	Sound ledger.Set
	// Read reads the end of a task of Held.
	Read func(index uint64) (message.TaskSummary, error)
}

// Find calls keep for each task of a job of which one of the sources has a result, in growing order, with that
// result, which keep may change, for example to seal its outputs under the job's key. Sources that come first go first.
// If keep returns false, the next result of that name is tried. A task that reads others is found only if a result of
// each of them was kept: else what it reads is not known. rows and plain are of the job's own tables and inputs.
//
// A source that cannot be read is left out, and the others are as good without. The error is keep's, or that of
// tables and inputs of the job itself.
func Find(job *task.Job, rows task.Rows, plain task.Plain, sources []Source,
	keep func(*message.Reused) (bool, error)) error {
	if job.Tasks() > MostTasks {
		return nil
	}
	names := newNames()
	for i := range sources {
		if s := &sources[i]; Resembles(job, s.Spec) {
			names.add(job, s)
		}
	}
	if len(names.refs) == 0 {
		return nil
	}
	taken := newReader(job)
	for i := range job.Tasks() {
		reads, whole, err := taken.reads(i, true)
		if err != nil || !whole { // what it reads is not known
			continue
		}
		name, err := job.NameOf(i, rows, plain, reads)
		if err != nil {
			return err
		}
		if err := names.take(job, i, name, taken, keep); err != nil {
			return err
		}
	}
	return nil
}

// Resembles reports whether a job may take results of another, as far as their records tell. A job that is not sealed
// takes none of a sealed one: its outputs would become readable to everybody.
func Resembles(job, of *task.Job) bool {
	return of.Tasks() <= MostTasks && (len(of.Sealed) == 0 || len(job.Sealed) > 0) &&
		slices.ContainsFunc(programs(of), func(p program) bool { return slices.Contains(programs(job), p) })
}

// A program is what a module is run as: in so much memory.
type program struct {
	module task.CID
	memory int64
}

// programs are those of a job's tasks.
func programs(j *task.Job) []program {
	if len(j.Stages) == 0 {
		return []program{{j.Module, j.Memory}}
	}
	var out []program
	for k := range j.Stages {
		of := j.OfStage(k)
		out = append(out, program{of.Module, of.Memory})
	}
	return out
}

// names are those of the tasks of sources.
type names struct {
	first map[task.Name]int32 // in refs
	refs  []ref
}

// A ref is a task of a source, and which other has its name, -1 for none.
type ref struct {
	source *Source
	index  uint64
	next   int32
}

func newNames() *names { return &names{first: map[task.Name]int32{}} }

// add names the tasks of a source whose programs the job has, too.
func (n *names) add(job *task.Job, s *Source) {
	modules, made := job.Modules(), newReader(s.Spec)
	for _, r := range s.Held {
		for i := r.From; i < r.To; i++ {
			if len(s.Spec.Stages) > 0 { // others may read it
				end, err := s.Read(i)
				if err != nil {
					return
				}
				if end.Failed || len(end.Results) == 0 {
					continue
				}
				made.add(i, end.Results[0].Outputs, s.Plain)
			}
			// Files that a task reads may have to be opened: not those of tasks that cannot be taken.
			if of, _ := s.Spec.At(i); !s.Sound.Contains(i) || !slices.Contains(modules, of.Module) {
				continue
			}
			reads, _, err := made.reads(i, false)
			if err != nil {
				continue
			}
			name, err := s.Spec.NameOf(i, s.Rows, s.Plain, reads)
			if err != nil {
				return
			}
			n.put(name, ref{source: s, index: i, next: -1})
		}
	}
}

// put adds a task behind those that have its name.
func (n *names) put(name task.Name, r ref) {
	at := int32(len(n.refs)) // no more than MostTasks of each of a few jobs
	n.refs = append(n.refs, r)
	last, known := n.first[name]
	if !known {
		n.first[name] = at
		return
	}
	for n.refs[last].next >= 0 {
		last = n.refs[last].next
	}
	n.refs[last].next = at
}

// take keeps the first end under a name that is one of the job's task and that keep accepts.
func (n *names) take(job *task.Job, i uint64, name task.Name, taken *reader,
	keep func(*message.Reused) (bool, error)) error {
	at, ok := n.first[name]
	for ok && at >= 0 {
		r := &n.refs[at]
		at = r.next
		end, err := r.source.Read(r.index)
		if err != nil || !Fits(job, i, &end) {
			continue
		}
		if end.From == nil {
			end.From = &task.TaskID{Job: r.source.ID, Index: r.index}
		}
		end.Index, end.Attempts, end.Refuted = i, nil, nil
		outputs := end.Results[0].Outputs // as the source has them
		got := message.Reused{Of: task.TaskID{Job: r.source.ID, Index: r.index}, End: end}
		kept, err := keep(&got)
		if err != nil {
			return err
		}
		if kept {
			taken.add(i, outputs, r.source.Plain)
			return nil
		}
	}
	return nil
}

// Fits reports whether the end of a task of another job, of the same name, is what a job asks of its own: a result,
// as often as the job wants it made, with outputs that its tasks may have.
func Fits(job *task.Job, i uint64, end *message.TaskSummary) bool {
	return !end.Failed && len(end.Results) > 0 && len(end.Results) >= job.Replicas &&
		job.CheckOutputs(i, end.Results[0].Outputs) == nil
}
