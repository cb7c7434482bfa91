package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"godwit/task"
)

// A CheckRequest is a job file to be read.
type CheckRequest struct {
	FileName string `json:"file_name"` // for error messages
	File     string `json:"file"`
	// Tables are those of the axes that the job file takes from files, once they are stored: see PutTable. Key
	// is the one under which they were sealed.
	Tables map[string]task.Table `json:"tables,omitempty"`
	Key    []byte                `json:"key,omitempty"`
	// Sizes are the bytes of the inputs that are to be stored, by their names: what no job may have is refused before
	// anything is sent.
	Sizes map[string]int64 `json:"sizes,omitempty"`
}

// maxChecked bounds a request to check, in bytes: beside the job file the names and sizes of twice the files that a job
// may have, so that it is told how many there may be.
const maxChecked = MaxJobFile + 2*task.MaxInputs*maxSized

// maxSized is what a name and a size take.
const maxSized = 512

// A CheckReply is what a job file names, for programs that do not read such files themselves.
type CheckReply struct {
	Name   string   `json:"name"`   // of the job
	Module string   `json:"module"` // path as it is written; "" of a job with stages
	Inputs []string `json:"inputs"` // names of the files to store, sorted
	Tasks  uint64   `json:"tasks"`  // 0 where tables say how many
	// Modules are the paths of the programs of stages, as they are written, by the stage.
	Modules map[string]string `json:"modules,omitempty"`
	// Directories are those of which all files are to be stored, each with a slash at its end; Patterns are
	// names of which all that match are, and Tables, by the axis, are the files with its rows: see
	// SubmitRequest.Tables. Files that rows name are told once the tables are: see CheckRequest.
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
	if err := readJSON(w, r, maxChecked, &req); err != nil {
		return inputError(fmt.Errorf("reading the job file: %w", err))
	}
	f, err := task.ParseFile(req.FileName, []byte(req.File))
	if err != nil {
		return err
	}
	for _, axis := range slices.Sorted(maps.Keys(req.Tables)) {
		if err := f.SetTable(axis, req.Tables[axis]); err != nil {
			return err
		}
	}
	reply, err := s.checked(r.Context(), f, &req)
	return writeJSON(w, reply, err)
}

// checked says what a job file names, whose tables are set as far as they are stored.
func (s *Server) checked(ctx context.Context, f *task.File, req *CheckRequest) (CheckReply, error) {
	stored := &storedRows{server: s, key: req.Key, files: map[task.CID]*os.File{}}
	defer stored.close()
	rows := stored.rows(ctx)
	if f.Ungrouped() {
		if err := f.SetGroups(rows); err != nil {
			return CheckReply{}, err
		}
	}
	if err := fit(f, req.Sizes); err != nil {
		return CheckReply{}, err
	}
	reply, err := newCheckReply(f)
	if err == nil && len(req.Tables) > 0 && len(reply.Tables) == 0 {
		err = addNamed(f, rows, &reply)
	}
	return reply, err
}

// fit refuses inputs that no job may have.
func fit(f *task.File, sizes map[string]int64) error {
	for name, n := range sizes {
		if n < 0 {
			return inputError(fmt.Errorf("the size of %q is negative", name))
		}
	}
	if n := len(sizes); n > task.MaxInputs {
		last := slices.Max(slices.Collect(maps.Keys(sizes)))
		return f.InputError(last, fmt.Sprintf("the job has %d input files, the most is %d", n, task.MaxInputs),
			"pack files into one, such as an archive that the program reads")
	}
	return f.CheckSizes(sizes)
}

// newCheckReply says what a job file names, as far as it says so without the rows of tables.
func newCheckReply(f *task.File) (CheckReply, error) {
	reply := CheckReply{Name: f.Name, Module: f.Module, Inputs: []string{}}
	for i := range f.Stages {
		if reply.Modules == nil {
			reply.Modules = map[string]string{}
		}
		reply.Modules[f.Stages[i].Name] = f.Stages[i].Path
	}
	if unread := f.Unread(); len(unread) > 0 { // what templates come to is not known yet
		reply.Tables = map[string]TableSource{}
		for _, axis := range unread {
			reply.Tables[axis] = TableSource{f.Sources[axis].Kind, f.Sources[axis].Name}
		}
		return reply, nil
	}
	names, err := f.InputNames()
	if err != nil {
		return reply, err
	}
	reply.Inputs, reply.Patterns, reply.Tasks = append(reply.Inputs, names...), f.InputPatterns(), f.Tasks()
	reply.Directories, err = f.InputDirs()
	return reply, err
}

// addNamed adds the files and directories that rows of tables name.
func addNamed(f *task.File, rows task.Rows, reply *CheckReply) error {
	names, err := f.TableNames(rows)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			reply.Directories = append(reply.Directories, name)
		} else {
			reply.Inputs = append(reply.Inputs, name)
		}
	}
	slices.Sort(reply.Inputs)
	slices.Sort(reply.Directories)
	reply.Inputs, reply.Directories = slices.Compact(reply.Inputs), slices.Compact(reply.Directories)
	return nil
}

// Check reads a job file as Submit would, and returns what it names. Nothing is handed in.
func (c *Client) Check(ctx context.Context, req CheckRequest) (reply CheckReply, err error) {
	return reply, c.send(ctx, http.MethodPost, "/v1/jobs/check", req, &reply)
}
