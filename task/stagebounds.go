package task

import (
	"cmp"
	"time"
)

// MemoryOf returns how many bytes a task may have: those of its stage, else of the job.
func (j *Job) MemoryOf(index uint64) int64 {
	if len(j.Stages) == 0 {
		return j.Memory
	}
	stage, _ := j.StageOf(index)
	return cmp.Or(j.Stages[stage].Memory, j.Memory)
}

// Memories returns how many bytes those of the tasks may have that may have the fewest, and the most.
func (j *Job) Memories() (least, most int64) {
	if len(j.Stages) == 0 {
		return j.Memory, j.Memory
	}
	least = MaxMemory
	for i := range j.Stages {
		memory := cmp.Or(j.Stages[i].Memory, j.Memory)
		least, most = min(least, memory), max(most, memory)
	}
	return least, most
}

// WorkOf returns the owner's guess for a task, of its stage or else of the job; 0 unknown.
func (j *Job) WorkOf(index uint64) time.Duration {
	if len(j.Stages) == 0 {
		return j.Work
	}
	stage, _ := j.StageOf(index)
	return cmp.Or(j.Stages[stage].Work, j.Work)
}

// MeanWork returns the mean of what the owner guesses of tasks, of those of which he does; 0 if of none.
func (j *Job) MeanWork() time.Duration {
	if len(j.Stages) == 0 {
		return j.Work
	}
	var sum, n float64
	for i := range j.Stages {
		if work := cmp.Or(j.Stages[i].Work, j.Work); work > 0 {
			tasks := float64(j.countOf(i))
			sum += tasks * float64(work)
			n += tasks
		}
	}
	if n == 0 {
		return 0
	}
	return time.Duration(sum / n)
}

// checkBounds checks what a stage says of its tasks in place of the job.
func (s *Stage) checkBounds() *fault {
	if s.Memory != 0 {
		if f := checkMemory(s.Memory); f != nil {
			return f
		}
	}
	return checkDuration("work", s.Work)
}
