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
	Saves    *bool   `json:"saves,omitempty"`   // whether running tasks save their state; absent: they do
	Overlay  string  `json:"overlay,omitempty"` // as in a SubmitRequest
}

func (s *Server) plan(w http.ResponseWriter, r *http.Request) error {
	var req PlanRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPlan)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the job to plan: %w", err))
	}
	if req.Tasks < 1 || req.Tasks > ending.MaxTasks || req.Memory < 0 || req.Replicas < 0 ||
		req.Replicas > task.MaxReplicas || !(req.Work >= 0 && req.Work <= maxWork.Seconds()) {
		return inputError(fmt.Errorf("there can be 1 to %d tasks of %d replicas at most, and 0 to %v of work; nothing is "+
			"negative", uint64(ending.MaxTasks), task.MaxReplicas, maxWork))
	}
	of, err := s.overlayOrUsual(r.Context(), req.Overlay)
	if err != nil {
		return err
	}
	f := &task.File{Work: time.Duration(req.Work * float64(time.Second)), Memory: req.Memory,
		Replicas: max(1, req.Replicas), Checkpoint: task.Checkpoint{Off: req.Saves != nil && !*req.Saves}}
	p, err := s.node.Plan(r.Context(), f, req.Tasks, of)
	return writeJSON(w, p, err)
}

const (
	// maxPlan bounds a request to plan, in bytes.
	maxPlan = 64 << 10
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
