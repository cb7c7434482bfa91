package hostile

import (
	"context"
	"time"

	"godwit/internal/pause"
	"godwit/scheduler/message"
	"godwit/task"
)

// quotas are attacks of people who hand in too much.
func quotas() []attack {
	return []attack{{id: "S13", play: playGreed, plain: true,
		before: "priority was the submitter's own word, and an honest job that came first got 0 of 160 leases; jobs " +
			"of invented " +
			"submitters had no bound"}}
}

// askedFor is longer than a leader asks the submitter of a job that it was told of, before
// anything of it is placed.
const askedFor = 8 * time.Second

// playGreed floods the pool with jobs while an honest one is to end.
func playGreed(ctx context.Context, f *field, row *Row) error {
	crowd, err := f.crowd(ctx, 4, fellow, passerby)
	if err != nil {
		return err
	}
	module := Guest(100 * usualSpin)
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
		const batch = 5
		handedIn, key := n%2 == 0, s.key // a job is handed in by its submitter, and told of by anybody
		var messages []message.Message
		for range batch {
			if !handedIn {
				key = newKey()
			}
			rec, err := record(key, task.CID(f.open), 1_000_000, func(j *task.Job) {
				j.Module = s.content.put(rawCodec, module).cid()
				if n%4 > 1 { // nobody has it
					j.Module = task.RawCID(j.Nonce)
				}
				j.Priority, j.Weight = 1000, 1000
				j.Timeout, j.Replicas, j.Memory = task.MaxDuration, 1+n/2%2, 1<<20
			})
			if err != nil {
				return err
			}
			s.content.put(jobCodec, rec.Encode())
			if handedIn {
				messages = append(messages, message.Message{Submit: &message.Submit{Record: rec}})
			} else {
				messages = append(messages, known(p.Epoch, recordPair(rec)))
			}
			sent++
		}
		if err := s.say(ctx, p.Leader, messages...); err != nil {
			return err
		}
	}
	row.tried(sent, "jobs of a million long tasks each, half of them of modules that nobody has, of priority and weight "+
		"1000, of as many submitters, handed in and told of, within %.0f s", time.Since(begun).Seconds())
	if err := pause.For(ctx, askedFor); err != nil {
		return err
	}
	if list, err = f.pools(ctx, f.victim()); err != nil {
		return err
	}
	row.now("%d of them are in the ledger", list[openName].Jobs-before)
	return f.hunted(ctx, row, openName, 6, "", func(*prey) error { return nil })
}
