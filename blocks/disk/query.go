package disk

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// An iteration goes through the pairs of a database below a prefix, in the order of
// their keys. Damage ends it with an error, where a plain end would hide what is
// missing.
type iteration struct {
	store    *store
	it       *pebble.Iterator
	keysOnly bool
	begun    bool
	ended    bool
}

func (s *store) iterate(db *database, prefix string, keysOnly bool) (*iteration, error) {
	low := ds.NewKey(prefix).String()
	if low != "/" {
		low += "/"
	}
	high := low[:len(low)-1] + "0" // which follows "/"
	it, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: []byte(low), UpperBound: []byte(high)})
	if err != nil {
		return nil, diskError(err)
	}
	return &iteration{store: s, it: it, keysOnly: keysOnly}, nil
}

// next returns the next pair, or the error that ends the iteration, or false.
func (i *iteration) next() (query.Result, bool) {
	if i.ended {
		return query.Result{}, false
	}
	var e query.Entry
	more := false
	err := i.store.guard(func() (err error) {
		if i.begun {
			more = i.it.Next()
		} else {
			more, i.begun = i.it.First(), true
		}
		if !more {
			return i.it.Error()
		}
		e.Key = string(i.it.Key())
		if !i.keysOnly {
			var v []byte
			v, err = i.it.ValueAndErr()
			e.Value, e.Size = bytes.Clone(v), len(v)
		}
		return err
	})
	if err == nil && !more {
		if state := i.store.disk.state(); errors.Is(state, ErrCorrupt) {
			err = state
		}
	}
	i.ended = err != nil || !more
	return query.Result{Entry: e, Error: err}, more || err != nil
}

// close ends the iteration.
func (i *iteration) close() error { return i.store.guard(i.it.Close) }

// Query implements ds.Read. A key that is in both databases, as one may be after
// a crash, is given once.
func (s *store) Query(ctx context.Context, q query.Query) (query.Results, error) {
	keysOnly := q.KeysOnly && !q.ReturnsSizes && len(q.Filters) == 0
	bulk, err := s.iterate(s.bulk, q.Prefix, keysOnly)
	if err != nil {
		return nil, err
	}
	log, err := s.iterate(s.log, q.Prefix, keysOnly)
	if err != nil {
		return nil, errors.Join(err, bulk.close())
	}
	next := func() (query.Result, bool) {
		if r, ok := bulk.next(); ok {
			return r, true
		}
		for {
			r, ok := log.next()
			if !ok || r.Error != nil {
				return r, ok
			}
			k := ds.RawKey(r.Key)
			if !inBulk(k) {
				return r, true
			}
			if have, err := s.bulk.Has(ctx, k); err != nil {
				return query.Result{Error: err}, true
			} else if !have {
				return r, true
			}
		}
	}
	both := query.ResultsFromIterator(q, query.Iterator{
		Next:  next,
		Close: func() error { return errors.Join(bulk.close(), log.close()) },
	})
	rest := q
	rest.Prefix = "" // both have it already
	return query.NaiveQueryApply(rest, both), nil
}
