package disk

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// safely makes a panic of pebble's about damaged bytes an error.
func safely(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return read()
}

// openTable opens a table.
func (r *remains) openTable(file uint64) (t *sstable.Reader, err error) {
	f, err := r.fs.Open(r.path(file, tableSuffix))
	if err != nil {
		return nil, err
	}
	readable, err := readableFile(f)
	if err != nil {
		return nil, err
	}
	err = safely(func() error { t, err = sstable.NewReader(context.Background(), readable, r.options); return err })
	if err != nil {
		_ = readable.Close()
	}
	return t, err
}

// newestOf returns the highest sequence number of the pairs of a table that are readable.
func (r *remains) newestOf(file uint64) (newest uint64) {
	var lost losses
	_ = r.walk(source{liveTable: liveTable{table: table{file: file}}}, &lost, func(kv *entry) error {
		newest = max(newest, kv.number)
		return nil
	})
	return newest
}

// eachOfTable is each for a table.
func (r *remains) eachOfTable(t source, see func(pair) error, lost *losses) error {
	return r.walk(t, lost, func(e *entry) error {
		p := pair{key: e.key}
		switch e.kind {
		case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
			p.deleted = true
		case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
			v, err := e.value()
			if err != nil {
				lost.values++
				return nil
			}
			p.value = v
		default:
			return nil // the store writes no others
		}
		return see(p)
	})
}

// An entry is a pair of a table, with its sequence number. Its bytes are valid until the next one.
type entry struct {
	key    []byte
	kind   pebble.InternalKeyKind
	number uint64
	value  func() ([]byte, error)
}

// walk calls see with each entry of a table that is readable. From the first place with damage on it
// begins again at the table's end and goes backwards: a table has each key once, so that the order
// does not matter. So one damaged place costs no more than its block. If the table's end is damaged,
// the blocks at its beginning are read.
func (r *remains) walk(t source, lost *losses, see func(*entry) error) error {
	reader, err := r.openTable(t.file)
	if err != nil {
		lost.tables++
		return r.scanBlocks(t.file, see)
	}
	defer func() { _ = safely(reader.Close) }()
	var seen error
	var last []byte
	any := false
	one := func(e *entry) error {
		any, seen = true, see(e)
		return seen
	}
	damage := r.scan(reader, t, true, func(e *entry) error {
		last = append(last[:0], e.key...)
		return one(e)
	})
	if damage == nil {
		damage = safely(reader.ValidateBlockChecksums) // of what only some reads need
		if damage != nil {
			lost.tables++
		}
		return nil
	}
	if seen != nil {
		return seen
	}
	lost.tables++
	_ = r.scan(reader, t, false, func(e *entry) error {
		if any && string(e.key) <= string(last) {
			return errEnough
		}
		return one(e)
	})
	if !any {
		return r.scanBlocks(t.file, see) // the index is damaged
	}
	return seen
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// scan calls see with the entries of a table, forwards or backwards, until see fails or the table
// does, and returns that error.
func (r *remains) scan(reader *sstable.Reader, t source, forwards bool, see func(*entry) error) error {
	return safely(func() error {
		it, err := reader.NewIter(sstable.NoTransforms, nil, nil, r.values.context(t.known, t.values))
		if err != nil {
			return err
		}
		defer func() { _ = safely(it.Close) }()
		first, next := it.First, it.Next
		if !forwards {
			first, next = it.Last, it.Prev
		}
		for kv := first(); kv != nil; kv = next() {
			err := see(&entry{key: kv.K.UserKey, kind: kv.K.Kind(), number: uint64(kv.K.SeqNum()),
				value: func() (v []byte, err error) {
					err = safely(func() error { v, _, err = kv.Value(nil); return err })
					return v, err
				}})
			if err != nil {
				return err
			}
		}
		return it.Error()
	})
}

// eachOfLog is each for a log. Pairs up to the sequence number newest are in tables.
func (r *remains) eachOfLog(number, newest uint64, see func(pair) error, lost *losses) error {
	f, err := r.fs.Open(r.path(number, logSuffix))
	if err != nil {
		lost.logs++
		return nil //nolint:nilerr // the loss is counted
	}
	defer f.Close()
	var seen error
	bad := false
	read, err := readRecords(f, uint32(number&math.MaxUint32), func(record []byte) bool {
		var whole bool
		whole, seen = eachOfBatch(record, newest, see)
		bad = bad || !whole
		return seen == nil
	})
	if bad || read.damaged > 0 || err != nil {
		lost.logs++
	}
	return seen
}

// eachOfBatch is each for a batch of a log. It reports false for a record that is none.
func eachOfBatch(record []byte, newest uint64, see func(pair) error) (whole bool, _ error) {
	h, ok := batchrepr.ReadHeader(record)
	if !ok {
		return false, nil
	}
	if uint64(h.SeqNum) <= newest {
		return true, nil
	}
	for b := batchrepr.Read(record); ; {
		kind, key, value, more, err := b.Next()
		if err != nil || !more {
			return err == nil, nil
		}
		p := pair{key: key, value: value}
		switch kind {
		case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
			p.deleted, p.value = true, nil
		case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
		default:
			continue
		}
		if err := see(p); err != nil {
			return true, err
		}
	}
}
