// Package submission reads jobs with all that they name, hands them in, follows them and collects their results.
package submission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// Read reads a job file, or makes one for a bare module, and checks
// all of it: nothing is sent before everything is known to be there and right. check returns a *sandbox.ModuleError for a
// module that cannot run; nil leaves the modules' code to the node, which validates it too. Close the job.
func Read(path string, args []string, check func(module []byte) error) (*Job, error) {
	if err := CheckArgs(args); err != nil {
		return nil, err
	}
	if check == nil {
		check = sandbox.CheckSections
	}
	s := &Job{Name: filepath.Base(path), args: args, check: check}
	dir := filepath.Dir(path)
	if strings.HasSuffix(path, ".wasm") {
		s.File, s.module = task.DefaultFile(path, args), path
	} else if err := s.readFile(path); err != nil {
		return nil, err
	} else if len(args) > 0 {
		return nil, failure.Usage("write them into the job file, as args",
			"arguments after -- go with a module, not with a job file")
	}
	var err error
	if s.dir, err = os.OpenRoot(dir); err != nil {
		return nil, failure.Usage("", "opening the job's directory: %w", err)
	}
	if len(s.File.Stages) == 0 {
		if err := s.checkModule(); err != nil {
			return nil, err
		}
	}
	if err = s.readTables(context.Background()); err == nil {
		err = s.checkInputs()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// CheckArgs returns an error if an argument is not valid UTF-8, since JSON, which carries arguments to the node, would
// change it.
func CheckArgs(args []string) error {
	for i, a := range args {
		if !utf8.ValidString(a) {
			return failure.Usage("put such text into an input file, or run `godwit exec`",
				"argument %d: %q is not valid UTF-8", i+1, a)
		}
	}
	return nil
}

func (s *Job) readFile(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return failure.Usage("give the path of a job file or of a .wasm module", "reading the job file: %w", err)
	}
	if s.File, err = task.ParseFile(path, b); err != nil {
		return err
	}
	s.Text, s.module = string(b), s.File.Module
	if len(s.File.Stages) > 0 {
		return s.readStages(filepath.Dir(path))
	}
	if !filepath.IsAbs(s.module) {
		s.module = filepath.Join(filepath.Dir(path), s.module)
	}
	return nil
}

func (s *Job) checkModule() (err error) {
	s.Code, err = s.readModule("module", s.module)
	return err
}

// readModule reads a module and checks that it can run; where is its place in the job file.
func (s *Job) readModule(where, path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, s.File.ErrorAt(where, fmt.Sprintf("module %s: %s", path, reason(err)),
			"`godwit build DIR` makes modules from Go and C programs")
	}
	err = s.check(b)
	var bad *sandbox.ModuleError
	if errors.As(err, &bad) {
		return nil, s.File.ErrorAt(where, fmt.Sprintf("module %s: %s", path, bad.Reason), bad.Hint)
	}
	return b, err
}

// readStages reads the modules of all stages, of a job file in dir.
func (s *Job) readStages(dir string) error {
	s.stages = map[string][]byte{}
	for i := range s.File.Stages {
		st := &s.File.Stages[i]
		path := st.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		code, err := s.readModule("stages."+st.Name+".module", path)
		if err != nil {
			return err
		}
		s.stages[st.Name] = code
	}
	return nil
}

// putModules stores the job's programs at the node.
func (s *Job) putModules(ctx context.Context, client *api.Client, req *api.SubmitRequest) error {
	if len(s.stages) == 0 {
		m, err := client.PutFile(ctx, bytes.NewReader(s.Code))
		req.Module = m.CID
		return err
	}
	req.Modules = map[string]task.CID{}
	for name, code := range s.stages {
		m, err := client.PutFile(ctx, bytes.NewReader(code))
		if err != nil {
			return err
		}
		req.Modules[name] = m.CID
	}
	return nil
}

// Submit stores the module and the inputs at the node and hands in the job.
func Submit(ctx context.Context, client *api.Client, s *Job) (task.JobID, error) {
	req := api.SubmitRequest{FileName: s.Name, File: s.Text, Args: s.args, Overlay: s.Overlay, Reuse: s.Reuse}
	if err := s.putModules(ctx, client, &req); err != nil {
		return "", err
	}
	var err error
	if len(s.inputs)+len(s.tables) > 0 { // else the node makes one
		if req.Key, err = client.NewKey(ctx, s.Overlay); err != nil {
			return "", err
		}
	}
	if req.Inputs, err = s.putInputs(ctx, client, req.Key, s.Import); err != nil {
		return "", err
	}
	if req.Tables, err = s.putTables(ctx, client, req.Key); err != nil {
		return "", err
	}
	return client.Submit(ctx, req)
}

