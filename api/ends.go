package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"godwit/ending"
	"godwit/node"
	"godwit/task"
)

// A PlanRequest asks what would become of a job: what of it decides that. What a job file says
// POST /v1/jobs/check tells.
type PlanRequest struct {
	Tasks    uint64  `json:"tasks"`             // at least 1
	Work     float64 `json:"work_s"`            // of a task, in seconds on the reference core; 0 unknown
	Memory   int64   `json:"memory_bytes"`      // that a task may need; 0 is little
	Replicas int     `json:"replicas"`          // members that have to run each; 0 is 1
	AtOnce   int     `json:"at_once,omitempty"` // slots that the job takes at once at most; 0 is no limit
	Saves    *bool   `json:"saves,omitempty"`   // whether running tasks save their state; absent: they do
	Overlay  string  `json:"overlay,omitempty"` // as in a SubmitRequest
	// Stages are those of a job that has any, in their order; Work and Memory are then theirs.
	Stages []PlanStage `json:"stages,omitempty"`
	// Job is the job as it would be handed in: with it the node says which results it would take from other jobs, and
	// plans the rest. Modules and inputs need only be named; tables are stored.
	Job *SubmitRequest `json:"job,omitempty"`
}

// A PlanStage is a stage of a job that is planned.
type PlanStage struct {
	Tasks  uint64     `json:"tasks"` // at least 1
	Work   float64    `json:"work_s,omitempty"`
	Memory int64      `json:"memory_bytes,omitempty"`
	Needs  []PlanNeed `json:"needs,omitempty"`
}

// A PlanNeed says for how much of another stage the tasks of a stage wait.
type PlanNeed struct {
	Stage int `json:"stage"` // by number, from 0; before the one that has the need
	// From is the share of its tasks that have ended when the first task here may begin, above 0, at most 1: with 1 all
	// wait for all.
	From float64 `json:"from"`
}

// outlines checks the stages of a request.
func (r *PlanRequest) outlines() ([]task.Outline, error) {
	if len(r.Stages) > task.MaxStages {
		return nil, fmt.Errorf("%d stages, the most is %d", len(r.Stages), task.MaxStages)
	}
	var out []task.Outline
	var total uint64
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Tasks < 1 || s.Tasks > task.MaxStaged || s.Memory < 0 || !(s.Work >= 0 && s.Work <= maxWork.Seconds()) {
			return nil, fmt.Errorf("stage %d: there can be 1 to %d tasks, and 0 to %v of work; nothing is negative", i,
				uint64(task.MaxStaged), maxWork)
		}
		total += s.Tasks
		o := task.Outline{Tasks: s.Tasks, Work: s.Work, Memory: s.Memory}
		for _, n := range s.Needs {
			if n.Stage < 0 || n.Stage >= i || !(n.From > 0 && n.From <= 1) || len(o.Needs) == task.MaxStages {
				return nil, fmt.Errorf("stage %d needs stage %d from %v on: it can need those before it, from a share above 0 on",
					i, n.Stage, n.From)
			}
			o.Needs = append(o.Needs, task.OutlineNeed(n))
		}
		out = append(out, o)
	}
	if len(out) > 0 && total != r.Tasks {
		return nil, fmt.Errorf("%d tasks, and the stages have %d", r.Tasks, total)
	}
	return out, nil
}

func (s *Server) plan(w http.ResponseWriter, r *http.Request) error {
	var req PlanRequest
	if err := readJSON(w, r, maxPlan, &req); err != nil {
		return inputError(fmt.Errorf("reading the job to plan: %w", err))
	}
	if req.Tasks < 1 || req.Tasks > ending.MaxTasks || req.Memory < 0 || req.Replicas < 0 ||
		req.Replicas > task.MaxReplicas || req.AtOnce < 0 || req.AtOnce > task.MaxSlots || !(req.Work >= 0 && req.Work <= maxWork.Seconds()) {
		return inputError(fmt.Errorf("there can be 1 to %d tasks of %d replicas at most, %d slots at once, and 0 to %v of "+
			"work; nothing is negative", uint64(ending.MaxTasks), task.MaxReplicas, task.MaxSlots, maxWork))
	}
	stages, err := req.outlines()
	if err != nil {
		return inputError(err)
	}
	of, err := s.overlayOrUsual(r.Context(), req.Overlay)
	if err != nil {
		return err
	}
	f := &task.File{Work: time.Duration(req.Work * float64(time.Second)), Memory: req.Memory,
		Replicas: max(1, req.Replicas), Slots: req.AtOnce, Checkpoint: task.Checkpoint{Off: req.Saves != nil && !*req.Saves}}
	taken, err := takeover(r.Context(), s, &req)
	if err != nil {
		return err
	}
	p, err := s.node.Plan(r.Context(), f, req.Tasks, stages, taken, of)
	return writeJSON(w, p, err)
}

// takeover says what the job of a request takes of others; nil where that is not asked.
func takeover(ctx context.Context, s *Server, req *PlanRequest) (*node.Takeover, error) {
	if req.Job == nil || !req.Job.Reuse {
		return nil, nil
	}
	sub, err := readSubmission(ctx, s, req.Job)
	if err != nil {
		return nil, err
	}
	taken, err := s.node.Takeover(ctx, sub)
	if err == nil && (sub.File.Tasks() != req.Tasks || len(sub.File.Stages) != len(req.Stages)) {
		err = inputError(fmt.Errorf("the job file has %d tasks, and the request %d", sub.File.Tasks(), req.Tasks))
	}
	return &taken, err
}

const (
	// maxPlan bounds a request to plan, in bytes: a submission, and some numbers.
	maxPlan = MaxJobFile + 64<<10
	// maxWork bounds the work of a task that is planned.
	maxWork = 10 * 365 * 24 * time.Hour
)

func (s *Server) end(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	e, err := s.node.End(r.Context(), id)
	return writeJSON(w, e, err)
}

// Plan returns what would become of a job if it were handed in now: who could run it, and
// when it would end. Nothing is handed in.
func (c *Client) Plan(ctx context.Context, req PlanRequest) (p node.Plan, err error) {
	b, err := json.Marshal(req)
	if err != nil {
		return p, fmt.Errorf("encoding the job to plan: %w", err)
	}
	return p, c.call(ctx, http.MethodPost, "/v1/plan", bytes.NewReader(b), &p)
}

// End returns when a job is expected to end. The node makes a forecast every few seconds at
// most.
func (c *Client) End(ctx context.Context, ref string) (e node.JobEnd, err error) {
	return e, c.get(ctx, jobPath(ref, "/end"), nil, &e)
}
