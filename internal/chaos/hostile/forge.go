package hostile

import (
	"context"
	"crypto/ed25519"
	"math"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// forgeries are words about tasks that were never leased to who says them.
func forgeries() []attack {
	return []attack{
		{id: "S5", play: playMadeUp, before: "results were made up by anybody, whatever `replicas` said: by reports " +
			"without a " +
			"lease, by many keys of one person, and by rows of workers that never existed"},
		{id: "S6", play: playFailed, before: "one key without a lease failed any task for good"},
		{id: "S7", play: playPoisonedStates, before: "any member named the state that a task went on from, and none " +
			"of more " +
			"work could take its place"},
		{id: "S8", play: playClosed, before: "any member's word closed a job without its results"},
	}
}

// A forgery makes one message about one task of a job; n counts what was said before.
type forgery func(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error)

// forge says forgeries about all tasks of a job until they were said often enough, by
// guises that may speak in its overlay.
func (f *field) forge(ctx context.Context, row *Row, p *prey, crowd []*stranger, times int, kinds ...forgery) error {
	sent := 0
	for sent < times {
		for index := range p.tasks {
			for _, kind := range kinds {
				s := crowd[sent%len(crowd)]
				pool, err := f.agreed(ctx, s.poolName())
				if err != nil {
					return nil //nolint:nilerr // which is judged
				}
				m, err := kind(s, p, pool.Epoch, index, sent)
				if err != nil {
					return err
				}
				if err := s.say(ctx, pool.Leader, m); err != nil {
					return err
				}
				sent++
			}
		}
	}
	row.tried(sent, "%d kinds of messages about each task of a job in %s", len(kinds), crowd[0].poolName())
	return nil
}

// meddle forges about a job in the open pool as strangers and members, and about one in the
// closed overlay as insiders.
func (f *field) meddle(ctx context.Context, row *Row, tasks int, more string, kinds ...forgery) error {
	for _, of := range []struct {
		name string
		as   []guise
	}{{openName, []guise{passerby, fellow, fellow}}, {closedName, []guise{insider}}} {
		crowd, err := f.crowd(ctx, 3, of.as...)
		if err != nil {
			return err
		}
		if err := f.hunted(ctx, row, of.name, tasks, more, func(p *prey) error {
			return f.forge(ctx, row, p, crowd, f.Times/2, kinds...)
		}); err != nil {
			return err
		}
		f.dismiss()
	}
	return nil
}

// someKey is the stranger's own, or that of somebody who does not exist.
func (s *stranger) someKey(n int) ed25519.PrivateKey {
	if n%2 == 0 {
		return s.key
	}
	return newKey()
}

func attemptAt(epoch uint64, n int) message.Attempt {
	return message.Attempt{Epoch: epoch - uint64(n%2), Seq: uint64(n % 32)}
}

func reported(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	r, err := signedBy(s.key, saying(p.id, index, "forged"))
	return ended(epoch, attemptAt(epoch, n), r), err
}

// invented is a row with results of workers that the teller makes.
func invented(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	row := &ledger.Row{}
	for i := range 1 + n%5 {
		r, err := signedBy(s.someKey(i+1), saying(p.id, index, "forged"))
		if err != nil {
			return message.Message{}, err
		}
		row.AddResult(attemptAt(epoch, i), r)
	}
	return known(epoch, rowPair(p.id, index, raw(row))), nil
}

func playMadeUp(ctx context.Context, f *field, row *Row) error {
	if err := f.meddle(ctx, row, 6, "", reported, invented); err != nil {
		return err
	}
	return f.meddle(ctx, row, 3, "replicas: 2\n", reported, invented)
}

func failing(id task.JobID, index, n int) task.Result {
	outcomes := []task.Outcome{task.Trapped, task.ExitFailure, task.TimedOut}
	r := task.Result{Task: task.TaskID{Job: id, Index: uint64(index)}, Outcome: outcomes[n%len(outcomes)],
		Message: "forged"}
	if r.Outcome == task.ExitFailure {
		r.ExitCode = 1
	}
	return r
}

func failed(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	r, err := signedBy(s.key, failing(p.id, index, n))
	return ended(epoch, attemptAt(epoch, n), r), err
}

func failedRow(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	row := &ledger.Row{}
	for i := range 5 {
		r, err := signedBy(s.someKey(i), failing(p.id, index, n+i))
		if err != nil {
			return message.Message{}, err
		}
		row.AddResult(attemptAt(epoch, i), r)
	}
	return known(epoch, rowPair(p.id, index, raw(row))), nil
}

func playFailed(ctx context.Context, f *field, row *Row) error {
	return f.meddle(ctx, row, 6, "", failed, failedRow)
}

// state is a checkpoint that nobody took. Some have a voucher: the stranger's own, with a receipt
// of its own making, or with one that nobody signed.
func state(s *stranger, p *prey, epoch uint64, index, n int) (ledger.Checkpoint, error) {
	fuels := []uint64{math.MaxUint64, 1, math.MaxInt64, 1e12}
	b := make([]byte, 1000+n)
	c := ledger.Checkpoint{CID: s.content.put(rawCodec, b).cid(), Fuel: fuels[n%len(fuels)]}
	if n%3 == 0 {
		return c, nil
	}
	id, self := task.TaskID{Job: p.id, Index: uint64(index)}, s.host.ID()
	receipt := &task.Receipt{Leader: self, Epoch: overlay.NextEpoch(epoch, self), Seq: uint64(n % 32),
		Issued: time.Now().UnixMilli()}
	if n%3 == 1 {
		signed, err := task.NewReceipt(s.key, self, id, self, *receipt)
		if err != nil {
			return c, err
		}
		receipt = signed
	}
	v, err := task.Vouch(s.key, receipt, c.ToVouch(id, [32]byte{}, nil))
	c.Voucher = v
	return c, err
}

func bestState(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	c, err := state(s, p, epoch, index, n)
	return known(epoch, rowPair(p.id, index, raw(&ledger.Row{Best: &c}))), err
}

func savedState(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
	c, err := state(s, p, epoch, index, n)
	return message.Message{Report: &message.Report{Epoch: epoch, Saved: []message.SavedState{{
		Task: task.TaskID{Job: p.id, Index: uint64(index)}, Attempt: attemptAt(epoch, n), Checkpoint: c}}}}, err
}

func playPoisonedStates(ctx context.Context, f *field, row *Row) error {
	var hunted []*prey
	kind := func(s *stranger, p *prey, epoch uint64, index, n int) (message.Message, error) {
		if len(hunted) == 0 || hunted[len(hunted)-1] != p {
			hunted = append(hunted, p)
		}
		return bestState(s, p, epoch, index, n)
	}
	if err := f.meddle(ctx, row, 6, "", kind, savedState); err != nil {
		return err
	}
	begun := 0
	for _, p := range hunted {
		v, err := p.view(ctx)
		if err != nil {
			return err
		}
		for _, t := range v.List {
			for _, a := range t.Attempts {
				if a.FromCheckpoint {
					begun++
				}
			}
		}
	}
	row.now("%d attempts went on from a state that was made up", begun)
	if begun > 0 {
		row.broke("%d attempts went on from a state that was made up", begun)
	}
	return nil
}

func closing(_ *stranger, p *prey, epoch uint64, _, n int) (message.Message, error) {
	all := ledger.Set{{From: 0, To: uint64(p.tasks)}}
	facts := []ledger.Facts{{Done: all, Delivery: 1}, {Failed: all}, {Expired: true}, {Done: all,
		Delivery: ledger.MaxDelivery},
		{Cancel: make([]byte, ed25519.SignatureSize)}}
	one := facts[n%len(facts)]
	return known(epoch, message.Pair{Key: ledger.FactsKey(p.id), Value: raw(&one)}), nil
}

func gone(_ *stranger, p *prey, _ uint64, _, n int) (message.Message, error) {
	if n%2 == 0 {
		return message.Message{Cancel: &message.Cancel{Job: p.id, Signature: make([]byte, ed25519.SignatureSize)}}, nil
	}
	return message.Message{Got: &message.Got{Job: p.id, Have: []message.Range{{From: 0, To: uint64(p.tasks)}},
		Final: true}}, nil
}

func playClosed(ctx context.Context, f *field, row *Row) error {
	return f.meddle(ctx, row, 6, "", closing, gone)
}
