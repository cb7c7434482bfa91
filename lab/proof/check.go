package proof

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/sandbox"
	"godwit/task"
	"godwit/task/referee"
	"godwit/task/table"
)

// A Verdict says what a file proves.
type Verdict = referee.Verdict

// The verdicts.
const (
	Proven  = referee.Proven
	Nothing = referee.Nothing
	Open    = referee.Open
)

// A Finding is what came of checking a file.
type Finding struct {
	Verdict Verdict     `json:"verdict"`
	Job     task.JobID  `json:"job"`
	Name    string      `json:"name"` // of the job; its submitter's words
	Task    uint64      `json:"task"`
	Signed  task.PeerID `json:"signed"`       // who signed the result
	By      task.PeerID `json:"by,omitempty"` // who is proven wrong
	Leader  task.PeerID `json:"leader,omitempty"`
	Why     string      `json:"why"`
	// States are the fuels of the states that the run went on from, and Left who left each; the
	// last first.
	States []uint64      `json:"states,omitempty"`
	Left   []task.PeerID `json:"left,omitempty"`
	// Part is what was run, where that is not the whole task.
	Part *Part `json:"part,omitempty"`
}

// A Part is of a run, in fuel.
type Part struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// A Runner runs one task, as sandbox.Pool does.
type Runner interface {
	Run(ctx context.Context, t sandbox.Task) (sandbox.Report, error)
}

// A Checker checks files.
type Checker struct {
	// Compiled runs the task as nodes do; Interpreted where something else comes out than was
	// signed, so that a fault of the compiler here accuses nobody.
	Compiled, Interpreted Runner
	Dir                   string // scratch, empty; the caller removes it
	// Told is called before each run with what is run; nil for nothing.
	Told func(what string)
}

// Check checks a file of so many bytes, which may be hostile: its error says why it is no proof
// that can be checked.
func (c *Checker) Check(ctx context.Context, file io.ReaderAt, size int64) (Finding, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return Finding{}, fmt.Errorf("it is no proof: %w", err)
	}
	s, err := readStatement(z)
	if err != nil {
		return Finding{}, err
	}
	return c.checkStatement(ctx, z, &s)
}

func (c *Checker) checkStatement(ctx context.Context, z *zip.Reader, s *Statement) (Finding, error) {
	r := &s.Result
	f := Finding{Task: r.Task.Index, Signed: r.Worker, Job: s.Record.ID()}
	spec, err := s.Record.OpenWhole()
	switch {
	case err != nil:
		return f, err
	case r.Task.Job != f.Job:
		return f, fmt.Errorf("the result is of job %s, the job is %s", r.Task.Job, f.Job)
	}
	f.Name = spec.Name
	if err := r.Verify(); err != nil {
		return f, err
	}
	if r.Receipt != nil {
		if err := r.Receipt.Verify(r.Task, r.Worker); err != nil {
			return f, err
		}
		f.Leader = r.Receipt.Leader
	}
	reads, err := readsOf(spec, r.Task)
	if err != nil {
		return f, err
	}
	run := &running{Checker: c, spec: spec, signed: r}
	if run.sealer, err = seal.New(s.Record.Key); err != nil {
		return f, err
	}
	if run.files, err = unpack(ctx, z, spec, reads, c.Dir); err != nil {
		return f, err
	}
	if err = run.open(); err != nil {
		return f, err
	}
	if s.Part != nil {
		if err := run.beginPart(z, s.Part); err != nil {
			return f, err
		}
		f.Part = &Part{run.part.From, run.part.To}
	}
	return f, run.judge(ctx, &f)
}

// A running is a check whose files are there.
type running struct {
	*Checker
	spec   *task.Job
	signed *task.Result
	sealer *seal.Sealer
	files  files
	part   *task.Segment // that is run; nil for the whole task
	state  *state        // that it begins with; nil for the task's beginning
}

// beginPart reads what a part begins with.
func (r *running) beginPart(z *zip.Reader, p *task.PartProof) error {
	part, err := r.signed.Segment(p, r.spec.Spacing())
	if err != nil {
		return err
	}
	if r.part = &part; len(part.Before) > 0 {
		r.state, err = readState(z, r.sealer, part.Before)
	}
	return err
}

// open writes what sealed inputs hold beside them.
func (r *running) open() error {
	if r.sealer == nil {
		return nil
	}
	for c, path := range r.files.inputs {
		sealed, err := os.Open(path)
		if err != nil {
			return err
		}
		opened, err := os.OpenFile(path+".opened", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = io.Copy(opened, r.sealer.Opening(sealed))
			err = errors.Join(err, opened.Close())
		}
		if err = errors.Join(err, sealed.Close()); err != nil {
			return fmt.Errorf("opening a sealed input: %w", err)
		}
		r.files.inputs[c] = path + ".opened"
	}
	return nil
}

// judge runs the task, and says in f what follows.
func (r *running) judge(ctx context.Context, f *Finding) error {
	of := referee.Referee{Signed: r.signed, Part: r.part, Run: r.run, Plain: r.plain, Told: r.Told}
	found, err := of.Judge(ctx)
	f.Verdict, f.By, f.Why, f.States, f.Left = found.Verdict, found.By, found.Why, found.States, found.Left
	return err
}

// run runs the task or its part, up to a fuel where that is not 0.
func (r *running) run(ctx context.Context, interpreted bool, stopAt uint64) (*task.Result, error) {
	path := func(c task.CID) string { return r.files.inputs[c] }
	inv, err := r.spec.ExpandBy(r.signed.Task.Index, table.Files(path))
	if err != nil {
		return nil, err
	}
	t := sandbox.TaskOf(r.spec, r.signed.Task, inv, r.files.module, path)
	if stopAt > 0 {
		t.FreezeAtFuel, t.Pages = stopAt, sandbox.Unkept{}
	}
	if r.state != nil {
		t.From, t.Pages = r.state.manifest, r.state
	}
	runner := r.Compiled
	if interpreted {
		runner = r.Interpreted
	}
	rep, err := runner.Run(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("running the task: %w", err)
	}
	out := &task.Result{Outcome: rep.Outcome, ExitCode: rep.ExitCode, Message: rep.Message, Trail: rep.SignedTrail()}
	if stopped := rep.StoppedTrail(); stopped != nil {
		out.Trail = stopped
	}
	for _, o := range rep.Outputs {
		data := r.sealer.SealFile(o.Data)
		c, err := blocks.CIDOfBytes(data)
		if err != nil {
			return nil, err
		}
		out.Outputs = append(out.Outputs, task.Output{Name: o.Name, CID: c, Size: int64(len(data))})
	}
	return out, nil
}

// plain is the size of content that is stored with so many bytes.
func (r *running) plain(stored int64) int64 {
	if n, err := r.sealer.Plain(stored); err == nil {
		return n
	}
	return stored
}
