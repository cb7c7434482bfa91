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

// Rows of tasks that follow each other, in less than half of the bytes that pairs take: without a key
// for each, and with the names in them, of the job, of workers and leaders, said once a Copy.

const (
	// MaxNames bounds the names of a Copy: those of the workers of an overlay, and more.
	MaxNames = 1 << 10
	// nameLeast and nameMost are how long texts are that are names, in bytes: peer IDs have 52, CIDs 59.
	// Of all of them the head in CBOR is a byte textOf and one of their length (RFC 8949, section 3.1).
	nameLeast, nameMost = 40, 64
	textOf              = 0x78
	// maxUnpacked is how many times its bytes a Copy's rows may take, beside freeUnpacked. A row of one
	// failure that is told in names alone has three times.
	maxUnpacked  = 6
	freeUnpacked = 64 << 10
)

// A RowRun is the rows of the tasks of a job from one on.
type RowRun struct {
	Job  task.JobID `cbor:"1,keyasint"`
	From uint64     `cbor:"2,keyasint"`
	// Rows are of the tasks From, From+1, ...: each the encoding of a row, in pieces. A piece is the
	// number of bytes, so many bytes as they are, and a number: 0 where the row ends, else which of the
	// Copy's Names comes next, from 1. Numbers are unsigned varints.
	Rows [][]byte `cbor:"3,keyasint" most:"16384"`
}

var errRow = errors.New("a row that is told in pieces ends too soon, or names what is not there")

// A RowWriter puts rows into a Copy. The zero value is ready for use, for one Copy.
type RowWriter struct {
	numbers map[string]uint64 // of the Copy's names
	packed  []byte
}

// Add adds the row of a task, by its encoding, to a copy, and returns how many bytes that took.
func (w *RowWriter) Add(c *Copy, id task.TaskID, row []byte) int {
	names := len(c.Names)
	w.pack(c, row)
	size := len(w.packed)
	for _, name := range c.Names[names:] {
		size += len(name)
	}
	packed := bytes.Clone(w.packed)
	if n := len(c.Runs); n > 0 {
		if last := &c.Runs[n-1]; last.Job == id.Job && last.From+uint64(len(last.Rows)) == id.Index {
			last.Rows = append(last.Rows, packed)
			return size
		}
	}
	c.Runs = append(c.Runs, RowRun{Job: id.Job, From: id.Index, Rows: [][]byte{packed}})
	return size + len(id.Job)
}

// pack writes a row in pieces.
func (w *RowWriter) pack(c *Copy, row []byte) {
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
		if n := w.number(c, row[begin:begin+size]); n > 0 {
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
func (w *RowWriter) number(c *Copy, name []byte) uint64 {
	n := w.numbers[string(name)]
	if n == 0 && len(c.Names) < MaxNames {
		if w.numbers == nil {
			w.numbers = map[string]uint64{}
		}
		c.Names = append(c.Names, bytes.Clone(name))
		n = uint64(len(c.Names))
		w.numbers[string(name)] = n
	}
	return n
}

// EachRow calls f with each row of a Copy that was checked, in order.
func (c *Copy) EachRow(f func(id task.TaskID, row []byte)) {
	for i := range c.Runs {
		run := &c.Runs[i]
		for k, packed := range run.Rows {
			if row, err := c.unpack(packed); err == nil {
				f(task.TaskID{Job: run.Job, Index: run.From + uint64(k)}, row)
			}
		}
	}
}

// unpack returns a row as it was before it was told in pieces.
func (c *Copy) unpack(packed []byte) ([]byte, error) {
	size, err := c.unpacked(packed)
	if err != nil {
		return nil, err
	}
	row := make([]byte, 0, size)
	for {
		n, k := binary.Uvarint(packed)
		row = append(row, packed[k:k+int(n)]...)
		packed = packed[k+int(n):]
		name, k := binary.Uvarint(packed)
		if name == 0 {
			return row, nil
		}
		row = append(row, c.Names[name-1]...)
		packed = packed[k:]
	}
}

// unpacked returns how long a row is, which allocates nothing.
func (c *Copy) unpacked(packed []byte) (size int, err error) {
	for {
		n, k := binary.Uvarint(packed)
		if k <= 0 || n > uint64(len(packed)-k) {
			return 0, errRow
		}
		packed = packed[k+int(n):]
		size += int(n)
		name, k := binary.Uvarint(packed)
		switch packed = packed[max(k, 0):]; {
		case k <= 0 || name > uint64(len(c.Names)):
			return 0, errRow
		case name == 0 && len(packed) > 0:
			return 0, errors.New("something follows a row that is told in pieces")
		case name == 0:
			return size, nil
		}
		if size += len(c.Names[name-1]); size > ledger.MaxPairBytes {
			return 0, fmt.Errorf("a row of more than %d bytes", ledger.MaxPairBytes)
		}
	}
}

// checkRuns keeps the bounds of a Copy's rows before anything is made of them.
func (c *Copy) checkRuns() error {
	if len(c.Runs) > MaxPairs || len(c.Names) > MaxNames {
		return fmt.Errorf("copy of %d runs of rows and %d names, the most is %d and %d", len(c.Runs), len(c.Names),
			MaxPairs, MaxNames)
	}
	left := freeUnpacked
	for _, name := range c.Names {
		if len(name) > nameMost {
			return fmt.Errorf("copy with a name of %d bytes, the most is %d", len(name), nameMost)
		}
		left += maxUnpacked * len(name)
	}
	rows := 0
	for i := range c.Runs {
		run := &c.Runs[i]
		rows += len(run.Rows)
		if rows > MaxPairs || run.From > math.MaxUint64-uint64(len(run.Rows)) {
			return fmt.Errorf("copy of more than %d rows, or of tasks beyond all numbers", MaxPairs)
		}
		for _, packed := range run.Rows {
			size, err := c.unpacked(packed)
			if err != nil {
				return err
			}
			if left += maxUnpacked*len(packed) - size; left < 0 {
				return fmt.Errorf("copy of rows that take more than %d times their bytes", maxUnpacked)
			}
		}
	}
	return nil
}
