package wasi

import (
	"encoding/binary"
)

func fdRead(c *call) Errno {
	d, i, errno := c.file(c.u32(0), rightRead)
	if errno != OK {
		return errno
	}
	bufs, errno := c.iovecs(1)
	if errno != OK {
		return errno
	}
	n := c.read(i, d.Offset, bufs)
	d.Offset += int64(n)
	return c.put32(3, n)
}

func fdPread(c *call) Errno {
	d, i, errno := c.file(c.u32(0), rightRead)
	switch {
	case errno != OK:
		return errno
	case c.stream(d):
		return ESPIPE
	case c.i64(3) < 0:
		return EINVAL
	}
	bufs, errno := c.iovecs(1)
	if errno != OK {
		return errno
	}
	return c.put32(4, c.read(i, c.i64(3), bufs))
}

func fdWrite(c *call) Errno {
	d, i, errno := c.file(c.u32(0), rightWrite)
	if errno != OK {
		return errno
	}
	bufs, errno := c.iovecs(1)
	if errno != OK {
		return errno
	}
	off := d.Offset
	if d.Flags&flagAppend != 0 {
		off = int64(len(i.Data))
	}
	n, errno := c.write(d.Ino, off, bufs)
	if errno != OK {
		return errno
	}
	if !c.stream(d) {
		d.Offset = off + int64(n)
	}
	return c.put32(3, n)
}

func fdPwrite(c *call) Errno {
	d, _, errno := c.file(c.u32(0), rightWrite)
	switch {
	case errno != OK:
		return errno
	case c.stream(d):
		return ESPIPE
	case c.i64(3) < 0:
		return EINVAL
	}
	bufs, errno := c.iovecs(1)
	if errno != OK {
		return errno
	}
	n, errno := c.write(d.Ino, c.i64(3), bufs)
	if errno != OK {
		return errno
	}
	return c.put32(4, n)
}

func fdSeek(c *call) Errno {
	at, errno := c.seek(c.u32(0), c.i64(1), uint8(min(c.u32(2), 255)))
	if errno != OK {
		return errno
	}
	return c.put64(3, uint64(at))
}

func fdTell(c *call) Errno {
	at, errno := c.seek(c.u32(0), 0, 1)
	if errno != OK {
		return errno
	}
	return c.put64(1, uint64(at))
}

// direntSize is the length of an entry's header in fd_readdir.
const direntSize = 24

func fdReaddir(c *call) Errno {
	cookie := c.p[3]
	list, errno := c.list(c.u32(0), cookie)
	if errno != OK {
		return errno
	}
	buf, ok := c.bytes(c.u32(1), c.u32(2))
	if !ok {
		return EFAULT
	}
	used := 0
	for _, e := range list {
		cookie++
		var head [direntSize]byte
		binary.LittleEndian.PutUint64(head[:], cookie)
		binary.LittleEndian.PutUint64(head[8:], uint64(e.Ino))
		binary.LittleEndian.PutUint32(head[16:], uint32(len(e.Name)))
		head[20] = filetype(e.Kind)
		// An entry that does not fit is cut: a full buffer says "ask again".
		used += copy(buf[used:], head[:])
		used += copy(buf[used:], e.Name)
		if used == len(buf) {
			break
		}
	}
	return c.put32(4, uint32(used))
}
