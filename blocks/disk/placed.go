package disk

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
)

// place returns where a value lies in the segments, if it does.
func (s *store) place(k ds.Key) (p place, have bool, _ error) {
	var v []byte
	var done io.Closer
	err := s.guard(func() (err error) { v, done, err = s.bulk.pebble.Get(placeKey(k)); return err })
	if err == pebble.ErrNotFound {
		return place{}, false, nil
	}
	if err != nil {
		return place{}, false, fmt.Errorf("looking for %s: %w", k, err)
	}
	p, ok := readPlace(v)
	if err := s.guard(done.Close); err != nil {
		return place{}, false, err
	}
	if !ok {
		return place{}, false, s.damaged(fmt.Errorf("%w: the place of %s is none", ErrCorrupt, k))
	}
	return p, true, nil
}

// buffers are what values are read into to be seen, and no longer: a value is as large as a block.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// viewPlaced is View of what lies in a segment.
func (s *store) viewPlaced(k ds.Key, see func([]byte) error) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	room := func(n int) []byte {
		if cap(*buffer) < n {
			*buffer = make([]byte, n)
		}
		return (*buffer)[:n]
	}
	var before place
	for again := false; ; again = true {
		p, have, err := s.place(k)
		if err != nil {
			return err
		}
		if !have {
			return ds.ErrNotFound
		}
		v, err := s.segments.read(p, room)
		if errors.Is(err, errNoSegment) && !(again && p == before) {
			before = p // it may have moved since
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", k, s.placeError(err))
		}
		return see(v)
	}
}

// readPlaced reads what lies at a place that nobody moves meanwhile.
func (s *store) readPlaced(p place, room func(bytes int) []byte) ([]byte, error) {
	v, err := s.segments.read(p, room)
	return v, s.placeError(err)
}

// placeError says that the store is damaged where it is.
func (s *store) placeError(err error) error {
	if errors.Is(err, errNoSegment) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return s.damaged(err)
}

// damaged has the store take no more when an error says that it is damaged.
func (s *store) damaged(err error) error {
	if errors.Is(err, ErrCorrupt) {
		s.disk.fail(err)
	}
	return err
}

// places calls see with each place of bulk as it is now, and ends with its error.
func (s *store) places(see func(k ds.Key, p place) error) error {
	it, err := s.iterate(s.bulk, placePrefix, BulkPrefix, false)
	if err != nil {
		return err
	}
	for {
		r, ok := it.next()
		if !ok {
			return it.close()
		}
		p, is := readPlace(r.Value)
		err := r.Error
		if err == nil && !is {
			err = s.damaged(fmt.Errorf("%w: the place of %s is none", ErrCorrupt, r.Key))
		}
		if err == nil {
			err = see(ds.RawKey(r.Key), p)
		}
		if err != nil {
			return errors.Join(err, it.close())
		}
	}
}
