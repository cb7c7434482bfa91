package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"godwit/task"
)

// A CheckRequest is a job file to be read.
type CheckRequest struct {
	FileName string `json:"file_name"` // for error messages
	File     string `json:"file"`
}

// A CheckReply is what a job file names, for programs that do not read such files themselves.
type CheckReply struct {
	Name   string   `json:"name"`   // of the job
	Module string   `json:"module"` // path as it is written
	Inputs []string `json:"inputs"` // names of the files to store, sorted
	Tasks  uint64   `json:"tasks"`
}

// check reads a job file and sends nothing in.
func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	var req CheckRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxJobFile)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the job file: %w", err))
	}
	f, err := task.ParseFile(req.FileName, []byte(req.File))
	if err != nil {
		return err
	}
	names, err := f.InputNames()
	if names == nil {
		names = []string{}
	}
	return writeJSON(w, CheckReply{Name: f.Name, Module: f.Module, Inputs: names, Tasks: f.Sweep.Count()}, err)
}

// Check reads a job file as Submit would, and returns what it names. Nothing is handed in.
func (c *Client) Check(ctx context.Context, req CheckRequest) (reply CheckReply, err error) {
	return reply, c.send(ctx, http.MethodPost, "/v1/jobs/check", req, &reply)
}
