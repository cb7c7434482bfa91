package wasi

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind tells inodes apart.
type Kind uint8

// The kinds of inode.
const (
	KindFree   Kind = iota // a hole in State.Inodes
	KindFile               // Data is its content
	KindDir                // Names is its content
	KindLink               // Data is the target of the symbolic link
	KindStream             // Data is what was written; neither read nor seek
)

// An Inode is a file, directory, link or stream. It lives while Links or
// Opens is positive.
type Inode struct {
	Kind     Kind
	ReadOnly bool // an input, or a directory made for one: never unlinked, and Data never written
	Data     []byte
	Names    []Name // of a directory, sorted by name, without "." and ".."
	Parent   Ino    // of a directory; the root's is itself
	Links    uint32 // names that lead here; 1 for a directory, 0 when removed
	Opens    uint32 // descriptors that lead here

	Atim, Mtim, Ctim int64 // nanoseconds since Epoch

	sums [][sha256.Size]byte // of the blocks of Data: see blocks
}

// A Name is one entry of a directory.
type Name struct {
	Name string
	Ino  Ino
}

// checkComponent says whether a name can stand in a directory.
func checkComponent(name string) Errno {
	switch {
	case name == "" || name == "." || name == "..":
		return EINVAL
	case len(name) > MaxName:
		return ENAMETOOLONG
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return EILSEQ
	}
	return OK
}

func find(names []Name, name string) (int, bool) {
	return slices.BinarySearchFunc(names, name, func(e Name, n string) int { return strings.Compare(e.Name, n) })
}

// lookup returns what name means in dir, or 0.
func (s *State) lookup(dir Ino, name string) Ino {
	names := s.Inodes[dir].Names
	if i, ok := find(names, name); ok {
		return names[i].Ino
	}
	return 0
}

// alloc places an inode in the first hole, stamped with the present time.
func (s *State) alloc(n Inode) Ino {
	n.Atim, n.Mtim, n.Ctim = s.Clock, s.Clock, s.Clock
	if k := len(s.Free); k > 0 {
		ino := s.Free[k-1]
		s.Free = s.Free[:k-1]
		s.Inodes[ino] = n
		return ino
	}
	s.Inodes = append(s.Inodes, n)
	return Ino(len(s.Inodes) - 1)
}

// charge counts one more entry; false ends the guest.
func (s *State) charge() bool {
	if s.Entries >= s.Limits.Entries {
		s.Over = &QuotaError{"files", int64(s.Limits.Entries)}
		return false
	}
	s.Entries++
	return true
}

// create makes a new entry within the quota. The name must not exist.
func (s *State) create(dir Ino, name string, n Inode) (Ino, Errno) {
	if errno := checkComponent(name); errno != OK {
		return 0, errno
	}
	if s.Inodes[dir].Links == 0 { // removed while open
		return 0, ENOENT
	}
	if n.Kind == KindDir && s.depth(dir) >= MaxDepth {
		return 0, ENAMETOOLONG
	}
	if !s.charge() || !s.resize(0, int64(len(n.Data))) {
		return 0, ENOSPC
	}
	ino := s.alloc(n)
	s.link(dir, name, ino)
	return ino, OK
}

func (s *State) depth(dir Ino) int {
	n := 0
	for ; dir != rootIno; dir = s.Inodes[dir].Parent {
		n++
	}
	return n
}

// link adds a name for ino, which dir must not have.
func (s *State) link(dir Ino, name string, ino Ino) {
	d := &s.Inodes[dir]
	i, _ := find(d.Names, name)
	d.Names = slices.Insert(d.Names, i, Name{name, ino})
	s.touch(dir)
	s.Inodes[ino].Links++
	if s.Inodes[ino].Kind == KindDir {
		s.Inodes[ino].Parent = dir
	}
}

// unlink removes a name that dir has, and the inode if that was its last use.
func (s *State) unlink(dir Ino, name string) {
	d := &s.Inodes[dir]
	i, ok := find(d.Names, name)
	if !ok {
		return
	}
	ino := d.Names[i].Ino
	d.Names = slices.Delete(d.Names, i, i+1)
	s.touch(dir)
	s.Entries-- // only inputs are not charged, and they are never unlinked
	s.Inodes[ino].Links--
	s.release(ino)
}

// touch stamps a changed inode.
func (s *State) touch(ino Ino) { s.Inodes[ino].Mtim, s.Inodes[ino].Ctim = s.Clock, s.Clock }

// release frees an inode that nothing leads to, and gives its bytes back.
func (s *State) release(ino Ino) {
	n := &s.Inodes[ino]
	if n.Links > 0 || n.Opens > 0 {
		return
	}
	if n.Kind != KindStream && !n.ReadOnly {
		s.Bytes -= int64(len(n.Data))
	}
	*n = Inode{}
	s.Free = append(s.Free, ino)
}

// resize accounts for content that goes from old to size bytes; false ends
// the guest.
func (s *State) resize(old, size int64) bool {
	if size-old > s.Limits.Bytes-s.Bytes {
		s.Over = &QuotaError{"bytes of files", s.Limits.Bytes}
		return false
	}
	s.Bytes += size - old
	return true
}

// truncate sets the length of a file, filling with zeros.
func (s *State) truncate(ino Ino, size int64) Errno {
	n := &s.Inodes[ino]
	if n.ReadOnly {
		return EACCES
	}
	old := int64(len(n.Data))
	if !s.resize(old, size) {
		return ENOSPC
	}
	switch {
	case size <= old && int64(cap(n.Data)) > 2*size:
		// Capacity is not in the quota, so it must not outlive the content.
		n.Data = slices.Clone(n.Data[:size:size])
	case size <= old:
		n.Data = n.Data[:size]
	default:
		n.Data = slices.Grow(n.Data, int(size-old))[:size]
		clear(n.Data[old:])
	}
	n.changed(min(old, size), max(old, size))
	s.touch(ino)
	return OK
}
