package memo

import (
	"cmp"
	"slices"

	"godwit/task"
)

// A reader knows what tasks of a job made, and names what others of it read of that.
type reader struct {
	job     *task.Job
	outputs map[uint64]outputs // of tasks that others may read
	made    []uint64           // how many of each stage
	all     map[*task.Need]task.FilesName
}

// outputs are what a task made, as a job has them whose files have a Plain.
type outputs struct {
	files []task.Output
	plain task.Plain
}

func newReader(job *task.Job) *reader {
	return &reader{job: job, outputs: map[uint64]outputs{}, made: make([]uint64, len(job.Stages)),
		all: map[*task.Need]task.FilesName{}}
}

// add takes in what a task made. Tasks come in growing order, so that all of a stage is there before what reads it.
func (r *reader) add(i uint64, files []task.Output, plain task.Plain) {
	if len(r.job.Stages) == 0 {
		return
	}
	stage, _ := r.job.StageOf(i)
	r.outputs[i] = outputs{files, plain}
	r.made[stage]++
}

// reads names what a task reads of others, need by need. It is not whole, with every, unless each of those tasks
// made something; else what is missing had failed, and was not read.
func (r *reader) reads(i uint64, every bool) (out []task.FilesName, whole bool, err error) {
	for n, members := range r.job.Needed(i) {
		if n.Kind == task.NeedAfter { // the same for all tasks of the stage
			if every && r.made[n.Stage] < members.Count() {
				return nil, false, nil
			}
			name, known := r.all[n]
			if !known {
				if name, err = r.name(n, members); err != nil {
					return nil, false, err
				}
				r.all[n] = name
			}
			out = append(out, name)
			continue
		}
		if every && r.lacks(members) {
			return nil, false, nil
		}
		name, err := r.name(n, members)
		if err != nil {
			return nil, false, err
		}
		out = append(out, name)
	}
	return out, true, nil
}

func (r *reader) lacks(members task.Members) bool {
	for u := range members.All() {
		if _, made := r.outputs[u]; !made {
			return true
		}
	}
	return false
}

// name names the files that a task reads of some others.
func (r *reader) name(n *task.Need, members task.Members) (task.FilesName, error) {
	var files []task.Output
	if len(n.Reads) > 0 {
		for u := range members.All() {
			made := r.outputs[u]
			for _, f := range r.job.FilesOf(n, u, made.files) {
				plain, err := made.plain.Of(f)
				if err != nil {
					return task.FilesName{}, err
				}
				files = append(files, task.Output{Name: plain.Name, CID: plain.CID})
			}
		}
	}
	slices.SortFunc(files, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	return task.NameFiles(files)
}
