package wasi

// lookupFollow is the only flag of a path's look-up.
const lookupFollow = 1

func pathOpen(c *call) Errno {
	fd, path, errno := c.path(0, 2)
	if errno != OK {
		return errno
	}
	if c.u32(7) > uint32(flagsAll) || c.u32(4) > 15 {
		return EINVAL
	}
	d := FD{Flags: c.u16(7), Rights: c.p[5] & rightsAll, Inheriting: c.p[6] & rightsAll}
	n, errno := c.openPath(fd, path, c.u32(1)&lookupFollow != 0, c.u16(4), d)
	if errno != OK {
		return errno
	}
	return c.put32(8, n)
}

func pathMkdir(c *call) Errno {
	fd, path, errno := c.path(0, 1)
	if errno != OK {
		return errno
	}
	return c.mkdir(fd, path)
}

func pathUnlink(c *call) Errno {
	fd, path, errno := c.path(0, 1)
	if errno != OK {
		return errno
	}
	return c.unlinkFile(fd, path)
}

func pathRmdir(c *call) Errno {
	fd, path, errno := c.path(0, 1)
	if errno != OK {
		return errno
	}
	return c.rmdir(fd, path)
}

func pathStat(c *call) Errno {
	fd, path, errno := c.path(0, 2)
	if errno != OK {
		return errno
	}
	at, errno := c.existing(fd, path, c.u32(1)&lookupFollow != 0)
	if errno != OK {
		return errno
	}
	return c.putStat(4, at.ino)
}

func pathSetTimes(c *call) Errno {
	fd, path, errno := c.path(0, 2)
	if errno != OK {
		return errno
	}
	at, errno := c.existing(fd, path, c.u32(1)&lookupFollow != 0)
	if errno != OK {
		return errno
	}
	return c.setTimes(at.ino, c.i64(4), c.i64(5), c.u16(6))
}

func pathLink(c *call) Errno {
	oldFD, oldPath, errno := c.path(0, 2)
	if errno != OK {
		return errno
	}
	newFD, newPath, errno := c.path(4, 5)
	if errno != OK {
		return errno
	}
	return c.hardlink(oldFD, oldPath, c.u32(1)&lookupFollow != 0, newFD, newPath)
}

func pathRename(c *call) Errno {
	oldFD, oldPath, errno := c.path(0, 1)
	if errno != OK {
		return errno
	}
	newFD, newPath, errno := c.path(3, 4)
	if errno != OK {
		return errno
	}
	return c.rename(oldFD, oldPath, newFD, newPath)
}

func pathSymlink(c *call) Errno {
	target, errno := c.str(0)
	if errno != OK {
		return errno
	}
	fd, path, errno := c.path(2, 3)
	if errno != OK {
		return errno
	}
	return c.symlink(target, fd, path)
}

func pathReadlink(c *call) Errno {
	fd, path, errno := c.path(0, 1)
	if errno != OK {
		return errno
	}
	at, errno := c.existing(fd, path, false)
	if errno != OK {
		return errno
	}
	n := &c.Inodes[at.ino]
	if n.Kind != KindLink {
		return EINVAL
	}
	buf, ok := c.bytes(c.u32(3), c.u32(4))
	if !ok {
		return EFAULT
	}
	return c.put32(5, uint32(copy(buf, n.Data)))
}
