package node

import (
	"context"
	"errors"
	"time"

	ds "github.com/ipfs/go-datastore"

	"godwit/scheduler/message"
)

const (
	// learntKey is where it is kept what the pool learnt by what came true of all members.
	learntKey = "learnt"
	// noteLearntEvery is how often that is made durable, 14 kB: it comes of days, so an hour
	// less of it changes little.
	noteLearntEvery = time.Hour
)

// recallLearnt has the pool know again what it learnt before the node was restarted. What
// cannot be read is learnt anew: it makes forecasts better, and promises nothing.
func (ps *past) recallLearnt(ctx context.Context) {
	b, err := ps.store.get(ctx, learntKey)
	if errors.Is(err, ds.ErrNotFound) {
		return
	}
	if err == nil {
		err = ps.pool.Recall(b)
	}
	if err != nil {
		ps.log.Warn("what was learnt of all members' stays cannot be read, and is learnt anew", "err", err)
	}
}

// noteLearnt makes durable what the pool learnt when that is due.
func (ps *past) noteLearnt(now time.Time) {
	if now.Sub(ps.learntAt) < noteLearntEvery {
		return
	}
	b := ps.pool.Learnt()
	if b == nil {
		return
	}
	ps.learntAt = now
	ps.pending = append(ps.pending, pending{machine: message.Persist{Key: learntKey, Value: b}})
}
