package wasi

import (
	"encoding/binary"
)

// File types as preview 1 numbers them.
func filetype(k Kind) byte {
	switch k {
	case KindDir:
		return 3
	case KindFile:
		return 4
	case KindLink:
		return 7
	}
	return 0 // a stream: like a pipe, of no type that preview 1 has a name for
}

func fdAdvise(c *call) Errno {
	_, _, errno := c.file(c.u32(0), 0)
	if errno == OK && c.u32(3) > 5 {
		return EINVAL
	}
	return errno
}

func fdAllocate(c *call) Errno {
	d, i, errno := c.file(c.u32(0), rightWrite)
	off, n := c.i64(1), c.i64(2)
	switch {
	case errno != OK:
		return errno
	case off < 0 || n <= 0 || off+n < 0:
		return EINVAL
	case i.Kind != KindFile:
		return ESPIPE
	case off+n <= int64(len(i.Data)):
		return OK
	}
	return c.truncate(d.Ino, off+n)
}

func fdClose(c *call) Errno { return c.close(c.u32(0)) }

func fdSync(c *call) Errno {
	if c.fd(c.u32(0)) == nil {
		return EBADF
	}
	return OK
}

func fdStatGet(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil {
		return EBADF
	}
	b, ok := c.bytes(c.u32(1), 24)
	if !ok {
		return EFAULT
	}
	clear(b)
	b[0] = filetype(c.Inodes[d.Ino].Kind)
	binary.LittleEndian.PutUint16(b[2:], d.Flags)
	binary.LittleEndian.PutUint64(b[8:], d.Rights)
	binary.LittleEndian.PutUint64(b[16:], d.Inheriting)
	return OK
}

func fdSetFlags(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil {
		return EBADF
	}
	if c.u32(1) > uint32(flagsAll) {
		return EINVAL
	}
	d.Flags = c.u16(1)
	return OK
}

// Rights can only be given up.
func fdSetRights(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil {
		return EBADF
	}
	if c.p[1]&^d.Rights != 0 || c.p[2]&^d.Inheriting != 0 {
		return ENOTCAPABLE
	}
	d.Rights, d.Inheriting = c.p[1], c.p[2]
	return OK
}

func fdFilestat(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil {
		return EBADF
	}
	return c.putStat(1, d.Ino)
}

// device is the number of the only file system there is.
const device = 1

func (c *call) putStat(i int, ino Ino) Errno {
	b, ok := c.bytes(c.u32(i), 64)
	if !ok {
		return EFAULT
	}
	n := &c.Inodes[ino]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, device)
	le.PutUint64(b[8:], uint64(ino))
	b[16] = filetype(n.Kind)
	le.PutUint64(b[24:], uint64(n.Links))
	le.PutUint64(b[32:], uint64(len(n.Data)))
	le.PutUint64(b[40:], uint64(Epoch+n.Atim))
	le.PutUint64(b[48:], uint64(Epoch+n.Mtim))
	le.PutUint64(b[56:], uint64(Epoch+n.Ctim))
	return OK
}

func fdSetSize(c *call) Errno {
	d, i, errno := c.file(c.u32(0), rightWrite)
	switch {
	case errno == EISDIR:
		return EBADF
	case errno != OK:
		return errno
	case i.Kind != KindFile || c.i64(1) < 0:
		return EINVAL
	}
	return c.truncate(d.Ino, c.i64(1))
}

func fdSetTimes(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil {
		return EBADF
	}
	return c.setTimes(d.Ino, c.i64(1), c.i64(2), c.u16(3))
}

// Flags of the calls that set times.
const (
	setAtim uint16 = 1 << iota
	setAtimNow
	setMtim
	setMtimNow
)

func (s *State) setTimes(ino Ino, atim, mtim int64, flags uint16) Errno {
	both := func(f uint16) bool { return flags&f == f }
	if both(setAtim|setAtimNow) || both(setMtim|setMtimNow) || flags > 15 {
		return EINVAL
	}
	n := &s.Inodes[ino]
	n.Atim = newTime(n.Atim, atim, s.Clock, flags&setAtim != 0, flags&setAtimNow != 0)
	n.Mtim = newTime(n.Mtim, mtim, s.Clock, flags&setMtim != 0, flags&setMtimNow != 0)
	n.Ctim = s.Clock
	return OK
}

func newTime(old, given, now int64, set, setNow bool) int64 {
	switch {
	case set:
		return given - Epoch
	case setNow:
		return now
	}
	return old
}

func fdPrestat(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil || !d.Preopen {
		return EBADF
	}
	if errno := c.put32(1, 0); errno != OK { // tag: a directory
		return errno
	}
	if !c.mem.WriteUint32Le(c.u32(1)+4, uint32(len(rootName))) {
		return EFAULT
	}
	return OK
}

// rootName is what the only preopened directory is called.
const rootName = "/"

func fdPrestatName(c *call) Errno {
	d := c.fd(c.u32(0))
	if d == nil || !d.Preopen {
		return EBADF
	}
	if c.u32(2) < uint32(len(rootName)) {
		return ENAMETOOLONG
	}
	if !c.mem.WriteString(c.u32(1), rootName) {
		return EFAULT
	}
	return OK
}

func fdRenumber(c *call) Errno { return c.renumber(c.u32(0), c.u32(1)) }
