package p2p

import (
	"bytes"
	"errors"
	"fmt"

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

// guard reads, and makes what pebble panics with on a damaged file an error: it does
// so for some damages to files of blocks (blob files) that it means to report.
func (s *store) guard(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, r)
			s.disk.fail(err)
		}
	}()
	err = diskError(read())
	if errors.Is(err, ErrCorrupt) {
		s.disk.fail(err)
	}
	return err
}

// close ends the iteration.
func (i *iteration) close() error { return i.store.guard(i.it.Close) }
