package wasm

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// cursor reads the binary format from a slice. After a failure err is set and every read gives zero.
type cursor struct {
	b    []byte
	pos  int
	base int // offset of b[0] in the module, for messages
	err  error
	at   int // offset in the module of the failure
}

var (
	errShort   = errors.New("unexpected end")
	errLEB     = errors.New("number too long or out of range")
	errUTF8    = errors.New("name is not UTF-8")
	errTooMany = errors.New("count is larger than the bytes that follow")
)

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err, c.at = err, c.base+c.pos
	}
	c.pos = len(c.b)
}

func (c *cursor) done() bool { return c.pos >= len(c.b) }

func (c *cursor) byte() byte {
	if c.pos >= len(c.b) {
		c.fail(errShort)
		return 0
	}
	b := c.b[c.pos]
	c.pos++
	return b
}

// take gives the next n bytes, which alias the module.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.pos {
		c.fail(errShort)
		return nil
	}
	b := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (c *cursor) u32() uint32 {
	if c.pos < len(c.b) && c.b[c.pos] < 0x80 { // nearly all are one byte
		c.pos++
		return uint32(c.b[c.pos-1])
	}
	return uint32(c.unsigned(32))
}

func (c *cursor) unsigned(bits uint) uint64 {
	var x uint64
	for shift := uint(0); ; shift += 7 {
		b := c.byte()
		if c.err != nil {
			return 0
		}
		if shift >= bits || shift+7 > bits && b>>(bits-shift) != 0 {
			c.fail(errLEB)
			return 0
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
}

// signed reads a signed LEB128 number of at most the given bits.
func (c *cursor) signed(bits uint) int64 {
	var x int64
	for shift := uint(0); ; shift += 7 {
		b := c.byte()
		if c.err != nil {
			return 0
		}
		if shift >= bits {
			c.fail(errLEB)
			return 0
		}
		if left := bits - shift; left < 7 {
			// The bits above the type's width must repeat its sign, and no byte may follow.
			if top := int8(b<<1) >> left; b >= 0x80 || top != 0 && top != -1 {
				c.fail(errLEB)
				return 0
			}
		}
		x |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				x |= -1 << (shift + 7)
			}
			return x
		}
	}
}

func (c *cursor) fixed32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) fixed64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the length of a vector whose entries take at least min bytes each.
func (c *cursor) count(min int) int {
	n := c.u32()
	if c.err == nil && uint64(n)*uint64(min) > uint64(len(c.b)-c.pos) {
		c.fail(errTooMany)
		return 0
	}
	return int(n)
}

func (c *cursor) name() string {
	b := c.take(int(c.u32()))
	if !utf8.Valid(b) {
		c.fail(errUTF8)
		return ""
	}
	return string(b)
}
