package hostile

import (
	"context"
	"errors"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// ledgers are attacks on the ledger that coordinators keep.
func ledgers() []attack {
	return []attack{
		{id: "S10", play: playFatRow, before: "one row that grew beyond a frame stopped all promises: no job was " +
			"accepted any more"},
		{id: "S19", play: playReplay, before: "a record signed for one overlay ran in another, brought by anybody"},
	}
}

// fatRow is a row with results of many short outputs, of workers that do not exist.
func fatRow(id task.JobID, salt int) (*ledger.Row, error) {
	row := &ledger.Row{}
	for s := range 2 {
		r := task.Result{Task: task.TaskID{Job: id}, Outcome: task.Completed}
		for o := range 1000 {
			b := make([]byte, task.MaxInline)
			b[0], b[1], b[2] = byte(o), byte(o>>8), byte(10*salt+s)
			r.Outputs = append(r.Outputs, task.Output{Name: fmt.Sprintf("o%04d", o), CID: task.RawCID(b), Size: int64(len(b)),
				Inline: b})
		}
		r, err := signedBy(newKey(), r)
		if err != nil {
			return nil, err
		}
		row.AddResult(message.Attempt{Epoch: 1, Seq: uint64(s)}, r)
	}
	return row, nil
}

func playFatRow(ctx context.Context, f *field, row *Row) error {
	crowd, err := f.crowd(ctx, len(guises))
	if err != nil {
		return err
	}
	// Each such frame has megabytes: a tenth of the variations make the row fat many times over.
	frames := max(9, f.Times/10)
	jobs := map[*stranger]task.Record{}
	for n := range frames {
		s := crowd[n%len(crowd)]
		p, err := f.agreed(ctx, s.poolName())
		if err != nil {
			break
		}
		own, ok := jobs[s]
		if !ok {
			if own, err = s.jobOf(s.key, 1, func(j *task.Job) {
				j.Replicas, j.Outputs = task.MaxReplicas, []string{"o*"}
			}); err != nil {
				return err
			}
			jobs[s] = own
		}
		fat, err := fatRow(own.ID(), n)
		if err != nil {
			return err
		}
		if err := s.say(ctx, p.Leader, known(p.Epoch, recordPair(own), rowPair(own.ID(), 0, raw(fat)))); err != nil {
			return err
		}
	}
	row.tried(frames, "rows of 2 MB each that make three of %d MB, of strangers' jobs, by all guises", 2*frames/len(crowd))
	if err := rest(ctx); err != nil {
		return err
	}
	for _, name := range []string{openName, closedName} {
		if err := f.hunted(ctx, row, name, 2, "", func(*prey) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// playReplay brings records of other overlays, and those of jobs that are over.
func playReplay(ctx context.Context, f *field, row *Row) error {
	crowd, err := f.crowd(ctx, 2, passerby, fellow)
	if err != nil {
		return err
	}
	foreign := map[task.JobID]bool{}
	for n := range f.Times {
		s := crowd[n%len(crowd)]
		p, err := f.agreed(ctx, openName)
		if err != nil {
			break
		}
		of := []task.CID{task.CID(f.closed), task.RawCID([]byte("another")), "another", ""}[n%4]
		rec, err := record(newKey(), of, 1, func(j *task.Job) { j.Module = s.content.put(rawCodec, Guest(1)).cid() })
		if err != nil {
			continue // no record names its overlay so
		}
		s.content.put(jobCodec, rec.Encode())
		foreign[rec.ID()] = true
		m := known(p.Epoch, recordPair(rec))
		if n%3 == 0 {
			m = message.Message{Submit: &message.Submit{Record: rec, Accepted: n%2 == 0}}
		}
		if err := s.say(ctx, p.Leader, m); err != nil {
			return err
		}
	}
	row.tried(len(foreign), "records of other overlays, handed in and told of")
	if err := rest(ctx); err != nil {
		return err
	}
	taken, err := f.jobsOf(ctx, foreign)
	row.now("%d of them are jobs here", taken)
	if taken > 0 {
		row.broke("%d records of other overlays were taken", taken)
	}
	return err
}

// jobsOf counts jobs that the leaders know.
func (f *field) jobsOf(ctx context.Context, of map[task.JobID]bool) (n int, err error) {
	var list []struct {
		ID      task.JobID `json:"id"`
		Overlay overlay.ID `json:"overlay"`
	}
	if f.victim().Ended() {
		return 0, errors.New("the node has ended")
	}
	if err := f.victim().Get(ctx, "/v1/jobs", &list); err != nil {
		return 0, err
	}
	for _, j := range list {
		if of[j.ID] {
			n++
		}
	}
	return n, nil
}
