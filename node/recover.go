package node

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/pause"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// recoverName is a file that stands while jobs of this node may be missing from
// its store, because that was damaged and put aside.
const recoverName = "recover"

// recoverEvery is how often leaders are asked for the jobs of a node that lost its
// store, until each overlay's has answered.
const recoverEvery = 5 * time.Second

func (c *Config) recoverFile() string { return filepath.Join(c.DataDir, recoverName) }

// recoverJobs takes this node's jobs back from the overlays' ledgers, after its
// store was lost: it offers them again as if it held no result, and so gets all
// that there are, and has run again what it had held alone.
func (ss *submissions) recoverJobs(ctx context.Context) {
	if _, err := os.Stat(ss.cfg.recoverFile()); err != nil {
		return
	}
	done := map[overlay.ID]bool{}
	for pause.For(ctx, recoverEvery) == nil {
		leaders, err := ss.queries.leaders(ctx)
		if err != nil {
			return
		}
		all := true
		for _, l := range leaders {
			done[l.overlay] = done[l.overlay] || ss.recoverFrom(ctx, l)
			all = all && done[l.overlay]
		}
		if all {
			ss.log.Info("jobs that this node had submitted are back")
			if err := os.Remove(ss.cfg.recoverFile()); err != nil {
				ss.log.Warn("the mark of a damaged store stays", "err", err)
			}
			return
		}
	}
}

// recoverFrom takes back the jobs that one leader has, and says whether it could
// be asked. A leader that is this node itself knows no more than its store did.
func (ss *submissions) recoverFrom(ctx context.Context, l leader) bool {
	var jobs []message.JobStatus
	if err := ss.queries.ask(ctx, l, methodJobs, jobsQuery{l.overlay}, &jobs); err != nil {
		ss.log.Debug("jobs are not recovered yet", "overlay", l.name, "err", err)
		return false
	}
	for _, j := range jobs {
		if j.Submitter != ss.self || ss.hasJob(ctx, j.ID) {
			continue
		}
		if err := ss.recoverJob(ctx, l, j.ID); err != nil {
			ss.log.Warn("a job is not recovered yet", "job", j.ID, "err", err)
			return false
		}
		ss.log.Info("a job of this node is recovered from the overlay's ledger", "job", j.ID, "state", j.State)
	}
	return true
}

func (ss *submissions) hasJob(ctx context.Context, id task.JobID) (has bool) {
	_ = ss.do(ctx, func() { has = ss.overlays.submitted(id) != nil })
	return has
}

// recoverJob brings a job's record and blocks here and offers it again.
func (ss *submissions) recoverJob(ctx context.Context, l leader, id task.JobID) error {
	holders := []task.PeerID{l.peer}
	job, _, err := ss.content.Record(ctx, id, holders)
	if err != nil {
		return err
	}
	if err := ss.content.Fetch(ctx, append(exec.JobRoots(job), exec.TableRoots(job)...), holders); err != nil {
		ss.log.Debug("a job's files are not to be had; it may be over", "job", id, "err", err)
	}
	b, err := ss.content.blocks.Get(ctx, task.CID(id))
	if err != nil {
		return err
	}
	rec, err := task.DecodeRecord(b)
	if err == nil {
		rec.Key, err = ss.keyOf(ctx, l, id, job)
	}
	if err != nil {
		return err
	}
	return ss.do(ctx, func() {
		if m := ss.overlays.members[l.overlay]; m != nil {
			m.step(m.Submitter(), message.Offer{Record: rec})
		}
	})
}
