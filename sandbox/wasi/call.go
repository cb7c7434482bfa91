package wasi

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// A call is one call of a guest: its parameters and its memory. Every access
// to memory is checked against its bounds.
type call struct {
	*State
	mem api.Memory
	p   []uint64 // parameters; the result goes to p[0]
}

func (c *call) u32(i int) uint32 { return uint32(c.p[i]) }
func (c *call) u16(i int) uint16 { return uint16(c.p[i]) }
func (c *call) i64(i int) int64  { return int64(c.p[i]) }

// bytes returns n bytes of guest memory at ptr, or nil if they are not all
// there. The slice is the memory itself, good until the call ends.
func (c *call) bytes(ptr, n uint32) ([]byte, bool) { return c.mem.Read(ptr, n) }

// str copies a string out of guest memory. It reads at most one byte more
// than a path may have: whoever checks the length still sees it is too long.
func (c *call) str(i int) (string, Errno) {
	ptr, n := c.u32(i), c.u32(i+1)
	if n > MaxPath {
		return "", ENAMETOOLONG
	}
	b, ok := c.bytes(ptr, n)
	if !ok {
		return "", EFAULT
	}
	return string(b), OK
}

// path reads the descriptor at parameter i and the path after it.
func (c *call) path(fd, at int) (uint32, string, Errno) {
	s, errno := c.str(at)
	return c.u32(fd), s, errno
}

func (c *call) put32(i int, v uint32) Errno {
	if !c.mem.WriteUint32Le(c.u32(i), v) {
		return EFAULT
	}
	return OK
}

func (c *call) put64(i int, v uint64) Errno {
	if !c.mem.WriteUint64Le(c.u32(i), v) {
		return EFAULT
	}
	return OK
}

// iovecs returns the buffers of the vector at parameters i and i+1.
func (c *call) iovecs(i int) ([][]byte, Errno) {
	ptr, n := c.u32(i), c.u32(i+1)
	if n > maxIovecs {
		return nil, EINVAL
	}
	vec, ok := c.bytes(ptr, n*8)
	if !ok {
		return nil, EFAULT
	}
	bufs := make([][]byte, n)
	for k := range bufs {
		v := vec[k*8:]
		if bufs[k], ok = c.bytes(binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:])); !ok {
			return nil, EFAULT
		}
	}
	return bufs, OK
}
