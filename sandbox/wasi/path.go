package wasi

// Flags of path_open.
const (
	openCreate uint16 = 1 << iota
	openDirectory
	openExclusive
	openTruncate
)

// openPath opens what a path names, making a file where asked to.
func (s *State) openPath(fd uint32, path string, follow bool, how uint16, d FD) (uint32, Errno) {
	if how&openExclusive != 0 && how&openCreate != 0 {
		follow = false // O_EXCL must see the link itself
	}
	at, errno := s.resolve(fd, path, follow)
	if errno != OK {
		return 0, errno
	}
	truncate := s.FDs[fd].Rights & rightTruncate
	if how&openTruncate != 0 && truncate == 0 {
		return 0, ENOTCAPABLE
	}
	if at.ino == 0 {
		if how&openCreate == 0 {
			return 0, ENOENT
		}
		if at.slash || how&openDirectory != 0 {
			return 0, EINVAL
		}
		// A full table must not leave an empty file behind.
		if s.full() {
			return 0, EMFILE
		}
		if at.ino, errno = s.create(at.dir, at.name, Inode{Kind: KindFile}); errno != OK {
			return 0, errno
		}
	} else if errno := s.mayOpen(at, how, d.Rights); errno != OK {
		return 0, errno
	}
	if s.Inodes[at.ino].Kind == KindDir {
		// A directory passes on the right to truncate whether it is asked for or not:
		// Go's os.Root asks for a reader's rights only, and creates files with O_TRUNC
		// below it. Who gives the right up does not get it back by opening ".".
		d.Rights = d.Rights&rightsDir&^rightTruncate | truncate
	} else {
		d.Rights, d.Inheriting = d.Rights&rightsFile, 0
	}
	d.Ino = at.ino
	return s.open(d)
}

func (s *State) full() bool {
	if len(s.FDs) < MaxFDs {
		return false
	}
	for _, d := range s.FDs {
		if d.Ino == 0 {
			return false
		}
	}
	return true
}

// mayOpen checks the opening of what is there, and truncates it where asked.
func (s *State) mayOpen(at place, how uint16, rights uint64) Errno {
	n := &s.Inodes[at.ino]
	isDir := n.Kind == KindDir
	switch {
	case how&openCreate != 0 && how&openExclusive != 0:
		return EEXIST
	case n.Kind == KindLink:
		return ELOOP
	case !isDir && (at.slash || how&openDirectory != 0):
		return ENOTDIR
	case isDir && (how&(openTruncate|openCreate) != 0 || rights&rightWrite != 0):
		return EISDIR
	case !isDir && n.ReadOnly && (how&openTruncate != 0 || rights&rightWrite != 0):
		return EACCES
	case how&openTruncate != 0:
		return s.truncate(at.ino, 0)
	}
	return OK
}

func (s *State) mkdir(fd uint32, path string) Errno {
	at, errno := s.absent(fd, path)
	if errno != OK {
		return errno
	}
	_, errno = s.create(at.dir, at.name, Inode{Kind: KindDir, Parent: at.dir})
	return errno
}

func (s *State) symlink(target string, fd uint32, path string) Errno {
	if errno := checkPath(target); errno != OK {
		return errno
	}
	at, errno := s.absent(fd, path)
	if errno != OK {
		return errno
	}
	if at.slash {
		return ENOENT
	}
	_, errno = s.create(at.dir, at.name, Inode{Kind: KindLink, Data: []byte(target)})
	return errno
}

// hardlink gives a file one more name.
func (s *State) hardlink(oldFD uint32, oldPath string, follow bool, newFD uint32, newPath string) Errno {
	from, errno := s.existing(oldFD, oldPath, follow)
	if errno != OK {
		return errno
	}
	to, errno := s.absent(newFD, newPath)
	switch {
	case errno != OK:
		return errno
	case s.Inodes[from.ino].Kind == KindDir || s.Inodes[from.ino].ReadOnly:
		return EPERM
	case to.slash || s.Inodes[to.dir].Links == 0:
		return ENOENT
	}
	if errno := checkComponent(to.name); errno != OK {
		return errno
	}
	if !s.charge() {
		return ENOSPC
	}
	s.link(to.dir, to.name, from.ino)
	return OK
}

func (s *State) unlinkFile(fd uint32, path string) Errno {
	at, errno := s.resolve(fd, path, false)
	switch {
	case errno != OK:
		return errno
	case at.ino == 0:
		return ENOENT
	case s.Inodes[at.ino].Kind == KindDir:
		return EISDIR
	case at.slash:
		return ENOTDIR
	case s.Inodes[at.ino].ReadOnly:
		return EACCES
	}
	s.unlink(at.dir, at.name)
	return OK
}

func (s *State) rmdir(fd uint32, path string) Errno {
	at, errno := s.resolve(fd, path, false)
	switch {
	case errno != OK:
		return errno
	case at.ino == 0:
		return ENOENT
	case s.Inodes[at.ino].Kind != KindDir:
		return ENOTDIR
	case len(s.Inodes[at.ino].Names) > 0:
		return ENOTEMPTY
	case at.name == "":
		return EINVAL
	case at.ino == rootIno || s.Inodes[at.ino].ReadOnly:
		return EBUSY
	}
	s.unlink(at.dir, at.name)
	return OK
}

// rename moves a name, over another one where both are of the same sort.
func (s *State) rename(oldFD uint32, oldPath string, newFD uint32, newPath string) Errno {
	from, errno := s.existing(oldFD, oldPath, false)
	if errno != OK {
		return errno
	}
	to, errno := s.resolve(newFD, newPath, false)
	if errno != OK {
		return errno
	}
	if from.ino == to.ino {
		return OK
	}
	if errno := s.mayRename(from, to); errno != OK {
		return errno
	}
	if to.ino != 0 {
		s.unlink(to.dir, to.name)
	}
	// The order keeps the inode alive, and its parent the new directory.
	s.link(to.dir, to.name, from.ino)
	s.Entries++
	s.unlink(from.dir, from.name)
	return OK
}

func (s *State) mayRename(from, to place) Errno {
	isDir := s.Inodes[from.ino].Kind == KindDir
	switch {
	case from.name == "" || to.name == "":
		return EBUSY
	case s.Inodes[from.ino].ReadOnly:
		return EACCES
	case s.Inodes[to.dir].Links == 0:
		return ENOENT
	case isDir && s.below(to.dir, from.ino):
		return EINVAL
	case isDir && s.depth(to.dir)+s.height(from.ino) > MaxDepth:
		return ENAMETOOLONG
	case to.ino == 0 && to.slash && !isDir:
		return ENOTDIR
	case to.ino == 0:
		return checkComponent(to.name)
	case s.Inodes[to.ino].ReadOnly:
		return EACCES
	case isDir && s.Inodes[to.ino].Kind != KindDir:
		return ENOTDIR
	case !isDir && s.Inodes[to.ino].Kind == KindDir:
		return EISDIR
	case len(s.Inodes[to.ino].Names) > 0:
		return ENOTEMPTY
	}
	return OK
}

// below says whether dir is top or lies under it.
func (s *State) below(dir, top Ino) bool {
	for dir != top && dir != rootIno {
		dir = s.Inodes[dir].Parent
	}
	return dir == top
}

// height is the number of directories on the longest way down from ino.
func (s *State) height(ino Ino) int {
	if s.Inodes[ino].Kind != KindDir {
		return 0
	}
	h := 0
	for _, e := range s.Inodes[ino].Names {
		h = max(h, s.height(e.Ino))
	}
	return h + 1
}
