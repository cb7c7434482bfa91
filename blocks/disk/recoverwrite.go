package disk

import (
	"github.com/cockroachdb/pebble/v2"
)

// A writing writes pairs to a new database, in batches.
type writing struct {
	disk  *disk
	db    *database
	rest  bool // space is to be left on the disk
	batch *pebble.Batch
}

// add writes a pair, or deletes its key. It returns errEnough if the disk has no space for more.
func (w *writing) add(p pair) error {
	if w.batch == nil {
		w.batch = w.db.pebble.NewBatch()
	}
	var err error
	if p.deleted {
		err = w.batch.Delete(p.key, nil)
	} else {
		err = w.batch.Set(p.key, p.value, nil)
	}
	if err != nil || w.batch.Len() < batchBytes {
		return err
	}
	return w.commit()
}

func (w *writing) commit() error {
	if w.batch == nil {
		return nil
	}
	defer func() { _ = w.batch.Close(); w.batch = nil }()
	if w.disk.room(w.batch.Len(), w.rest) != nil {
		if w.rest {
			return errEnough
		}
		return ErrFull
	}
	return w.batch.Commit(pebble.NoSync)
}

// end writes the rest, and returns the number of pairs of a class that the database has now.
func (w *writing) end(class func(key string) bool) (n int, err error) {
	if err := w.commit(); err != nil && err != errEnough {
		return 0, err
	}
	it, err := w.db.pebble.NewIter(nil)
	if err != nil {
		return 0, err
	}
	for more := it.First(); more; more = it.Next() {
		if class(string(it.Key())) {
			n++
		}
	}
	return n, it.Close()
}

// sound reports whether a pair is no place in the segments, or one at which the value is as it was
// written.
func (s *segments) sound(p pair) bool {
	if p.deleted || len(p.key) == 0 || string(p.key[:1]) != placePrefix {
		return true
	}
	at, ok := readPlace(p.value)
	if !ok {
		return false
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	_, err := s.read(at, func(n int) []byte {
		if cap(*buffer) < n {
			*buffer = make([]byte, n)
		}
		return (*buffer)[:n]
	})
	return err == nil
}
