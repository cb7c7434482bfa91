package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/task/referee"
)

const (
	// maxProofInputs bounds the inputs of a job that is fetched to look at a statement, in bytes.
	maxProofInputs = 64 << 20
	// maxProofState bounds the state before a part, as it is stored, in bytes. Where it is larger the whole
	// task is run.
	maxProofState = 64 << 20
	// maxProofRun bounds each run of its task: a task that takes longer cannot be told of.
	maxProofRun = 10 * time.Minute
)

// errLater is of a statement that could not be looked at now: its blocks were not to be had, or the
// owner took the machine back.
var errLater = errors.New("node: it cannot be told at the moment")

// errNoStateBefore is of a statement of a part that begins with a state that was not to be had.
var errNoStateBefore = errors.New("node: the state before the part is not to be had")

// check looks whether a statement is right, which may be hostile, and tells came. Its cost counts
// from the fetch on.
func (p *proofs) check(m *membership, teller task.PeerID, b []byte, s *referee.Statement, malformed error) {
	begun := p.now()
	p.spawn(func() {
		f, err := referee.Finding{Verdict: referee.Open}, malformed
		var spec *task.Job
		if err == nil {
			spec, err = s.Open()
		}
		switch {
		case errors.Is(err, task.ErrSignature):
			f.Verdict = referee.Nothing
		case err != nil: // it may be of a later version
		case spec.Overlay != string(m.id):
			f.Verdict, err = referee.Nothing, errors.New("the job is another overlay's")
		default:
			f, err = p.run(m, teller, s, spec)
		}
		if err != nil {
			f.Why = err.Error()
		}
		p.post(post{call: func() {
			if errors.Is(err, errLater) {
				delete(p.tried, sha256.Sum256(b))
			}
			p.came(m, teller, b, s, f, p.now().Sub(begun))
		}})
	})
}

// run runs the task of a statement whose signatures are good.
func (p *proofs) run(m *membership, teller task.PeerID, s *referee.Statement, spec *task.Job) (referee.Finding, error) {
	open := referee.Finding{Verdict: referee.Open}
	var size int64
	for i := range spec.Inputs {
		if size += spec.Inputs[i].Size; size > maxProofInputs {
			return open, fmt.Errorf("the job's inputs have more than %s", task.FormatSize(maxProofInputs))
		}
	}
	key, err := p.keyOf(m, s, spec)
	if err != nil {
		return open, err
	}
	content := append(exec.JobContent(spec), task.CID(s.Record.ID()))
	defer p.content.Hold(content)()
	ctx, cancel := context.WithTimeout(p.tasks, maxProofRun)
	defer cancel()
	if _, err := p.content.blocks.PutRecord(ctx, s.Record.Encode()); err != nil {
		return open, err
	}
	if err := p.content.Fetch(ctx, exec.JobRoots(spec), []task.PeerID{s.Record.Submitter(), teller}); err != nil {
		return open, fmt.Errorf("%w: %w", errLater, err)
	}
	f, err := p.judge(m, teller, s, spec, key)
	if err != nil {
		return open, err
	}
	if f.Verdict != referee.Proven {
		return f, nil
	}
	if why := unsure(&f); why != "" {
		open.Why = f.Why + "; " + why
		return open, nil
	}
	return f, nil
}

// keyOf is the key of the job of a statement, if it is sealed: coordinators have it, in their copies of the ledger.
func (p *proofs) keyOf(m *membership, s *referee.Statement, spec *task.Job) (key []byte, err error) {
	if len(spec.Sealed) == 0 {
		return nil, nil
	}
	if err := p.do(p.tasks, func() { key = m.JobKey(s.Record.ID()) }); err != nil {
		return nil, err
	}
	if len(key) == 0 {
		return nil, errors.New("the job is sealed, and this node does not have its key")
	}
	return key, spec.CheckKey(key)
}

// judge runs what is said to be wrong: a part, where one is named and the state before it is to be had, else
// the whole task.
func (p *proofs) judge(m *membership, teller task.PeerID, s *referee.Statement, spec *task.Job, key []byte) (
	referee.Finding, error) {
	sealer, err := seal.New(key)
	if err != nil {
		return referee.Finding{}, err
	}
	signed, proof := s.Claim()
	judge := referee.Referee{Signed: signed, Plain: func(stored int64) int64 {
		if n, err := sealer.Plain(stored); err == nil {
			return n
		}
		return stored
	}}
	var from *message.Began
	if proof != nil {
		part, err := signed.Segment(proof, spec.Spacing())
		if err != nil {
			return referee.Finding{}, err
		}
		if judge.Part = &part; len(part.Before) > 0 {
			from = &message.Began{Fuel: part.From, Hash: part.Before, CID: part.State, Most: maxProofState,
				Holders: []task.PeerID{teller, s.Record.Submitter(), part.By}}
		}
	}
	judge.Run = func(ctx context.Context, interpreted bool, stopAt uint64) (*task.Result, error) {
		return p.again(ctx, m, message.Audit{Task: s.Result.Task, Interpreted: interpreted, StopAt: stopAt, From: from,
			Key: key, Most: maxProofRun})
	}
	f, err := judge.Judge(p.tasks)
	if errors.Is(err, errNoStateBefore) && judge.Part.By == s.Result.Worker { // of a state alone nothing is known then
		judge.Part, from = nil, nil
		return judge.Judge(p.tasks)
	}
	return f, err
}

// unsure says why what is wrong here may be nobody's fault, or "": the compiler of another
// architecture may err, and this node cannot run what it made.
func unsure(f *referee.Finding) string {
	engine, pass := f.Theirs.Engine, f.Theirs.Pass
	switch {
	case pass != f.Pass:
		return fmt.Sprintf("it ran under pass %d there, under %d here", pass, f.Pass)
	case engine != f.Engine && engine != task.EngineInterpreter:
		return fmt.Sprintf("it was compiled for %q there, for %q here", engine, f.Engine)
	}
	return ""
}

// again runs a task, once the owner's rules leave a core for it.
func (p *proofs) again(ctx context.Context, m *membership, e message.Audit) (*task.Result, error) {
	done := make(chan message.Audited, 1)
	answer := func(ev message.Audited) { done <- ev }
	if err := p.do(ctx, func() { p.exec.Audit(client{m}, e, nil, answer) }); err != nil {
		return nil, err
	}
	select {
	case ev := <-done:
		switch r := &ev.Here; {
		case ev.Unserved != "":
			return nil, fmt.Errorf("%w: %s", errNoStateBefore, ev.Unserved)
		case r.Outcome == task.Interrupted && (e.StopAt == 0 || r.Trail == nil):
			return nil, fmt.Errorf("%w: %s", errLater, r.Message)
		}
		return &ev.Here, nil
	case <-p.stopped:
		return nil, ErrStopped
	}
}

// proven tells the submitter that a worker was wrong.
func (m *membership) proven(id task.TaskID, worker task.PeerID, why string) {
	m.step(m.Submitter(), message.Proven{Task: id, Worker: worker, Why: why})
}
