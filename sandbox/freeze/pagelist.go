package freeze

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// PageList is the pages of a manifest. It encodes itself, as [[number, hash], ...], and null if it is empty: a
// guest waits while its last manifest
// is encoded, sent and decoded, and by reflection 8192 pages (512 MiB) take ten times as long.
type PageList []Page

// What CBOR (RFC 8949) begins items with: the major type in three bits, and in five the value or how long it is.
const (
	cborUint  = 0 << 5
	cborBytes = 2 << 5
	cborArray = 4 << 5
	cborByte  = 24 // the value is in the next byte, or 2, 4, 8
	cborWord  = 25
	cborLong  = 26
	cborNull  = 0xf6

	pageHead  = cborArray | 2 // a number and a hash
	hashHead  = cborBytes | cborByte
	pageBytes = 1 + 5 + 2 + len(Hash{}) // at most
)

// MarshalCBOR encodes in the shortest form.
func (l PageList) MarshalCBOR() ([]byte, error) {
	if len(l) == 0 {
		return []byte{cborNull}, nil
	}
	b := make([]byte, 0, 5+len(l)*pageBytes)
	b = appendHead(b, cborArray, uint32(len(l)))
	for i := range l {
		b = appendHead(append(b, pageHead), cborUint, l[i].Number)
		b = append(b, hashHead, byte(len(Hash{})))
		b = append(b, l[i].Hash[:]...)
	}
	return b, nil
}

func appendHead(b []byte, major byte, n uint32) []byte {
	switch {
	case n < cborByte:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|cborByte, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|cborWord), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, major|cborLong), n)
}

// UnmarshalCBOR decodes what MarshalCBOR makes, and nothing else.
func (l *PageList) UnmarshalCBOR(b []byte) error {
	if len(b) == 1 && b[0] == cborNull {
		*l = nil
		return nil
	}
	const least = 1 + 1 + 2 + len(Hash{}) // bytes of a page
	n, b, err := head(b, cborArray)
	if err != nil {
		return fmt.Errorf("list of pages: %w", err)
	}
	if n == 0 || n > maxPages || int(n) > len(b)/least {
		return fmt.Errorf("list of %d pages in %d bytes", n, len(b))
	}
	out := make(PageList, n)
	for i := range out {
		if len(b) < least || b[0] != pageHead {
			return fmt.Errorf("entry %d of the pages is not a number and a hash", i)
		}
		if out[i].Number, b, err = head(b[1:], cborUint); err != nil {
			return fmt.Errorf("entry %d of the pages: %w", i, err)
		}
		if len(b) < 2+len(Hash{}) || b[0] != hashHead || int(b[1]) != len(Hash{}) {
			return fmt.Errorf("entry %d of the pages has no hash", i)
		}
		out[i].Hash, b = Hash(b[2:2+len(Hash{})]), b[2+len(Hash{}):]
	}
	if len(b) > 0 {
		return errors.New("something after the list of pages")
	}
	*l = out
	return nil
}

// head takes the beginning of an item of a type off.
func head(b []byte, major byte) (n uint32, rest []byte, err error) {
	if len(b) == 0 || b[0]&^31 != major {
		return 0, nil, errors.New("not what is expected there")
	}
	size := 0
	switch v := b[0] & 31; {
	case v < cborByte:
		return uint32(v), b[1:], nil
	case v <= cborLong:
		size = 1 << (v - cborByte)
	default:
		return 0, nil, errors.New("too large")
	}
	if len(b) < 1+size {
		return 0, nil, errors.New("cut short")
	}
	for _, c := range b[1 : 1+size] {
		n = n<<8 | uint32(c)
	}
	if shortest := appendHead(nil, major, n); len(shortest) != 1+size {
		return 0, nil, errors.New("not in the shortest form")
	}
	return n, b[1+size:], nil
}
