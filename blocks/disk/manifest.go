package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A version is what manifests say of a database's files: which tables contain its pairs, and where
// values that lie outside of the tables are. Manifests are lists of edits. A file number is never
// used twice and tables only move to lower levels, so the order of edits does not matter, and edits
// of several manifests of a database may be added to the same version.
type version struct {
	added   map[placed]table
	deleted map[placed]bool
	blobs   map[uint64]uint64 // ID of a file of values: its number on disk, the highest
	minLog  uint64            // the least log whose pairs are not all in tables
	named   bool              // the first edit of a manifest was read
}

// A placed is a table at a level.
type placed struct {
	level  int
	number uint64
}

// A table is what an edit says of a table.
type table struct {
	file   uint64   // its number on disk
	size   uint64   // in bytes
	newest uint64   // highest sequence number of its pairs
	values []uint64 // IDs of the files that its values are in, in the order of its references
}

func newVersion() *version {
	return &version{added: map[placed]table{}, deleted: map[placed]bool{}, blobs: map[uint64]uint64{}}
}

// live returns the tables that were added and not deleted, by number, with their levels.
func (v *version) live() map[uint64]liveTable {
	out := map[uint64]liveTable{}
	for p, t := range v.added {
		if !v.deleted[p] {
			out[p.number] = liveTable{t, p.level}
		}
	}
	return out
}

// A liveTable is a table that contains pairs of the database.
type liveTable struct {
	table
	level int
}

// Tags of an edit, as pebble writes them.
const (
	tagComparer       = 1
	tagLogNumber      = 2
	tagNextFile       = 3
	tagLastSequence   = 4
	tagDeletedTable   = 6
	tagPrevLog        = 9
	tagNewTable2      = 100
	tagNewTable4      = 103
	tagCreatedBacking = 105
	tagRemovedBacking = 106
	tagNewBlobFile    = 107
	tagDeletedBlob    = 108

	// Tags of further fields of a new table.
	fieldEnd     = 1
	fieldVirtual = 66
	fieldPrefix  = 67
	fieldSuffix  = 68
	fieldBlobs   = 69
	// fieldUnknown is set in tags of fields that must not be skipped.
	fieldUnknown = 64

	levels = 7
)

var errEdit = errors.New("not an edit of a manifest")

// An editReader reads the fields of an edit. After an error all it reads is zero.
type editReader struct {
	b   []byte
	err error
}

func (r *editReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{errEdit}, args...)...)
	}
	r.b = nil
}

func (r *editReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail("a number is missing")
		return 0
	}
	r.b = r.b[size:]
	return n
}

// bytes reads a length, and as many bytes.
func (r *editReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail("%d bytes, and %d are left", n, len(r.b))
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *editReader) placed() placed {
	p := placed{level: int(min(r.uvarint(), levels)), number: r.uvarint()}
	if p.level == levels {
		r.fail("there is no level %d", p.level)
	}
	return p
}

// add takes in an edit. With an error nothing of it counts.
func (v *version) add(edit []byte) error {
	r, e := &editReader{b: edit}, newVersion()
	for len(r.b) > 0 {
		switch tag := r.uvarint(); tag {
		case tagComparer:
			e.named = len(r.bytes()) > 0
		case tagLogNumber:
			e.minLog = r.uvarint()
		case tagNextFile, tagLastSequence, tagPrevLog, tagRemovedBacking:
			r.uvarint()
		case tagCreatedBacking:
			r.uvarint()
			r.uvarint()
		case tagDeletedTable:
			e.deleted[r.placed()] = true
		case tagNewTable2, tagNewTable4:
			p := r.placed()
			e.added[p] = r.table(p.number, tag == tagNewTable4)
		case tagNewBlobFile:
			id := r.uvarint()
			e.blobs[id] = max(e.blobs[id], r.uvarint())
			for range 3 { // sizes and time
				r.uvarint()
			}
		case tagDeletedBlob:
			r.uvarint()
			r.uvarint()
		default:
			r.fail("tag %d", tag)
		}
	}
	if r.err != nil {
		return r.err
	}
	v.join(e)
	return nil
}

// join adds what an edit says.
func (v *version) join(e *version) {
	for p, t := range e.added {
		v.added[p] = t
	}
	for p := range e.deleted {
		v.deleted[p] = true
	}
	for id, number := range e.blobs {
		v.blobs[id] = max(v.blobs[id], number)
	}
	v.minLog, v.named = max(v.minLog, e.minLog), v.named || e.named
}

// table reads a new table. With more, further fields follow.
func (r *editReader) table(number uint64, more bool) table {
	t := table{file: number, size: r.uvarint()}
	r.bytes() // its least key
	r.bytes() // and its greatest
	r.uvarint()
	t.newest = r.uvarint()
	for more && r.err == nil {
		switch field := r.uvarint(); field {
		case fieldEnd:
			return t
		case fieldBlobs:
			r.uvarint()
			n := r.uvarint()
			if n > uint64(len(r.b)) { // each takes two bytes or more
				r.fail("%d references", n)
				return t
			}
			for range n {
				t.values = append(t.values, r.uvarint())
				r.uvarint()
			}
		case fieldVirtual, fieldPrefix, fieldSuffix: // of tables that others made, or that are parts of one
			r.fail("table %d is not a whole one of this database", number)
		default:
			if field&fieldUnknown != 0 {
				r.fail("field %d of a table", field)
				return t
			}
			r.bytes()
		}
	}
	return t
}
