package blocks

import (
	"encoding/binary"
	"strings"
	"time"

	"godwit/blocks/disk"
	"godwit/p2p/wire"

	ds "github.com/ipfs/go-datastore"
)

// digestIn returns the digest that a key ends with, which is written in one way alone: the decoder
// passes over bits of the last character that are of no digest.
func digestIn(key, prefix string) (d digest, ok bool) {
	text, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return d, false
	}
	raw, err := digestText.DecodeString(text)
	if err != nil || len(raw) != len(d) || digestText.EncodeToString(raw) != text {
		return d, false
	}
	return digest(raw), true
}

// A stored block's record: its size, and when it was stored, both varints, the
// time in Unix seconds. Records of before there were times have none: such a
// block is older than any other.
type stored struct {
	bytes int64
	at    time.Time // when stored or, from Blocks.stored, last used
}

func (s stored) encode() []byte {
	return append(binary.AppendUvarint(nil, uint64(s.bytes)), encodeTime(s.at)...)
}

func readStored(b []byte) stored {
	n, read := binary.Uvarint(b)
	if read <= 0 || n > wire.MaxBlock { // no record of ours
		return stored{at: time.Unix(0, 0)}
	}
	return stored{bytes: int64(n), at: readTime(b[read:])}
}

func encodeTime(t time.Time) []byte { return binary.AppendUvarint(nil, uint64(t.Unix())) }

// maxTime bounds the seconds that are believed: beyond it time.Time overflows.
const maxTime = 1 << 40

// readTime returns the Unix epoch for no time.
func readTime(b []byte) time.Time {
	s, read := binary.Uvarint(b)
	if read <= 0 || s > maxTime {
		return time.Unix(0, 0)
	}
	return time.Unix(int64(s), 0)
}

func dataKey(d digest) ds.Key { return ds.RawKey(dataPrefix + digestText.EncodeToString(d[:])) }

func sizeKey(d digest) ds.Key { return ds.RawKey(sizePrefix + digestText.EncodeToString(d[:])) }

// usePrefix holds when blocks were last used, if that is later than when they
// were stored. It is not below /blocks: values there may not change, and this one
// may be lost, or outlive its block, without harm.
const usePrefix = "/block-use/"

func useKey(d digest) ds.Key { return ds.RawKey(usePrefix + digestText.EncodeToString(d[:])) }

// Keys. A block's size has a key of its own, so that asking whether a block is
// here, or adding sizes up, does not read the blocks.
const (
	dataPrefix = disk.BulkPrefix + "data/"
	sizePrefix = disk.BulkPrefix + "size/"
)
