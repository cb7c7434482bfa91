package hostile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// pools are lies about cells and results by strangers of a pool. Package virtual plays their variations; here one
// of each is played on real nodes.
func pools() []attack {
	return []attack{
		{id: "T1", play: playSplit, plain: true, threat: "a stranger's summary splits a pool",
			before: "one key split any undivided pool within 20 s, again and again: in 100 of 100 runs"},
		{id: "T2", play: playSelfDeclared, plain: true, threat: "results of self-declared cell leaders",
			before: "one or two keys ended a job with invented results in half a minute, whatever its replicas: in 96 of " +
				"100 runs"},
		{id: "T3", play: playQueried, plain: true, limit: 8 * time.Minute,
			threat: "results of queried members without a lease",
			before: "a member that never had a lease ended a job with invented results when the submitter queried it: in " +
				"100 of 100 runs"},
		{id: "T4", threat: "a summary that captures a newcomer",
			before: "one summary moved a newcomer into a cell of strangers, where it followed one of them: in 72 of 100 runs"},
		{id: "T5", threat: "keys that fill a cell's summary table",
			before: "four keys hid a cell's next leader from all others for as long as they liked"},
		{id: "T6", threat: "adverts that lock out submitters of other cells",
			before: "1,024 adverts of unknown keys kept a cell from running tasks of any other cell's submitters"},
		{id: "T18", threat: "many self-declared leaders of idle cells",
			before: "32 keys got 99 % of a job's waiting tasks, and kept them for ten minutes"},
	}
}

// splitLimit is how long real nodes are told of cells: 20 s were enough for every pool that was split.
const splitLimit = 75 * time.Second

// A claimant is a stranger that says that it leads a cell of the open pool.
type claimant struct {
	*stranger
	bits uint8
}

// claim brings a stranger to the nodes that advertises a cell of one bit and answers questions about cells with
// a summary of it. half is the cell that its key has to be in.
func (f *field) claim(ctx context.Context, half overlay.Cell) (*claimant, error) {
	for {
		s, err := f.prepare(passerby) // its adverts come later: no node lists who is in another cell
		if err != nil {
			return nil, err
		}
		c := &claimant{s, half.Bits}
		if !half.Holds(overlay.CellNumber(f.open, c.id())) {
			continue
		}
		s.offer.Bits, s.offer.Slots = half.Bits, 0
		s.onCells = func() []byte { return c.packed() }
		f.mu.Lock()
		f.strangers = append(f.strangers, s)
		f.mu.Unlock()
		return c, s.begin(ctx)
	}
}

// summary returns a summary of the cell that the stranger says it leads, signed now.
func (c *claimant) summary() (overlay.Summary, error) {
	s := overlay.Summary{Overlay: c.f.open, Leader: c.id(), Cell: overlay.CellOf(overlay.CellNumber(c.f.open, c.id()),
		c.bits), Epoch: overlay.NextEpoch(1<<24, c.id()), Issued: time.Now(), Members: 300, Slots: 4096, Idle: 4096}
	for bits := range c.bits { // nobody else has divided the pool
		d := overlay.Division{Leader: c.id(), Epoch: s.Epoch, Issued: s.Issued}
		if err := d.Sign(c.f.open, bits, c.key); err != nil {
			return s, err
		}
		s.Lineage = append(s.Lineage, d)
	}
	return s, s.Sign(c.key)
}

// packed is the summary as an answer to a question about cells.
func (c *claimant) packed() []byte {
	s, err := c.summary()
	if err != nil {
		return nil
	}
	b, err := s.Encode()
	if err != nil {
		return nil
	}
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
}

// insist renews adverts and summaries, and does more each time, until ctx ends or more returns an error.
func insist(ctx context.Context, all []*claimant, limit time.Duration, more func() error) error {
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		for _, c := range all {
			if err := c.advertise(0); err != nil {
				return err
			}
			s, err := c.summary()
			if err != nil {
				return err
			}
			if err := c.host.SaySummary(s); err != nil {
				return err
			}
		}
		if err := more(); err != nil {
			return err
		}
		if err := pause.For(ctx, 5*time.Second); err != nil {
			return err
		}
	}
	return nil
}

// errMoved ends an attack that has succeeded.
var errMoved = errors.New("a node went into another cell")

