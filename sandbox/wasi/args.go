package wasi

import (
	"encoding/binary"
)

func argsGet(c *call) Errno      { return c.putStrings(c.Args) }
func argsSizes(c *call) Errno    { return c.putSizes(c.Args) }
func environGet(c *call) Errno   { return c.putStrings(c.Env) }
func environSizes(c *call) Errno { return c.putSizes(c.Env) }

// putStrings writes pointers at parameter 0 and the strings, each ended by a
// zero byte, at parameter 1.
func (c *call) putStrings(list []string) Errno {
	ptrs, ok := c.bytes(c.u32(0), uint32(len(list)*4))
	if !ok {
		return EFAULT
	}
	at := c.u32(1)
	for i, s := range list {
		buf, ok := c.bytes(at, uint32(len(s)+1))
		if !ok {
			return EFAULT
		}
		copy(buf, s)
		buf[len(s)] = 0
		binary.LittleEndian.PutUint32(ptrs[i*4:], at)
		at += uint32(len(s) + 1)
	}
	return OK
}

func (c *call) putSizes(list []string) Errno {
	n := 0
	for _, s := range list {
		n += len(s) + 1
	}
	if errno := c.put32(0, uint32(len(list))); errno != OK {
		return errno
	}
	return c.put32(1, uint32(n))
}

func clockRes(c *call) Errno {
	if c.u32(0) > clockThread {
		return EINVAL
	}
	return c.put64(1, uint64(ReadStep))
}

func clockTime(c *call) Errno {
	t, errno := c.now(c.u32(0))
	if errno != OK {
		return errno
	}
	return c.put64(2, uint64(t))
}

func randomGet(c *call) Errno {
	b, ok := c.bytes(c.u32(0), c.u32(1))
	if !ok {
		return EFAULT
	}
	c.Random(b)
	return OK
}

func schedYield(*call) Errno { return OK }

// There is no network, so no descriptor is a socket.
func noSocket(c *call) Errno {
	if c.fd(c.u32(0)) == nil {
		return EBADF
	}
	return ENOTSOCK
}
