package hostile

import (
	"context"
	"time"

	"godwit/internal/pause"
	"godwit/scheduler/message"
	"godwit/task"
)

// disks are attacks that fill them.
func disks() []attack {
	return []attack{
		{id: "S4", play: playBombs, plain: true, before: "298 KB of blocks expanded to 240 TB: 3.1 GB lay on a disk " +
			"of 1 GiB " +
			"after 12 s, and it went on"},
		{id: "S15", play: playBulk, plain: true, before: "a result could name 1,024 outputs of 4 GiB, a job 10,000 " +
			"such inputs, " +
			"and a leader fetched them from anybody; nothing was ever removed of compiled modules"},
	}
}

// A shell is a place of a job or result where content goes, of which a node reads.
type shell struct {
	what string
	put  func(j *task.Job, c task.CID, size int64)
}

var shells = []shell{
	{"modules", func(j *task.Job, c task.CID, _ int64) { j.Module = c }},
	{"inputs", func(j *task.Job, c task.CID, size int64) {
		j.Inputs = []task.FileRef{{Name: "in", CID: c, Size: size}}
		j.Files = []string{"in"}
	}},
	{"standard input", func(j *task.Job, c task.CID, size int64) {
		j.Inputs = []task.FileRef{{Name: "in", CID: c, Size: size}}
		j.Stdin = "in"
	}},
}

// handIn gives the leader a job of content.
func (s *stranger) handIn(ctx context.Context, to task.PeerID, change func(*task.Job)) (task.Record, error) {
	rec, err := s.jobOf(s.key, 1, change)
	if err != nil {
		return rec, err
	}
	return rec, s.say(ctx, to, message.Message{Submit: &message.Submit{Record: rec}})
}

// outputs has a result and a checkpoint of such content told.
func (s *stranger) outputs(ctx context.Context, p pool, id task.JobID, c task.CID, size int64, n int) error {
	r := task.Result{Task: task.TaskID{Job: id}, Outcome: task.Completed, Outputs: []task.Output{
		{Name: task.Stdout, CID: c, Size: size}}}
	r, err := signedBy(s.key, r)
	if err != nil {
		return err
	}
	a := attemptAt(p.Epoch, n)
	saved := message.SavedState{Task: r.Task, Attempt: a}
	saved.Checkpoint.CID, saved.Checkpoint.Fuel = c, uint64(1+n)
	return s.say(ctx, p.Leader, ended(p.Epoch, a, r),
		message.Message{Report: &message.Report{Epoch: p.Epoch, Saved: []message.SavedState{saved}}})
}

// fill plays content of some sizes in all places, and waits for what it does.
func (f *field) fill(ctx context.Context, row *Row, rounds int, of func(s *stranger, n int) (task.CID, int64)) error {
	crowd, err := f.crowd(ctx, 4, fellow)
	if err != nil {
		return err
	}
	for n := range rounds {
		p, err := f.agreed(ctx, openName)
		if err != nil {
			break
		}
		s := crowd[n%len(crowd)]
		c, size := of(s, n)
		shell := shells[n%len(shells)]
		rec, err := s.handIn(ctx, p.Leader, func(j *task.Job) { shell.put(j, c, size) })
		if err != nil {
			continue // no such job can be signed
		}
		row.Times++
		if err := s.outputs(ctx, p, rec.ID(), c, size, n); err != nil {
			return err
		}
		row.Times += 2
		if f.gauge.look().disk > 4*maxDisk {
			row.now("stopped there, for the sake of this disk")
			break
		}
	}
	for range 20 {
		if err := pause.For(ctx, time.Second); err != nil {
			return err
		}
		if f.gauge.look().disk > 4*maxDisk {
			break
		}
	}
	given := int64(0)
	for _, s := range crowd {
		given += s.content.given()
	}
	row.now("%d MiB were fetched of the strangers", given>>20)
	return nil
}

func playBombs(ctx context.Context, f *field, row *Row) error {
	says := []uint64{10, 1 << 20, 64 << 20, 0, 1 << 40}
	row.tried(0, "files of 1 to 4 levels of nodes that link %d times to one child and say that they have 10 bytes to a "+
		"tebibyte, as modules, inputs, standard input, outputs and checkpoints", linksPerNode)
	return f.fill(ctx, row, max(12, f.Times/3), func(s *stranger, n int) (task.CID, int64) {
		say := says[n%len(says)]
		return s.content.bomb(2+n%3, say), int64(max(1, say))
	})
}

func playBulk(ctx context.Context, f *field, row *Row) error {
	const size, bulks = 96 << 20, 12
	row.tried(0, "files of 96 MiB of different bytes that say so, or that they have 10, as above: %d MiB for a disk of %d",
		bulks*size>>20, maxDisk>>20)
	return f.fill(ctx, row, bulks, func(s *stranger, n int) (task.CID, int64) {
		if n%2 == 0 {
			return s.content.bulk(size, 0, uint64(n)), size
		}
		return s.content.bulk(size, 10, uint64(n)), 10
	})
}
