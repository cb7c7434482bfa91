package hostile

import (
	"context"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// quotas are attacks of people who hand in too much.
func quotas() []attack {
	return []attack{{id: "S13", play: playGreed, plain: true,
		before: "priority was the submitter's own word, and an honest job that came first got 0 of 160 leases; jobs of invented " +
			"submitters had no bound"}}
}

// playGreed floods the pool with jobs while an honest one is to end.
func playGreed(ctx context.Context, f *field, row *Row) error {
	crowd, err := f.crowd(ctx, 4, fellow, passerby)
	if err != nil {
		return err
	}
	module := guest(100 * usualSpin)
	list, err := f.pools(ctx, f.victim())
	if err != nil {
		return err
	}
	before, begun, sent := list[openName].Jobs, time.Now(), 0
	for n := range f.Times {
		s := crowd[n%len(crowd)]
		p, err := f.agreed(ctx, openName)
		if err != nil {
			break
		}
		var pairs []message.Pair
		for range 5 {
			rec, err := record(s.someKey(n), task.CID(f.open), 1_000_000, func(j *task.Job) {
				j.Module, j.Priority, j.Weight = s.content.put(rawCodec, module).cid(), 1000, 1000
				j.Timeout, j.Replicas, j.Memory = task.MaxDuration, 1+n%task.MaxReplicas, 1<<20
			})
			if err != nil {
				return err
			}
			s.content.put(jobCodec, rec.Encode())
			pairs = append(pairs, recordPair(rec))
			if err := s.say(ctx, p.Leader, message.Message{Submit: &message.Submit{Record: rec}}); err != nil {
				return err
			}
			sent++
		}
		if err := s.say(ctx, p.Leader, known(p.Epoch, pairs...)); err != nil {
			return err
		}
	}
	row.tried(sent, "jobs of a million long tasks each, of priority and weight 1000, of as many submitters, handed in and told "+
		"of, within %.0f s", time.Since(begun).Seconds())
	if err := rest(ctx); err != nil {
		return err
	}
	if list, err = f.pools(ctx, f.victim()); err != nil {
		return err
	}
	row.now("%d of them are in the ledger", list[openName].Jobs-before)
	return f.hunted(ctx, row, openName, 6, "", func(*prey) error { return nil })
}
