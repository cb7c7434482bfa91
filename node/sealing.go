package node

import (
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
// nil where anybody may join, whose jobs are not sealed. Where like is not empty it is the key of the latest job of
// that name, if there is one: what that came to can be read by the new one then.
func (ss *submissions) SealingKey(ctx context.Context, nameOrID, like string) ([]byte, error) {
	var closed bool
	var key []byte
	var err error
	if e := ss.do(ctx, func() {
		var m *membership
		if m, err = ss.overlays.find(nameOrID); err == nil {
			closed = m.Manifest().Admission != overlay.Open
			if closed && like != "" {
				key = sharedKey(m, like)
			}
		}
	}); e != nil {
		return nil, e
	}
	if err != nil || !closed || key != nil {
		return key, err
	}
	return newKey(), nil
}

// newKey returns a key that nobody else has.
func newKey() []byte {
	key := make([]byte, task.KeySize)
	rand.Read(key)
	return key
}

// sealed returns a submission whose inputs are sealed under its key, as they are to be in a
// closed overlay: those of a submission without a key are sealed here.
func (ss *submissions) sealed(ctx context.Context, s Submission, closed bool) (Submission, error) {
	if len(s.Key) == 0 && !closed {
		return s, nil
	}
	change := ss.content.checkSealed
	if len(s.Key) == 0 {
		s.Key, change = s.shared, ss.content.sealInput
		if s.Key == nil {
			s.Key = newKey()
		}
	}
	sealer, err := seal.New(s.Key)
	if err != nil {
		return s, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	inputs := make(map[string]task.FileRef, len(s.Inputs))
	for name, in := range s.Inputs {
		if inputs[name], err = change(ctx, sealer, in); err != nil {
			return s, fmt.Errorf("sealing input %s: %w", name, err)
		}
	}
	s.Inputs = inputs
	for axis := range s.File.Sources {
		t := s.File.Table(axis)
		if t == nil {
			continue
		}
		in, err := change(ctx, sealer, task.FileRef{CID: t.CID, Size: t.Size})
		if err != nil {
			return s, fmt.Errorf("sealing the table of axis %s: %w", axis, err)
		}
		t.CID, t.Size = in.CID, in.Size
	}
	return s, nil
}

// sealInput stores a file that is stored as it is once more, sealed.
func (c *content) sealInput(ctx context.Context, sealer *seal.Sealer, in task.FileRef) (task.FileRef, error) {
	f, _, err := c.blocks.Open(ctx, in.CID, blocks.Exactly(in.Size))
	if err != nil {
		return in, err
	}
	defer f.Close()
	in.CID, in.Size, err = c.blocks.Import(ctx, sealer.Sealing(f))
	return in, err
}

// checkSealed refuses a file that is not sealed under the job's key, by its size and its
// beginning: no worker could read it.
func (c *content) checkSealed(ctx context.Context, sealer *seal.Sealer, in task.FileRef) (task.FileRef, error) {
	if _, err := sealer.Plain(in.Size); err != nil {
		return in, err
	}
	f, _, err := c.blocks.Open(ctx, in.CID, blocks.Exactly(in.Size))
	if err != nil {
		return in, err
	}
	defer f.Close()
	if _, err := sealer.Opening(f).Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return in, err
	}
	return in, nil
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