// Follow shows a job's progress until the node holds every result, and has checked those that are
// to be.
func Follow(ctx context.Context, client *api.Client, id task.JobID, p *progress.Progress) (message.JobStatus, error) {
	var last message.JobStatus
	var seen failures
	for {
		err := client.Watch(ctx, string(id), func(st message.JobStatus) bool {
			last = st
			seen.tell(p, st.Failures)
			p.Show(st)
			return true
		})
		p.Done()
		switch {
		case ctx.Err() != nil:
			return last, errors.New("interrupted")
		case err != nil:
			return last, err
		}
		if last.Settled() {
			return last, nil
		}
	}
}

// Recalled returns an error with an exit code if a check found a wrong result of a job, or if results that were
// delivered are in doubt now; else nil.
func Recalled(st message.JobStatus) error {
	c, id := st.Checks, table.ShortJob(st.ID)
	switch {
	case c == nil || c.Wrong == 0 && c.Recalled() == 0:
		return nil
	case c.Recalled() == 0:
		return &failure.Error{Code: failure.ExitWrong,
			Err: fmt.Errorf("%d of %d checked results were wrong, and are replaced", c.Wrong, c.Right+c.Wrong+c.Open),
			Hint: fmt.Sprintf("`godwit why %s` names their workers; where results matter use `verify: full` with auditors",
				id)}
	case c.Doubted == 0:
		return &failure.Error{Code: failure.ExitWrong,
			Err:  fmt.Errorf("%d results were found wrong after they were delivered, and are replaced", c.Late),
			Hint: fmt.Sprintf("`godwit job %s --tasks` marks them replaced; fetch them again with `godwit results`", id)}
	}
	return &failure.Error{Code: failure.ExitPartly,
		Err: fmt.Errorf("of the results that were delivered %d are doubted and %d were wrong: "+
			"a worker of theirs was wrong elsewhere", c.Doubted, c.Late),
		Hint: fmt.Sprintf("they are run again here; `godwit job %s --tasks` marks them", id)}
}

// Checked tells people how a job's results are checked, and what that promises.
func Checked(st message.JobStatus) string {
	if st.Checks == nil {
		return "verify: off; results are not checked: what workers signed is delivered as it is"
	}
	return "verify: " + st.Checks.Verify + "; " + st.Checks.Promise
}

// Unchecked returns an error with an exit code if results of a job wait for their owner's decision to be checked; else
// nil.
func Unchecked(st message.JobStatus) error {
	if c := st.Checks; c == nil || c.Waits == 0 || !st.Settled() {
		return nil
	}
	if st.Checks.NoCore {
		return &failure.Error{Code: failure.ExitPartly,
			Err:  fmt.Errorf("%d results are not checked: this machine lends no core", st.Checks.Waits),
			Hint: "it checks them when it lends one; `godwit status` says why it does not"}
	}
	return &failure.Error{Code: failure.ExitPartly,
		Err:  fmt.Errorf("%d results are not checked: that would cost this machine more than a fifth of the job", st.Checks.Waits),
		Hint: fmt.Sprintf("`godwit verify %s` has this machine run these tasks again", table.ShortJob(st.ID))}
}

// Verdict turns a job's end into the exit code.
func Verdict(st message.JobStatus) error {
	left := st.Tasks.Total - min(st.Removed, st.Tasks.Total) // without tasks that the owner removed
	failed := st.Tasks.Failed - min(st.Removed, st.Tasks.Failed)
	switch err := Unchecked(st); {
	case err != nil && failed == 0:
		return err
	case failed == 0 && st.Tasks.Done == left && left > 0:
		return nil
	case st.Tasks.Done > 0:
		return &failure.Error{Code: failure.ExitPartly, Err: fmt.Errorf("%d of %d tasks failed (job %s)",
			left-min(st.Tasks.Done, left), left, st.State),
			Hint: fmt.Sprintf("`godwit why %s` tells why", table.ShortJob(st.ID))}
	}
	return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("no task succeeded (job %s)", st.State),
		Hint: fmt.Sprintf("`godwit why %s` tells why", table.ShortJob(st.ID))}
}