// moved returns errMoved if a node's log says that it went into another cell.
func (f *field) moved() error {
	for _, n := range f.nodes {
		if strings.Contains(n.Said(), "in another cell") {
			return errMoved
		}
	}
	return nil
}

func playSplit(ctx context.Context, f *field, row *Row) error {
	c, err := f.claim(ctx, overlay.CellOf(0, 1))
	if err != nil {
		return err
	}
	return f.hunted(ctx, row, openName, 10, "", func(*prey) error {
		err := insist(ctx, []*claimant{c}, splitLimit, f.moved)
		row.tried(1, "summaries of a cell of one bit for %v, to two real nodes", splitLimit)
		if errors.Is(err, errMoved) {
			row.broke("real nodes: %v", err)
			return nil
		}
		return err
	})
}

// both returns claimants of both halves of the open pool.
func (f *field) both(ctx context.Context) (out []*claimant, err error) {
	for prefix := range uint16(2) {
		c, err := f.claim(ctx, overlay.Cell{Bits: 1, Prefix: prefix})
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func playSelfDeclared(ctx context.Context, f *field, row *Row) error {
	const tasks, replicas = 12, 2
	all, err := f.both(ctx)
	if err != nil {
		return err
	}
	return f.hunted(ctx, row, openName, tasks, fmt.Sprintf("replicas: %d\n", replicas), func(p *prey) error {
		return f.paused(ctx, func() error {
			row.tried(1, "invented results of all tasks for %v, to two real nodes", splitLimit)
			return insist(ctx, all, splitLimit, func() error {
				for _, c := range all {
					if err := c.bring(ctx, p, replicas, false); err != nil {
						return err
					}
				}
				return nil
			})
		})
	})
}

// bring sends the owner of a job invented results of all tasks, from invented workers or, with made, from the
// stranger itself.
func (s *stranger) bring(ctx context.Context, p *prey, replicas int, made bool) error {
	m := &message.Progress{Job: p.id, Made: made, Summary: message.JobSummary{State: message.JobRunning,
		Total: uint64(p.tasks), Running: uint64(p.tasks)}}
	for index := range p.tasks {
		t := message.TaskSummary{Index: uint64(index)}
		for k := range replicas {
			key := s.key
			if k > 0 || !made {
				key = newKey()
			}
			r := saying(p.id, index, fmt.Sprintf("made up %d", index))
			r.Receipt = &task.Receipt{Leader: s.id(), Epoch: overlay.NextEpoch(1<<24, s.id()), Seq: uint64(index),
				Issued: time.Now().UnixMilli()}
			signed, err := signedBy(key, r)
			if err != nil {
				return err
			}
			t.Results = append(t.Results, signed)
		}
		m.Tasks = append(m.Tasks, t)
	}
	return s.say(ctx, p.at.Peer(), message.Message{Progress: m})
}

// queriedAfter is when a submitter has queried all members about a job of which some tasks ended and then
// nothing came: coordinators after one and three minutes, and then members.
const queriedAfter = 5 * time.Minute

func playQueried(ctx context.Context, f *field, row *Row) error {
	s, err := f.prepare(fellow)
	if err != nil {
		return err
	}
	s.offer.Slots = 0
	var mu sync.Mutex
	var hunted *prey
	asked := 0
	s.onMessage = func(_ task.PeerID, _ overlay.ID, m *message.Message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Got != nil && m.Got.Asks && hunted != nil && m.Got.Job == hunted.id {
			asked++
			_ = s.bring(ctx, hunted, 1, true) // it is asked again
		}
	}
	f.mu.Lock()
	f.strangers = append(f.strangers, s)
	f.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	return f.hunted(ctx, row, openName, 60, "", func(p *prey) error {
		mu.Lock()
		hunted = p
		mu.Unlock()
		if err := until(ctx, preyLimit, func() error {
			if v, err := p.view(ctx); err != nil || v.Held < 3 {
				return fmt.Errorf("%d results, %w", v.Held, err)
			}
			return nil
		}); err != nil {
			return err
		}
		return f.paused(ctx, func() error {
			if err := pause.For(ctx, queriedAfter); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			row.tried(asked, "answers with invented results to a real node's queries")
			if asked == 0 {
				row.broke("the submitter queried nobody, so that the attack was not played")
			}
			return nil
		})
	})
}
