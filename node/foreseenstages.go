package node

import (
	"context"
	"time"

	"godwit/ending"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// foreseenStageRows is how many tasks of each stage are asked for, from about those on that run, of the first
	// foreseenStages stages that go on.
	foreseenStageRows = 100
	foreseenStages    = 16
)

// planned are the stages of a job that is not handed in yet, of which so many members are to run each task.
func planned(of []task.Outline, replicas uint64) []ending.Stage {
	out := make([]ending.Stage, len(of))
	for i := range of {
		o := &of[i]
		out[i] = ending.Stage{Waiting: o.Tasks * replicas, Memory: o.Memory,
			Declared: time.Duration(o.Work * float64(time.Second))}
		for _, n := range o.Needs {
			out[i].Needs = append(out[i].Needs, ending.Need(n))
		}
	}
	return out
}

// stagesOf is jobOf of a job with stages: each has its own tasks that ended and run.
func (s *seer) stagesOf(ctx context.Context, st *message.JobStatus, spec *task.Job, members []ending.Member,
	now time.Time) ending.Job {
	replicas := uint64(max(1, spec.Replicas))
	job := ending.Job{ID: st.ID, Save: saveOf(spec.Checkpoint), Slots: spec.Slots, Stages: planned(task.OutlineOf(spec), replicas)}
	seen := sightings{now: now, speed: speeds(members), told: map[uint64]bool{}}
	asked := 0
	for k := range job.Stages {
		stage, told := &job.Stages[k], &st.Stages[k]
		from, to := spec.StageRange(k)
		over := min(to-from, told.Done+told.Failed)
		in := func(i uint64) bool { return i >= from && i < to }
		var of ending.Job
		seen.add(&of, st.TasksList, in)
		if goesOn := over > 0 && over < to-from; goesOn && asked < foreseenStages && len(of.Ended) < foreseenStageRows {
			asked++
			at := from + over - min(over, foreseenStageRows/2)
			if more, err := s.queries.Job(ctx, st.ID, at, foreseenStageRows); err == nil {
				seen.add(&of, more.TasksList, in)
			}
		}
		stage.Ended, stage.Running = of.Ended, of.Running
		left := (to - from - over) * replicas
		stage.Over = over * replicas
		stage.Waiting = left - min(left, uint64(len(of.Running)))
		if uint64(len(of.Running)) > left {
			stage.Running = of.Running[:left]
		}
	}
	return job
}
