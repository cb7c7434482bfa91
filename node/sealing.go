package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

// SealingKey returns a new key for a job that is handed to an overlay, given by name or ID, ""
// for the node's usual: its files are to be sealed under it, and its Submission has it. It is
// nil where anybody may join, whose jobs are not sealed.
func (ss *submissions) SealingKey(ctx context.Context, nameOrID string) ([]byte, error) {
	closed := false
	var err error
	if e := ss.do(ctx, func() {
		var m *membership
		if m, err = ss.overlays.find(nameOrID); err == nil {
			closed = m.Manifest().Admission != overlay.Open
		}
	}); e != nil {
		return nil, e
	}
	if err != nil || !closed {
		return nil, err
	}
	return newKey(), nil
}

// unused returns an error if a job of this node has a key already, on the loop: with the key of one job its workers could
// read the files of the other.
func (ss *submissions) unused(key []byte) error {
	if len(key) == 0 {
		return nil
	}
	for _, m := range ss.ordered() {
		for _, st := range m.Submitter().Jobs() {
			if rec, ok := m.Submitter().Record(st.ID); ok && bytes.Equal(rec.Key, key) {
				return fmt.Errorf("%w: it is the key of job %s; get a new one for each job", task.ErrKey, st.ID)
			}
		}
	}
	return nil
}

// newKey returns a key that nobody else has.
func newKey() []byte {
	key := make([]byte, task.KeySize)
	rand.Read(key)
	return key
}

// sealed returns a submission whose files are sealed under its key, as they are to be in a
// closed overlay: those of a submission without a key are sealed here, under a new one.
func (ss *submissions) sealed(ctx context.Context, s Submission, closed bool) (Submission, error) {
	if len(s.Key) == 0 && len(s.sealedBy) == 0 && !closed {
		return s, nil
	}
	own := len(s.Key) > 0
	if !own {
		s.Key = newKey()
	}
	from, err := seal.New(s.sealedBy)
	var sealer *seal.Sealer
	if err == nil {
		sealer, err = seal.New(s.Key)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	change := func(in task.FileRef) (task.FileRef, error) {
		if own {
			return in, ss.content.checkSealed(ctx, sealer, in)
		}
		return ss.content.reseal(ctx, from, sealer, in)
	}
	inputs := make(map[string]task.FileRef, len(s.Inputs))
	for name, in := range s.Inputs {
		if inputs[name], err = change(in); err != nil {
			return s, fmt.Errorf("sealing input %s: %w", name, err)
		}
	}
	s.Inputs = inputs
	for name, t := range s.File.Tables() {
		in, err := change(task.FileRef{CID: t.CID, Size: t.Size})
		if err != nil {
			return s, fmt.Errorf("sealing the table of axis %s: %w", name, err)
		}
		t.CID, t.Size = in.CID, in.Size
	}
	return s, nil
}

// checkSealed refuses a file that is not sealed under the job's key, by its size and its
// beginning: no worker could read it.
func (c *content) checkSealed(ctx context.Context, sealer *seal.Sealer, in task.FileRef) error {
	if _, err := sealer.Plain(in.Size); err != nil {
		return err
	}
	f, _, err := c.blocks.Open(ctx, in.CID, blocks.Exactly(in.Size))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := sealer.Opening(f).Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// keyQuery asks a leader for the key of a job of one's own.
type keyQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Job     task.JobID `json:"job"`
}

// ask answers a peer.
func (q keyQuery) ask(c *scheduler.Coordinator, from task.PeerID) (any, error) {
	if submitter, key, _ := c.Submitter(q.Job); key != nil && submitter == from {
		return key, nil
	}
	return nil, fmt.Errorf("%w of yours that is sealed: %s", ErrUnknownJob, q.Job)
}

// keyOf returns the key of a job of this node's as a leader has it; nil for a job that is not
// sealed.
func (ss *submissions) keyOf(ctx context.Context, l leader, id task.JobID, job *task.Job) ([]byte, error) {
	if len(job.Sealed) == 0 {
		return nil, nil
	}
	var key []byte
	if err := ss.queries.ask(ctx, l, methodKey, keyQuery{l.overlay, id}, &key); err != nil {
		return nil, err
	}
	return key, job.CheckKey(key)
}
