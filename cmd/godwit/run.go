package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"godwit/api"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

func newRun() *cobra.Command {
	var (
		c             clientFlags
		out, overlay  string
		detach, quiet bool
	)
	cmd := &cobra.Command{
		Use:   "run JOB.yaml|MODULE.wasm [-- ARGS]",
		Short: "Hand in a job, show its progress and collect its results",
		Args:  cobra.MinimumNArgs(1),
		Example: `  godwit run render.yaml --out pictures
  godwit run primes.wasm -- 1000000
  godwit run render.yaml --overlay lab`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sub, err := readSubmission(args[0], args[1:])
			if err != nil {
				return err
			}
			sub.overlay = overlay
			client, err := c.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			ctx := cmd.Context()
			id, err := submit(ctx, client, sub)
			if err != nil {
				return err
			}
			if detach {
				return printID(cmd.OutOrStdout(), id, c.json)
			}
			p := newProgress(cmd.ErrOrStderr(), quiet)
			p.note("job %s accepted", id)
			end, err := follow(ctx, client, id, p)
			if err != nil {
				return stillThere(err, id)
			}
			if c.json {
				return errors.Join(collectQuietly(ctx, client, id, out), printFinal(ctx, cmd.OutOrStdout(), client, id), verdict(end))
			}
			return errors.Join(deliver(ctx, cmd.OutOrStdout(), client, id, sub, out, p), verdict(end))
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "directory for the results (default NAME.out; a single task's standard output is printed)")
	f.StringVar(&overlay, "overlay", "", "overlay to hand the job to: name, ID or end of it (default commons, or the node's first)")
	f.BoolVar(&detach, "detach", false, "print the job's ID once it is accepted, and return")
	f.BoolVar(&quiet, "quiet", false, "show no progress")
	return cmd
}

// A submission is a job file with everything that it names read and checked.
type submission struct {
	name   string // of the file, for messages
	text   string // of the job file; "" for a bare module
	args   []string
	file   *task.File
	module string   // path
	code   []byte   // the module
	dir    *os.Root // of the job file; inputs are read below it
	inputs []string // names below dir
	// overlay to hand it to; "" leaves it to the node
	overlay string
}

// readSubmission reads a job file, or makes one for a bare module, and checks
// all of it: nothing is sent before everything is known to be there and right.
func readSubmission(path string, args []string) (*submission, error) {
	s := &submission{name: filepath.Base(path), args: args}
	dir := filepath.Dir(path)
	if strings.HasSuffix(path, ".wasm") {
		s.file, s.module = task.DefaultFile(path, args), path
	} else if err := s.readFile(path); err != nil {
		return nil, err
	} else if len(args) > 0 {
		return nil, usage("write them into the job file, as args", "arguments after -- go with a module, not with a job file")
	}
	var err error
	if s.dir, err = os.OpenRoot(dir); err != nil {
		return nil, usage("", "opening the job's directory: %w", err)
	}
	if err := s.checkModule(); err != nil {
		return nil, err
	}
	return s, s.checkInputs()
}

func (s *submission) readFile(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return usage("give the path of a job file or of a .wasm module", "reading the job file: %w", err)
	}
	if s.file, err = task.ParseFile(path, b); err != nil {
		return err
	}
	s.text, s.module = string(b), s.file.Module
	if !filepath.IsAbs(s.module) {
		s.module = filepath.Join(filepath.Dir(path), s.module)
	}
	return nil
}

func (s *submission) checkModule() error {
	b, err := os.ReadFile(s.module)
	if err != nil {
		return s.file.ErrorAt("module", fmt.Sprintf("module %s: %s", s.module, reason(err)), "`godwit build DIR` makes modules from Go and C programs")
	}
	var bad *sandbox.ModuleError
	if errors.As(sandbox.CheckModule(b), &bad) {
		return s.file.ErrorAt("module", fmt.Sprintf("module %s: %s", s.module, bad.Reason), bad.Hint)
	}
	s.code = b
	return nil
}

