package hostile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// thefts are of leases.
func thefts() []attack {
	return []attack{
		{id: "S9", play: playTheft, before: "anybody took running leases from their workers by a word, and kept them " +
			"for ever"},
		{id: "S20", play: playBoasts, before: "slots to 4,096, memory to a pebibyte and speed to a million were a " +
			"member's own " +
			"words, and placement went by them"},
	}
}

// holding says that a task runs at a peer that takes none: as a fresh attempt, or as one after another's.
func holding(_ *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	h := message.Held{Task: task.TaskID{Job: p.id, Index: uint64(index)}, Running: n%3 != 0,
		Attempt: message.Attempt{Epoch: epoch + uint64(n%2)*(1<<24), Seq: uint64(n % 64)}}
	if n%2 == 1 {
		h.After = message.Attempt{Epoch: epoch, Seq: uint64(n / 2 % 64)}
	}
	return message.Message{Report: &message.Report{Epoch: epoch, State: uint8(overlay.Available),
		Held: []message.Held{h}}}, nil
}

// refused gives back a lease of somebody else's.
func refused(_ *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	return message.Message{Report: &message.Report{Epoch: epoch, Refused: []message.Refusal{{
		Task: task.TaskID{Job: p.id, Index: uint64(index)}, Attempt: attemptAt(epoch, n), Reason: "no",
		RetryAfter: time.Hour}},
		Unmoved: []message.Unmoved{{Task: task.TaskID{Job: p.id, Index: uint64(index)}, Attempt: attemptAt(epoch, n),
			As: attemptAt(epoch, n+1)}}}}, nil
}

// hoarding says every second of each task that it runs here, as one attempt that stays.
func (s *stranger) hoarding(ctx context.Context, p *prey) {
	for n := 0; pause.For(ctx, reportEvery) == nil; n++ {
		select {
		case <-s.ended:
			return
		default:
		}
		pool, err := s.f.agreed(ctx, s.poolName())
		if err != nil {
			continue
		}
		r := &message.Report{Epoch: pool.Epoch, State: uint8(overlay.Available)}
		for i := range p.tasks {
			r.Held = append(r.Held, message.Held{Task: task.TaskID{Job: p.id, Index: uint64(i)}, Running: true,
				Attempt: message.Attempt{Epoch: pool.Epoch, Seq: uint64(1000 + i)}})
		}
		_ = s.say(ctx, pool.Leader, message.Message{Report: r}) // the next says it again
	}
}

func playTheft(ctx context.Context, f *field, row *Row) error {
	// Each stranger goes on hoarding the tasks of the job that it forges about, until it is
	// dismissed.
	var began sync.Map
	kept := func(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
		if _, before := began.LoadOrStore(s, true); !before {
			go s.hoarding(context.WithoutCancel(ctx), p)
		}
		return holding(s, p, epoch, index, n)
	}
	return f.meddle(ctx, row, 8, "", kept, refused)
}

// hoardLimit is how long jobs may take whose first leases went to members that keep them:
// some turns of those, each ended by the leader.
const hoardLimit = 100 * time.Second

// playBoasts has members that claim to be the best machines there are take what they are
// given, and do nothing.
func playBoasts(ctx context.Context, f *field, row *Row) error {
	const boasters, tasks = 4, 30
	job, err := f.hunt(ctx, openName, tasks, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	var boast []*worker
	for i := range boasters {
		claims := overlay.Advert{Slots: overlay.MaxSlots, Memory: overlay.MaxMemory, Speed: overlay.MaxSpeed}
		w, err := f.labour(ctx, guise(1+i%2), job.id, overlay.MaxSlots, claims,
			func(*message.Lease) *task.Result { return nil })
		if err != nil {
			return err
		}
		boast = append(boast, w)
	}
	second, err := f.hunt(ctx, openName, tasks, "")
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	for _, w := range boast {
		w.mu.Lock()
		w.after = second.id
		w.mu.Unlock()
	}
	row.tried(boasters, "members that claim %d slots, a pebibyte and a million times the speed, and hold what they "+
		"are given",
		overlay.MaxSlots)
	begun := time.Now()
	for _, p := range []*prey{job, second} {
		if err := p.settle(ctx, max(time.Second, hoardLimit-time.Since(begun))); err != nil {
			row.broke("%v", err)
		}
	}
	taken := 0
	for _, w := range boast {
		n, err := w.came()
		if err != nil {
			return fmt.Errorf("a worker that boasts: %w", err)
		}
		taken += n
	}
	row.now("they were given %d leases of two jobs of %d tasks, which ended after %.0f s", taken, tasks,
		time.Since(begun).Seconds())
	return nil
}
