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
	Tasks  uint64   `json:"tasks"`  // 0 where tables say how many
	// Directories are those of which all files are to be stored, each with a slash at its end; Patterns are
	// names of which all that match are, and Tables, by the axis, are the files with its rows: see
	// SubmitRequest.Tables. Where there are tables, files that they name are to be stored, too.
	Directories []string               `json:"directories,omitempty"`
	Patterns    []string               `json:"patterns,omitempty"`
	Tables      map[string]TableSource `json:"tables,omitempty"`
}

// A TableSource is where the rows of an axis come from: see task.Source.
type TableSource struct {
	Kind string `json:"kind"`
	File string `json:"file"`
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
	reply := CheckReply{Name: f.Name, Module: f.Module, Inputs: []string{}}
	if len(f.Unread()) > 0 { // what templates come to is not known yet
		reply.Tables = map[string]TableSource{}
		for axis, src := range f.Sources {
			reply.Tables[axis] = TableSource{src.Kind, src.Name}
		}
		return writeJSON(w, reply, nil)
	}
	names, err := f.InputNames()
	if err != nil {
		return err
	}
	reply.Inputs, reply.Patterns, reply.Tasks = append(reply.Inputs, names...), f.InputPatterns(), f.Sweep.Count()
	reply.Directories, err = f.InputDirs()
	return writeJSON(w, reply, err)
}

// Check reads a job file as Submit would, and returns what it names. Nothing is handed in.
func (c *Client) Check(ctx context.Context, req CheckRequest) (reply CheckReply, err error) {
	return reply, c.send(ctx, http.MethodPost, "/v1/jobs/check", req, &reply)
}
