package hostile

import (
	"context"
	"fmt"
	"math"

	"godwit/scheduler/message"
	"godwit/task"
)

// poisons are frames that end whoever reads them.
func poisons() []attack {
	return []attack{{id: "S1", play: playPoison,
		before: "one frame of 539 bytes ended any node; a time after the year 9999 made a row that nobody could read again"}}
}

// badTimes are instants that decode in some form and are none that a node writes.
var badTimes = []any{
	int64(math.MinInt64), int64(math.MinInt64) + 1, int64(math.MaxInt64), int64(1e15), int64(253402300800),
	int64(-62135596801), int64(-1), uint64(math.MaxUint64), -1e300, 1e300, math.Inf(1), math.NaN(), 1.5,
	"10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00+14:00", "9999-12-31T23:59:60Z",
	"-292277022399-01-01T00:00:00Z", "", []byte("2026-01-01T00:00:00Z"), map[int]any{}, true,
}

// logOf is an attempt's log with a time in one of its fields.
func logOf(field int, at any) map[int]any {
	log := map[int]any{1: map[int]any{1: uint64(7), 2: uint64(0)}, 2: "w", 3: nil, 4: nil, 5: "", 6: ""}
	log[field] = at
	return log
}

// poisoned are frames with such a time.
func poisoned(own task.Record, id task.JobID, epoch uint64, field int, at any) ([][]byte, error) {
	const progress, copies, knows = 3, 11, 9
	log := []any{logOf(field, at)}
	row := raw(map[int]any{1: nil, 2: nil, 3: log})
	var frames [][]byte
	for _, pairs := range [][]message.Pair{{recordPair(own), rowPair(own.ID(), 0, row)}, {rowPair(id, 1, row)}} {
		frame, err := message.EncodeFrame([]message.Message{known(epoch, pairs...)})
		if err != nil {
			return nil, err
		}
		frames = append(frames, frame)
	}
	live := []any{map[int]any{1: map[int]any{1: string(id), 2: 1}, 2: []any{map[int]any{1: "w", 2: map[int]any{1: 1, 2: 1},
		3: at}}}}
	return append(frames,
		raw([]any{map[int]any{progress: map[int]any{1: string(id), 2: []any{map[int]any{1: 0, 2: true, 3: nil, 4: log}},
			3: map[int]any{1: "running", 2: 1}}}}),
		raw([]any{map[int]any{copies: map[int]any{1: epoch, 2: 1, 3: 1, 4: nil, 5: nil, 6: live, 7: nil}}}),
		raw([]any{map[int]any{knows: at}})), nil
}

func playPoison(ctx context.Context, f *field, row *Row) error {
	p, err := f.hunt(ctx, openName, 4, "")
	if err != nil {
		return err
	}
	crowd, err := f.crowd(ctx, len(guises))
	if err != nil {
		return err
	}
	jobs := map[*stranger]task.Record{}
	for _, s := range crowd {
		if jobs[s], err = s.jobOf(s.key, 1, nil); err != nil {
			return err
		}
	}
	sent, dead := 0, func() bool { return f.victim().Ended() || f.helper().Ended() }
	for n := 0; n < f.Times && !dead(); n++ {
		s := crowd[n%len(crowd)]
		pool, err := f.agreed(ctx, s.poolName())
		if err != nil {
			break // which is judged
		}
		at, field := badTimes[n%len(badTimes)], 3+n/len(badTimes)%2
		frames, err := poisoned(jobs[s], p.id, pool.Epoch, field, at)
		if err != nil {
			return err
		}
		for _, frame := range frames {
			for _, n := range f.nodes {
				if err := s.frame(ctx, n.Peer(), s.pool(), frame); err != nil {
					return err
				}
				sent++
			}
		}
	}
	row.tried(sent, "frames with %d forms of time in logs of attempts and live leases, in Known, Progress and Copy, to "+
		"leader and follower, by %d guises", len(badTimes), len(guises))
	if err := rest(ctx); err != nil {
		return err
	}
	if dead() {
		return nil
	}
	row.must("the job that rows were poisoned of", p.settle(ctx, preyLimit))
	for _, args := range [][]string{{"job", string(p.id)}, {"jobs"}} {
		_, err := f.helper().Verb(ctx, f.dir, args...)
		row.must(fmt.Sprintf("godwit %s", args[0]), err)
	}
	return nil
}