// checkInputs opens every input that the job can name. The root refuses what
// leads out of the job's directory, through symbolic links too.
func (s *submission) checkInputs() error {
	names, err := s.file.InputNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := s.dir.Stat(filepath.FromSlash(name))
		switch {
		case err != nil:
			return s.file.InputError(name, reason(err), "files are looked up in the job file's directory and may not lead out of it")
		case !info.Mode().IsRegular():
			return s.file.InputError(name, "not a regular file", "list files, not directories")
		}
	}
	s.inputs = names
	return nil
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

// submit stores the module and the inputs at the node and hands in the job.
func submit(ctx context.Context, client *api.Client, s *submission) (task.JobID, error) {
	req := api.SubmitRequest{FileName: s.name, File: s.text, Args: s.args, Overlay: s.overlay}
	m, err := client.PutFile(ctx, bytes.NewReader(s.code))
	if err != nil {
		return "", err
	}
	req.Module = m.CID
	for _, name := range s.inputs {
		ref, err := s.putInput(ctx, client, name)
		if err != nil {
			return "", err
		}
		req.Inputs = append(req.Inputs, ref)
	}
	return client.Submit(ctx, req)
}

func (s *submission) putInput(ctx context.Context, client *api.Client, name string) (task.FileRef, error) {
	f, err := s.dir.Open(filepath.FromSlash(name))
	if err != nil {
		return task.FileRef{}, usage("", "input file %s: %w", name, err)
	}
	defer f.Close()
	r, err := client.PutFile(ctx, f)
	return task.FileRef{Name: name, CID: r.CID, Size: r.Size}, err
}

// follow shows a job's progress until the node holds every result.
func follow(ctx context.Context, client *api.Client, id task.JobID, p *progress) (message.JobStatus, error) {
	var last message.JobStatus
	for {
		err := client.Watch(ctx, string(id), func(st message.JobStatus) bool {
			last = st
			p.show(st)
			return true
		})
		p.done()
		switch {
		case ctx.Err() != nil:
			return last, errors.New("interrupted")
		case err != nil:
			return last, err
		}
		if last.Final {
			return last, nil
		}
	}
}

// deliver writes what a finished job produced: a lone standard output to the
// terminal, everything else to a directory.
func deliver(ctx context.Context, w io.Writer, client *api.Client, id task.JobID, s *submission, out string, p *progress) error {
	if out == "" && s.file.Sweep.Count() == 1 {
		return printOnly(ctx, w, client, id)
	}
	if out == "" {
		out = s.file.Name + ".out"
	}
	n, err := collect(ctx, client, string(id), out)
	if err == nil {
		p.note("%d files verified and written to %s", n, out)
	}
	return err
}

func collectQuietly(ctx context.Context, client *api.Client, id task.JobID, out string) error {
	if out == "" {
		return nil
	}
	_, err := collect(ctx, client, string(id), out)
	return err
}

// verdict turns a job's end into the exit code.
func verdict(st message.JobStatus) error {
	switch {
	case st.Tasks.Failed == 0 && st.Tasks.Done == st.Tasks.Total:
		return nil
	case st.Tasks.Done > 0:
		return &failure{code: exitPartly, err: fmt.Errorf("%d of %d tasks failed (job %s)", st.Tasks.Total-st.Tasks.Done, st.Tasks.Total, st.State),
			hint: fmt.Sprintf("`godwit why %s` tells why", shortJob(st.ID))}
	}
	return &failure{code: exitFailed, err: fmt.Errorf("no task succeeded (job %s)", st.State),
		hint: fmt.Sprintf("`godwit why %s` tells why", shortJob(st.ID))}
}

// stillThere reminds that an interrupted `run` does not end the job.
func stillThere(err error, id task.JobID) error {
	hint := fmt.Sprintf("the job goes on: `godwit job %[1]s` shows it, `godwit cancel %[1]s` ends it", shortJob(id))
	return &failure{code: classify(err).code, err: err, hint: hint}
}

func printID(w io.Writer, id task.JobID, asJSON bool) error {
	if asJSON {
		return printJSON(w, api.SubmitReply{ID: id})
	}
	_, err := fmt.Fprintln(w, id)
	return err
}

func printFinal(ctx context.Context, w io.Writer, client *api.Client, id task.JobID) error {
	st, err := client.Job(ctx, string(id))
	if err != nil {
		return err
	}
	return printJSON(w, st)
}
