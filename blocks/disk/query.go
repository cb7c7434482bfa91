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
	before   string // what stands before the keys in the database
	keysOnly bool
	begun    bool
	ended    bool
}

func (s *store) iterate(db *database, before, prefix string, keysOnly bool) (*iteration, error) {
	low := before + ds.NewKey(prefix).String()
	if low != before+"/" {
		low += "/"
	}
	high := low[:len(low)-1] + "0" // which follows "/"
	it, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: []byte(low), UpperBound: []byte(high)})
	if err != nil {
		return nil, diskError(err)
	}
	return &iteration{store: s, it: it, before: before, keysOnly: keysOnly}, nil
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
		e.Key = string(i.it.Key()[len(i.before):])
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
	l, err := s.listing(q.Prefix, keysOnly)
	if err != nil {
		return nil, err
	}
	all := query.ResultsFromIterator(q, query.Iterator{
		Next:  func() (query.Result, bool) { return l.next(ctx) },
		Close: l.close,
	})
	rest := q
	rest.Prefix = "" // all have it already
	return query.NaiveQueryApply(rest, all), nil
}

// A listing goes through bulk, the segments and log, in this order.
type listing struct {
	store             *store
	bulk, placed, log *iteration
	keysOnly          bool
}

func (s *store) listing(prefix string, keysOnly bool) (*listing, error) {
	l := &listing{store: s, keysOnly: keysOnly}
	var errs [3]error
	l.bulk, errs[0] = s.iterate(s.bulk, "", prefix, keysOnly)
	l.placed, errs[1] = s.iterate(s.bulk, placePrefix, prefix, true)
	l.log, errs[2] = s.iterate(s.log, "", prefix, keysOnly)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// close ends what was begun.
func (l *listing) close() (err error) {
	for _, i := range []*iteration{l.bulk, l.placed, l.log} {
		if i != nil {
			err = errors.Join(err, i.close())
		}
	}
	return err
}

func (l *listing) next(ctx context.Context) (query.Result, bool) {
	if r, ok := l.bulk.next(); ok {
		return r, true
	}
	for {
		r, ok := l.placed.next()
		if !ok {
			break
		}
		if r.Error != nil {
			return r, true
		}
		r, have := l.placedValue(ctx, r)
		if have || r.Error != nil {
			return r, true
		}
	}
	for {
		r, ok := l.log.next()
		if !ok || r.Error != nil {
			return r, ok
		}
		k := ds.RawKey(r.Key)
		if !inBulk(k) {
			return r, true
		}
		have, err := l.store.bulk.Has(ctx, k)
		if err == nil && !have {
			_, have, err = l.store.place(k)
		}
		if err != nil {
			return query.Result{Error: err}, true
		}
		if !have {
			return r, true
		}
	}
}

// placedValue adds the value to a key that has a place. It reports false for one that bulk gave
// already, or that is gone since.
func (l *listing) placedValue(ctx context.Context, r query.Result) (query.Result, bool) {
	k := ds.RawKey(r.Key)
	if have, err := l.store.bulk.Has(ctx, k); have || err != nil {
		return query.Result{Error: err}, false
	}
	if l.keysOnly {
		return r, true
	}
	err := l.store.viewPlaced(k, func(v []byte) error {
		r.Value, r.Size = bytes.Clone(v), len(v)
		return nil
	})
	if errors.Is(err, ds.ErrNotFound) {
		return query.Result{}, false
	}
	if err != nil {
		return query.Result{Error: err}, false
	}
	return r, true
}
