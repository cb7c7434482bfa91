package submission

import (
	"errors"
	"io/fs"
	"os"

	"godwit/task"
)

// A Job is a job file with everything that it names read and checked.
type Job struct {
	Name   string // of the file, for messages
	Text   string // of the job file; "" for a bare module
	args   []string
	File   *task.File
	module string                    // path
	check  func(module []byte) error // returns a *sandbox.ModuleError for one that cannot run
	Code   []byte                    // the module
	stages map[string][]byte         // modules of a job with stages, by stage
	dir    *os.Root                  // of the job file; inputs are read below it
	inputs []input                   // below dir, sorted by name
	tables []axisTable
	// Import is told how far the inputs are stored; nil: nobody is.
	Import Import
	// Overlay to hand it to; "" leaves it to the node
	Overlay string
	// Reuse takes results that the node holds of other jobs, for tasks that are the same.
	Reuse bool
}

// New makes a job of the text of a job file and the code of its module; it has no inputs.
func New(name, text string, code []byte) (*Job, error) {
	f, err := task.ParseFile(name, []byte(text))
	if err != nil {
		return nil, err
	}
	return &Job{Name: name, Text: text, File: f, Code: code}, nil
}

// An Import tells how far the job's inputs are stored: so many of so many bytes.
type Import func(done, total int64)

// inputsHint says where files are looked for.
const inputsHint = "files are looked up in the job file's directory and may not lead out of it"

// An input is a file that the job reads, as it was found.
type input struct {
	name string
	info fs.FileInfo
}

// A stored table is that of an axis, in a file that is removed with the job.
type axisTable struct {
	axis  string
	table task.Table
	file  *os.File
}

// Close removes what was written for the job on this machine. It may be called twice.
func (s *Job) Close() error {
	var err error
	for _, t := range s.tables {
		err = errors.Join(err, t.file.Close(), os.Remove(t.file.Name()))
	}
	s.tables = nil
	if s.dir != nil {
		err = errors.Join(err, s.dir.Close())
		s.dir = nil
	}
	return err
}

// reason is an error of the file system without the path, which the message
// has already.
func reason(err error) string {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
