package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/scheduler/message"
	"godwit/task"
)

// maxContent bounds one file that a job brings: module, input or output. It
// keeps a stranger's job from filling the disk with one CID.
const maxContent = 4 << 30

// maxRecord bounds a job's record. A job file of a mebibyte, the largest
// accepted, makes a record smaller than this.
const maxRecord = 2 << 20

// A preparedJob is ready to run: its files lie under the stage directory.
type preparedJob struct {
	job    *task.Job
	module string              // path
	inputs map[task.CID]string // paths
	saves  saveCosts
}

// prepare answers a Prepare.
func (n *Node) prepare(ctx context.Context, p pending, e message.Prepare) {
	ready, err := n.bring(ctx, e.Job, e.Holders)
	n.post(post{call: func() {
		answer := message.Prepared{ID: e.Job}
		if err != nil {
			answer.Err = err.Error()
			n.log.Warn("job could not be prepared", "job", e.Job, "err", err)
		} else {
			n.prepared[e.Job] = ready
			answer.Job = ready.job
		}
		p.of.step(p.from, answer)
	}})
}

// bring fetches a job's record, module and inputs and stages them as files. Who was
// named for the state of one of its tasks alone is not asked for those.
func (n *Node) bring(ctx context.Context, id task.JobID, holders []task.PeerID) (*preparedJob, error) {
	holders = sure(holders)
	job, err := n.jobRecord(ctx, id, holders)
	if err != nil {
		return nil, err
	}
	ready := &preparedJob{job: job, inputs: map[task.CID]string{}}
	if n.cfg.Runner == RunSleep {
		return ready, nil
	}
	if err := n.fetchAll(ctx, jobContent(job), holders); err != nil {
		return nil, err
	}
	if ready.module, err = n.stage(ctx, job.Module); err != nil {
		return nil, err
	}
	for _, in := range job.Inputs {
		if ready.inputs[in.CID], err = n.stage(ctx, in.CID); err != nil {
			return nil, err
		}
	}
	return ready, nil
}

// jobRecord returns the job of that ID, from here or from the holders, with
// its signature checked.
func (n *Node) jobRecord(ctx context.Context, id task.JobID, holders []task.PeerID) (*task.Job, error) {
	cid := task.CID(id)
	if err := n.fetchAll(ctx, []task.CID{cid}, holders); err != nil {
		return nil, err
	}
	b, err := n.blocks.Get(ctx, cid)
	if err != nil {
		return nil, fmt.Errorf("reading the job's record: %w", err)
	}
	if len(b) > maxRecord {
		return nil, fmt.Errorf("the job's record has %d bytes, at most %d", len(b), maxRecord)
	}
	rec, err := task.DecodeRecord(b)
	if err != nil {
		return nil, fmt.Errorf("reading the job's record: %w", err)
	}
	job, err := rec.Open()
	if err != nil {
		return nil, fmt.Errorf("opening the job's record: %w", err)
	}
	return job, nil
}

// jobContent lists what a job's tasks read.
func jobContent(j *task.Job) []task.CID {
	cids := []task.CID{j.Module}
	for _, in := range j.Inputs {
		cids = append(cids, in.CID)
	}
	return cids
}

func (c *Config) stageDir() string { return filepath.Join(c.DataDir, "stage") }

func (n *Node) stagePath(c task.CID) string { return filepath.Join(n.cfg.stageDir(), string(c)) }

// stage writes content to a file that sandboxes read, unless it is there. The
// file appears whole or not at all.
func (n *Node) stage(ctx context.Context, c task.CID) (path string, err error) {
	path = n.stagePath(c)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	r, _, err := n.blocks.Open(ctx, c)
	if err != nil {
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	defer r.Close()
	f, err := os.CreateTemp(n.cfg.stageDir(), "new-*")
	if err != nil {
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	_, err = io.Copy(f, r)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	return path, nil
}

// release forgets a job's staged files, unless another prepared job reads them.
func (n *Node) release(id task.JobID) {
	gone, ok := n.prepared[id]
	if !ok {
		return
	}
	delete(n.prepared, id)
	used := map[task.CID]bool{}
	for _, p := range n.prepared {
		for _, c := range jobContent(p.job) {
			used[c] = true
		}
	}
	for _, c := range jobContent(gone.job) {
		if !used[c] {
			os.Remove(n.stagePath(c))
		}
	}
}
