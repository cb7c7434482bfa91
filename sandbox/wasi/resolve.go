package wasi

import (
	"strings"
	"unicode/utf8"
)

// A place is what a path leads to: a name in a directory, and the inode there
// or 0. For a path that ends in "." or ".." the name is empty and ino is the
// directory itself.
type place struct {
	dir  Ino
	name string
	ino  Ino
	// slash: the path ended in one, so what is there must be a directory.
	slash bool
}

// A walk resolves one path. Base is the directory it may never leave.
type walk struct {
	s     *State
	base  Ino
	links int // symbolic links followed so far
}

// resolve finds where path leads from the directory of descriptor fd. With
// follow, a symbolic link in the last place is followed too. A place with ino
// 0 is no error: the caller may want to make it. Paths cannot leave the
// directory they start in, neither by ".." nor through links.
func (s *State) resolve(fd uint32, path string, follow bool) (place, Errno) {
	d, errno := s.dir(fd)
	if errno != OK {
		return place{}, errno
	}
	if errno := checkPath(path); errno != OK {
		return place{}, errno
	}
	w := walk{s: s, base: d.Ino}
	return w.from(d.Ino, path, follow)
}

func checkPath(path string) Errno {
	switch {
	case path == "":
		return ENOENT
	case len(path) > MaxPath:
		return ENAMETOOLONG
	case !utf8.ValidString(path) || strings.IndexByte(path, 0) >= 0:
		return EILSEQ
	case path[0] == '/':
		return ENOTCAPABLE
	}
	return OK
}

// from walks path starting at dir.
func (w *walk) from(dir Ino, path string, follow bool) (place, Errno) {
	slash := strings.HasSuffix(path, "/")
	rest := strings.Trim(path, "/")
	for {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		rest = strings.TrimLeft(rest, "/")
		last := rest == ""
		at, errno := w.step(dir, part)
		if errno != OK {
			return place{}, errno
		}
		at.slash = slash && last
		if at.ino != 0 && w.s.Inodes[at.ino].Kind == KindLink && (!last || follow || slash) {
			if at, errno = w.link(dir, at.ino, at.slash); errno != OK {
				return place{}, errno
			}
		}
		if last {
			return at, OK
		}
		if at.ino == 0 {
			return place{}, ENOENT
		}
		if w.s.Inodes[at.ino].Kind != KindDir {
			return place{}, ENOTDIR
		}
		dir = at.ino
	}
}

// step takes one component.
func (w *walk) step(dir Ino, part string) (place, Errno) {
	switch part {
	case "", ".":
		return place{dir: dir, ino: dir}, OK
	case "..":
		if dir == w.base || dir == rootIno {
			return place{}, ENOTCAPABLE
		}
		up := w.s.Inodes[dir].Parent
		return place{dir: up, ino: up}, OK
	}
	if len(part) > MaxName {
		return place{}, ENAMETOOLONG
	}
	return place{dir: dir, name: part, ino: w.s.lookup(dir, part)}, OK
}

// link goes on through a symbolic link that lies in dir.
func (w *walk) link(dir, ino Ino, slash bool) (place, Errno) {
	if w.links++; w.links > MaxSymlinks {
		return place{}, ELOOP
	}
	target := string(w.s.Inodes[ino].Data)
	if errno := checkPath(target); errno != OK {
		return place{}, errno
	}
	at, errno := w.from(dir, target, true)
	at.slash = at.slash || slash
	return at, errno
}

// existing resolves a path to something that is there.
func (s *State) existing(fd uint32, path string, follow bool) (place, Errno) {
	at, errno := s.resolve(fd, path, follow)
	switch {
	case errno != OK:
		return at, errno
	case at.ino == 0:
		return at, ENOENT
	case at.slash && s.Inodes[at.ino].Kind != KindDir:
		return at, ENOTDIR
	}
	return at, OK
}

// absent resolves a path to a name that can be made.
func (s *State) absent(fd uint32, path string) (place, Errno) {
	at, errno := s.resolve(fd, path, false)
	switch {
	case errno != OK:
		return at, errno
	case at.ino != 0 || at.name == "":
		return at, EEXIST
	}
	return at, OK
}
