package wasi

import (
	"math"
	"slices"
)

// read copies from a file at off into the buffers and returns how many bytes.
func (s *State) read(i *Inode, off int64, bufs [][]byte) uint32 {
	n := uint32(0)
	for _, b := range bufs {
		if off >= int64(len(i.Data)) {
			break
		}
		k := copy(b, i.Data[off:])
		off += int64(k)
		n += uint32(k)
	}
	return n
}

// write puts the buffers into a file at off, growing it, filling a gap with
// zeros. All or nothing.
func (s *State) write(ino Ino, off int64, bufs [][]byte) (uint32, Errno) {
	i := &s.Inodes[ino]
	if i.ReadOnly {
		return 0, EACCES
	}
	total := length(bufs)
	if total > math.MaxUint32 {
		return 0, EINVAL
	}
	if i.Kind == KindStream {
		return s.print(i, bufs, total)
	}
	if total == 0 {
		return 0, OK
	}
	if off > math.MaxInt64-total {
		return 0, EFBIG
	}
	old, end := int64(len(i.Data)), off+total
	if end > old {
		if !s.resize(old, end) {
			return 0, ENOSPC
		}
		i.Data = slices.Grow(i.Data, int(end-old))[:end]
		if off > old {
			clear(i.Data[old:off])
		}
	}
	i.changed(min(old, off), end)
	for _, b := range bufs {
		off += int64(copy(i.Data[off:], b))
	}
	s.touch(ino)
	return uint32(total), OK
}

func (s *State) print(i *Inode, bufs [][]byte, total int64) (uint32, Errno) {
	i.changed(int64(len(i.Data)), math.MaxInt64)
	if total > s.Limits.Output-s.Output {
		// What fits is kept: the beginning of a flood tells what it was.
		rest := s.Limits.Output - s.Output
		for _, b := range bufs {
			k := min(int64(len(b)), rest)
			i.Data = append(i.Data, b[:k]...)
			rest -= k
		}
		s.Output = s.Limits.Output
		s.Over = &QuotaError{"bytes of output", s.Limits.Output}
		return 0, ENOSPC
	}
	for _, b := range bufs {
		i.Data = append(i.Data, b...)
	}
	s.Output += total
	return uint32(total), OK
}

func length(bufs [][]byte) int64 {
	n := int64(0)
	for _, b := range bufs {
		n += int64(len(b))
	}
	return n
}

// seek moves a descriptor and returns its new offset.
func (s *State) seek(fd uint32, delta int64, whence uint8) (int64, Errno) {
	d, i, errno := s.file(fd, 0)
	if errno == EISDIR {
		return 0, EBADF
	}
	if errno != OK {
		return 0, errno
	}
	if i.Kind == KindStream {
		return 0, ESPIPE
	}
	if d.Rights&rightSeek == 0 && !(d.Rights&rightTell != 0 && delta == 0 && whence == 1) {
		return 0, ENOTCAPABLE
	}
	base := int64(0)
	switch whence {
	case 0:
	case 1:
		base = d.Offset
	case 2:
		base = int64(len(i.Data))
	default:
		return 0, EINVAL
	}
	if delta > math.MaxInt64-base || base+delta < 0 {
		return 0, EINVAL
	}
	d.Offset = base + delta
	return d.Offset, OK
}

// list returns a directory's entries from cookie on; cookie 0 looks anew.
func (s *State) list(fd uint32, cookie uint64) ([]Dirent, Errno) {
	d, errno := s.dir(fd)
	if errno != OK {
		return nil, errno
	}
	i := &s.Inodes[d.Ino]
	if cookie == 0 {
		d.Listing = append(make([]Dirent, 0, len(i.Names)+2), Dirent{".", d.Ino, KindDir}, Dirent{"..", i.Parent, KindDir})
		for _, e := range i.Names {
			d.Listing = append(d.Listing, Dirent{e.Name, e.Ino, s.Inodes[e.Ino].Kind})
		}
	}
	if cookie > uint64(len(d.Listing)) {
		return nil, EINVAL
	}
	return d.Listing[cookie:], OK
}
