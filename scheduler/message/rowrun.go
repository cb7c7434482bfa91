package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// Rows of tasks that follow each other, in some two thirds of the bytes that pairs take: without a key
// for each, and with the names in them, of the job, of workers and leaders, said once a session.

const (
	// MaxNames bounds the names of a session: those of the workers of an overlay, and more.
	MaxNames = 1 << 10
	// MaxRows bounds the rows of a Copy that are told by runs, and the runs.
	MaxRows = 1 << 14
	// nameLeast and nameMost are how long texts are that are names, in bytes: peer IDs have 52, CIDs 59.
	// Of all of them the head in CBOR is a byte textOf and one of their length (RFC 8949, section 3.1).
	nameLeast, nameMost = 40, 64
	textOf              = 0x78
	// maxUnpacked is how many times its bytes a Copy's rows may take, beside freeUnpacked. The signatures
	// in a row, which are no names, keep it below twice.
	maxUnpacked  = 6
	freeUnpacked = 64 << 10
)

// A RowRun is the rows of the tasks of a job from one on.
type RowRun struct {
	Job  task.JobID `cbor:"1,keyasint"`
	From uint64     `cbor:"2,keyasint"`
	// Rows are of the tasks From, From+1, ...: each the encoding of a row, in pieces. A piece is the
	// number of bytes, so many bytes as they are, and a number: 0 where the row ends, else which of the
	// Names of this Copy and those before it in the session comes next, from 1. Numbers are unsigned
	// varints.
	Rows [][]byte `cbor:"3,keyasint" most:"16384"`
}

var errRow = errors.New("a row that is told in pieces ends too soon, or names what is not there")

// A RowWriter makes the runs of Copies. The zero value is ready for use, for the Copies of one session.
type RowWriter struct {
	numbers map[string]uint64 // of the names that were said
	packed  []byte
	runs    []RowRun // of the Copy under way
	names   [][]byte // that it is the first to say
}

// Add adds the row of a task, by its encoding, to the Copy under way, and returns how many bytes that
// takes.
func (w *RowWriter) Add(id task.TaskID, row []byte) int {
	names := len(w.names)
	w.pack(row)
	size := len(w.packed)
	for _, name := range w.names[names:] {
		size += len(name)
	}
	packed := bytes.Clone(w.packed)
	if n := len(w.runs); n > 0 {
		if last := &w.runs[n-1]; last.Job == id.Job && last.From+uint64(len(last.Rows)) == id.Index {
			last.Rows = append(last.Rows, packed)
			return size
		}
	}
	w.runs = append(w.runs, RowRun{Job: id.Job, From: id.Index, Rows: [][]byte{packed}})
	return size + len(id.Job)
}

// Take returns the Runs and the Names of the Copy under way, and begins the next.
func (w *RowWriter) Take() (runs []RowRun, names [][]byte) {
	runs, names = w.runs, w.names
	w.runs, w.names = nil, nil
	return runs, names
}

// pack writes a row in pieces.
func (w *RowWriter) pack(row []byte) {
	w.packed = w.packed[:0]
	for at, from := 0, 0; ; {
		next := bytes.IndexByte(row[from:], textOf)
		if next < 0 || from+next+1 >= len(row) {
			w.piece(row[at:], 0)
			return
		}
		begin := from + next + 2
		size := int(row[begin-1])
		from += next + 1
		if size < nameLeast || size > nameMost || begin+size > len(row) {
			continue
		}
		if n := w.number(row[begin : begin+size]); n > 0 {
			w.piece(row[at:begin], n)
			at, from = begin+size, begin+size
		}
	}
}

func (w *RowWriter) piece(b []byte, name uint64) {
	w.packed = binary.AppendUvarint(w.packed, uint64(len(b)))
	w.packed = append(w.packed, b...)
	w.packed = binary.AppendUvarint(w.packed, name)
}

