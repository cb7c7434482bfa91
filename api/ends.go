package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"godwit/node"
	"godwit/task"
)

// A PlanRequest asks what would become of a job. Its files are not sent.
type PlanRequest struct {
	// FileName and File are as in a SubmitRequest; with an empty File the module is run once
	// with Args.
	FileName string   `json:"file_name"`
	File     string   `json:"file"`
	Args     []string `json:"args,omitempty"`
	Overlay  string   `json:"overlay,omitempty"` // as in a SubmitRequest
}

func (s *Server) plan(w http.ResponseWriter, r *http.Request) error {
	var req PlanRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxJobFile)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the job to plan: %w", err))
	}
	of, err := s.overlayOrUsual(r.Context(), req.Overlay)
	if err != nil {
		return err
	}
	f := task.DefaultFile(req.FileName, req.Args)
	if req.File != "" {
		if f, err = task.ParseFile(req.FileName, []byte(req.File)); err != nil {
			return err
		}
	}
	p, err := s.node.Plan(r.Context(), f, of)
	return writeJSON(w, p, err)
}

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
