package wasi

// Rights of a descriptor, as preview 1 numbers them. Only those that change
// an answer have names here.
const (
	rightRead  uint64 = 1 << 1
	rightSeek  uint64 = 1 << 2
	rightTell  uint64 = 1 << 5
	rightWrite uint64 = 1 << 6

	// rightTruncate is a directory's PATH_FILESTAT_SET_SIZE: O_TRUNC of what is in it.
	rightTruncate uint64 = 1 << 19

	rightsAll  uint64 = 1<<30 - 1
	rightsDir         = rightsAll &^ (rightRead | rightWrite | rightSeek | rightTell)
	rightsFile        = 1<<0 | rightRead | rightSeek | 1<<3 | 1<<4 | rightTell | rightWrite | 1<<7 | 1<<8 |
		1<<21 | 1<<22 | 1<<23 | 1<<27
	rightsStream = 1<<3 | 1<<4 | rightWrite | 1<<21 | 1<<27
)

// Flags of a descriptor, as fd_fdstat_set_flags takes them.
const (
	flagAppend uint16 = 1 << iota
	flagDsync
	flagNonblock
	flagRsync
	flagSync
	flagsAll = 1<<iota - 1
)

// An FD is one open descriptor. The zero value is a closed one.
type FD struct {
	Ino        Ino
	Offset     int64 // bytes; never negative
	Flags      uint16
	Rights     uint64
	Inheriting uint64
	Preopen    bool
	// Listing is a directory's content as the last fd_readdir from its
	// beginning saw it, so that cookies stay good while entries come and go.
	Listing []Dirent
}

// A Dirent is one entry that fd_readdir gives.
type Dirent struct {
	Name string
	Ino  Ino
	Kind Kind
}

// fd returns an open descriptor, or nil.
func (s *State) fd(n uint32) *FD {
	if uint64(n) >= uint64(len(s.FDs)) || s.FDs[n].Ino == 0 {
		return nil
	}
	return &s.FDs[n]
}

// dir returns an open descriptor of a directory.
func (s *State) dir(n uint32) (*FD, Errno) {
	d := s.fd(n)
	if d == nil {
		return nil, EBADF
	}
	if s.Inodes[d.Ino].Kind != KindDir {
		return nil, ENOTDIR
	}
	return d, OK
}

// file returns an open descriptor that is no directory and has a right.
func (s *State) file(n uint32, right uint64) (*FD, *Inode, Errno) {
	d := s.fd(n)
	if d == nil {
		return nil, nil, EBADF
	}
	i := &s.Inodes[d.Ino]
	if i.Kind == KindDir {
		return nil, nil, EISDIR
	}
	if d.Rights&right != right {
		return nil, nil, EBADF
	}
	return d, i, OK
}

// open gives the lowest free number to a descriptor.
func (s *State) open(d FD) (uint32, Errno) {
	n := 0
	for n < len(s.FDs) && s.FDs[n].Ino != 0 {
		n++
	}
	if n >= MaxFDs {
		return 0, EMFILE
	}
	if n == len(s.FDs) {
		s.FDs = append(s.FDs, FD{})
	}
	s.FDs[n] = d
	s.Inodes[d.Ino].Opens++
	return uint32(n), OK
}

func (s *State) close(n uint32) Errno {
	d := s.fd(n)
	if d == nil {
		return EBADF
	}
	ino := d.Ino
	*d = FD{}
	s.Inodes[ino].Opens--
	s.release(ino)
	return OK
}

// renumber moves a descriptor over another open one.
func (s *State) renumber(from, to uint32) Errno {
	if s.fd(from) == nil || s.fd(to) == nil {
		return EBADF
	}
	if from == to {
		return OK
	}
	moved := s.FDs[from]
	s.FDs[from] = FD{}
	s.close(to)
	s.FDs[to] = moved
	return OK
}

// stream says whether a descriptor has no position.
func (s *State) stream(d *FD) bool { return s.Inodes[d.Ino].Kind == KindStream }
