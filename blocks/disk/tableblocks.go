package disk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
)

// A table begins with blocks of pairs, one after the other. Its index, which says where they are, is
// at its end. In a table that lost its end, the blocks are found by their checksums: each block is
// followed by a byte that says how it is compressed, and the checksum of both.

const (
	notCompressed = byte(block.NoCompressionIndicator)

	// Sizes in a block: a number before its header, the header, and a column's type and place.
	blockNumber = 4
	blockHeader = 7
	columnEntry = 5
)

// columnTypes are those of the columns that follow the ones of the key in a block of pairs.
var columnTypes = []colblk.DataType{colblk.DataTypeUint, colblk.DataTypeBool, colblk.DataTypeBytes,
	colblk.DataTypeBool, colblk.DataTypeBool}

// isPairs reports whether bytes begin as a block of pairs does. Pebble does not check that when it
// reads a block.
func isPairs(schema *colblk.KeySchema, b []byte) bool {
	types := append(append([]colblk.DataType{}, schema.ColumnTypes...), columnTypes...)
	header := int(schema.HeaderSize) + blockNumber
	if len(b) < header+blockHeader+len(types)*columnEntry {
		return false
	}
	h := colblk.DecodeHeader(b[header:])
	if h.Version != colblk.Version1 || int(h.Columns) != len(types) || h.Rows == 0 {
		return false
	}
	for i, t := range types {
		if colblk.DataType(b[header+blockHeader+i*columnEntry]) != t {
			return false
		}
	}
	return true
}

// blockLength returns the length of the block that b begins with: the first at which the checksum is
// right. It returns 0 if there is none.
func blockLength(b []byte) int {
	var sum uint32
	for i := 0; i+block.TrailerLen <= len(b); i++ {
		sum = crc32.Update(sum, castagnoli, b[i:i+1])
		if b[i] == notCompressed && maskSum(sum) == binary.LittleEndian.Uint32(b[i+1:]) {
			return i
		}
	}
	return 0
}

// scanBlocks calls see with the entries of the blocks of pairs that a table begins with, until one is
// damaged. Values that lie outside of the table are not read. It returns an error of see's.
func (r *remains) scanBlocks(file uint64, see func(*entry) error) error {
	f, err := r.fs.Open(r.path(file, tableSuffix))
	if err != nil {
		return nil //nolint:nilerr // whoever looked for the table counted it as lost
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil //nolint:nilerr // as before
	}
	for isPairs(r.schema, b) {
		n := blockLength(b)
		if n == 0 {
			return nil
		}
		var seen error
		_ = safely(func() error {
			seen = r.scanBlock(append(make([]byte, 0, n), b[:n]...), see) // pebble wants it aligned
			return nil
		})
		if seen != nil {
			return seen
		}
		b = b[n+block.TrailerLen:]
	}
	return nil
}

// errOutside is returned for a value that lies outside of a table of which the place is not known.
var errOutside = errors.New("the value is in another file")

func (r *remains) scanBlock(data []byte, see func(*entry) error) error {
	if !isPairs(r.schema, data) {
		return nil
	}
	var blk colblk.DataBlockDecoder
	var it colblk.DataBlockIter
	blk.Init(r.schema, data)
	external := false
	it.InitOnce(r.schema, r.options.Comparer, outsideOf(zeroOf((*colblk.DataBlockIter).First).V, &external))
	if err := it.Init(&blk, block.NoTransforms); err != nil {
		return nil //nolint:nilerr // the block is damaged
	}
	for kv := it.First(); kv != nil; kv = it.Next() {
		elsewhere := external
		external = false
		err := see(&entry{key: kv.K.UserKey, kind: kv.K.Kind(), number: uint64(kv.K.SeqNum()),
			value: func() ([]byte, error) {
				if elsewhere {
					return nil, errOutside
				}
				v, _, err := kv.Value(nil)
				return v, err
			}})
		if err != nil {
			return err
		}
	}
	return nil
}

// zeroOf returns the zero value of pebble's type of pairs, which cannot be named.
func zeroOf[K any](func(*colblk.DataBlockIter) *K) (zero K) { return zero }

// An outside notes that a value lies outside of a table, and gives an empty one for it.
type outside[V any] struct{ noted *bool }

func outsideOf[V any](_ V, noted *bool) block.GetInternalValueForPrefixAndValueHandler {
	return any(outside[V]{noted}).(block.GetInternalValueForPrefixAndValueHandler)
}

// GetInternalValueForPrefixAndValueHandle implements the handler that blocks call for such a value.
func (o outside[V]) GetInternalValueForPrefixAndValueHandle([]byte) (empty V) {
	*o.noted = true
	return empty
}