// number returns which name it is, from 1; 0 where there is no room for another.
func (w *RowWriter) number(name []byte) uint64 {
	n := w.numbers[string(name)]
	if n == 0 && len(w.numbers) < MaxNames {
		if w.numbers == nil {
			w.numbers = map[string]uint64{}
		}
		w.names = append(w.names, bytes.Clone(name))
		n = uint64(len(w.numbers)) + 1
		w.numbers[string(name)] = n
	}
	return n
}

// A RowReader makes rows again of what a RowWriter wrote. The zero value is ready for use, for the
// Copies of one session, each once and in order.
type RowReader struct{ names [][]byte }

// Read calls f with each row of the Runs and Names of a Copy that came out of a frame, in order. An
// error says that it is not one of the session's: what f was called with before is good.
func (r *RowReader) Read(runs []RowRun, names [][]byte, f func(id task.TaskID, row []byte)) error {
	if len(r.names)+len(names) > MaxNames {
		return fmt.Errorf("copies with more than %d names", MaxNames)
	}
	r.names = append(r.names, names...)
	for i := range runs {
		run := &runs[i]
		for k, packed := range run.Rows {
			row, err := r.unpack(packed)
			if err != nil {
				return err
			}
			f(task.TaskID{Job: run.Job, Index: run.From + uint64(k)}, row)
		}
	}
	return nil
}

// unpack returns a row as it was before it was told in pieces. What checkRow found no fault with is
// within its bounds.
func (r *RowReader) unpack(packed []byte) ([]byte, error) {
	most, err := checkRow(packed)
	if err != nil {
		return nil, err
	}
	row := make([]byte, 0, most)
	for {
		n, k := binary.Uvarint(packed)
		row = append(row, packed[k:k+int(n)]...)
		packed = packed[k+int(n):]
		name, k := binary.Uvarint(packed)
		switch {
		case name == 0:
			return row, nil
		case name > uint64(len(r.names)):
			return nil, errRow
		}
		row = append(row, r.names[name-1]...)
		packed = packed[k:]
	}
}

// checkRow returns how long a row may be at most, whatever the names are; it allocates nothing.
func checkRow(packed []byte) (most int, err error) {
	for {
		n, k := binary.Uvarint(packed)
		if k <= 0 || n > uint64(len(packed)-k) {
			return 0, errRow
		}
		packed = packed[k+int(n):]
		most += int(n)
		name, k := binary.Uvarint(packed)
		switch packed = packed[max(k, 0):]; {
		case k <= 0 || name > MaxNames:
			return 0, errRow
		case name == 0 && len(packed) > 0:
			return 0, errors.New("something follows a row that is told in pieces")
		case name == 0:
			return most, nil
		}
		if most += nameMost; most > ledger.MaxPairBytes {
			return 0, fmt.Errorf("a row of more than %d bytes", ledger.MaxPairBytes)
		}
	}
}

// checkRuns keeps the bounds of a Copy's rows before anything is made of them.
func checkRuns(runs []RowRun, names [][]byte) error {
	if len(runs) > MaxRows || len(names) > MaxNames {
		return fmt.Errorf("copy of %d runs of rows and %d names, the most is %d and %d", len(runs), len(names), MaxRows,
			MaxNames)
	}
	for _, name := range names {
		if len(name) > nameMost {
			return fmt.Errorf("copy with a name of %d bytes, the most is %d", len(name), nameMost)
		}
	}
	rows, left := 0, freeUnpacked
	for i := range runs {
		run := &runs[i]
		rows += len(run.Rows)
		if rows > MaxRows || run.From > math.MaxUint64-uint64(len(run.Rows)) {
			return fmt.Errorf("copy of more than %d rows, or of tasks beyond all numbers", MaxRows)
		}
		for _, packed := range run.Rows {
			most, err := checkRow(packed)
			if err != nil {
				return err
			}
			if left += maxUnpacked*len(packed) - most; left < 0 {
				return fmt.Errorf("copy of rows that take more than %d times their bytes", maxUnpacked)
			}
		}
	}
	return nil
}
