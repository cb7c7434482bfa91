package disk

import (
	"encoding/binary"
	"hash/crc32"

	ds "github.com/ipfs/go-datastore"
)

// A place is where a value lies in a segment.
type place struct {
	segment uint64 // its number
	at      uint64 // of the value's first byte in it
	bytes   uint64 // of the value
	sum     uint32 // its CRC-32C
}

// placePrefix begins the keys of places in bulk. No key of a datastore begins so: what somebody
// stores is never taken for the place of something else.
const placePrefix = "@"

// placeKey is the key of a value's place.
func placeKey(k ds.Key) []byte { return append([]byte(placePrefix), k.String()...) }

// encode writes what readPlace reads: three varints and the sum.
func (p place) encode() []byte {
	b := binary.AppendUvarint(nil, p.segment)
	b = binary.AppendUvarint(b, p.at)
	b = binary.AppendUvarint(b, p.bytes)
	return binary.LittleEndian.AppendUint32(b, p.sum)
}

// maxPlace bounds numbers that are believed, so that no two of them add up to less than each.
const maxPlace = 1 << 60

// readPlace reports false for what is no place.
func readPlace(b []byte) (p place, ok bool) {
	for _, to := range []*uint64{&p.segment, &p.at, &p.bytes} {
		n, read := binary.Uvarint(b)
		if read <= 0 || n > maxPlace {
			return place{}, false
		}
		*to, b = n, b[read:]
	}
	if len(b) != crc32.Size {
		return place{}, false
	}
	p.sum = binary.LittleEndian.Uint32(b)
	return p, true
}
