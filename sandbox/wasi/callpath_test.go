package wasi

import (
	"math"
	"strings"
	"testing"
)

// A pathCall is a function of one path after a descriptor; more are the
// parameters around it.
type pathCall struct {
	name   string
	before []uint64 // between descriptor and path
	after  []uint64
}

var pathCalls = []pathCall{
	{"path_create_directory", nil, nil},
	{"path_filestat_get", []uint64{0}, []uint64{1000}},
	{"path_filestat_set_times", []uint64{0}, []uint64{0, 0, 0}},
	{"path_open", []uint64{0}, []uint64{0, rightsAll, rightsAll, 0, 1000}},
	{"path_readlink", nil, []uint64{1000, 100, 1200}},
	{"path_remove_directory", nil, nil},
	{"path_unlink_file", nil, nil},
}

func (p pathCall) params(fd, ptr, n uint64) []uint64 {
	out := append([]uint64{fd}, p.before...)
	return append(append(out, ptr, n), p.after...)
}

// TestPathsOfCalls: every call with a path refuses the same paths and the same
// descriptors.
func TestPathsOfCalls(t *testing.T) {
	long := strings.Repeat("x", MaxName+1)
	for _, p := range pathCalls {
		g := newGuest(t, New("t", nil, nil, roomy))
		file := mustOpen(t, g.State, "file", openCreate, rightsAll)
		for path, want := range map[string]Errno{
			"": ENOENT, "/file": ENOTCAPABLE, "../file": ENOTCAPABLE, "..": ENOTCAPABLE, "file/x": ENOTDIR,
			"none/x": ENOENT, "a\x00b": EILSEQ,
			"\xc3\x28": EILSEQ, long: ENAMETOOLONG, "file/../file": ENOTDIR,
		} {
			ptr, n := g.put(0, path)
			g.want(want, p.name, p.params(root, ptr, n)...)
			g.want(EBADF, p.name, p.params(100, ptr, n)...)
			g.want(ENOTDIR, p.name, p.params(uint64(file), ptr, n)...)
		}
		g.want(EFAULT, p.name, p.params(root, pageBytes-3, 4)...)
		g.want(EFAULT, p.name, p.params(root, math.MaxUint32, 1)...)
		g.want(ENAMETOOLONG, p.name, p.params(root, 0, MaxPath+1)...)
		g.want(ENAMETOOLONG, p.name, p.params(root, math.MaxUint32, math.MaxUint32)...)
	}
}

// TestPathOpenFlags: flags that preview 1 does not have, and where the result goes.
func TestPathOpenFlags(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	ptr, n := g.put(0, "f")
	open := func(look, how, flags, result uint64) []uint64 {
		return []uint64{root, look, ptr, n, how, rightsAll, 0, flags, result}
	}
	g.want(EINVAL, "path_open", open(0, 16, 0, 100)...)
	g.want(EINVAL, "path_open", open(0, 0, uint64(flagsAll)+1, 100)...)
	g.want(EINVAL, "path_open", open(0, uint64(openCreate|openDirectory), 0, 100)...)
	g.want(ENOENT, "path_open", open(0, 0, 0, 100)...)
	g.want(OK, "path_open", open(0, uint64(openCreate), uint64(flagAppend), 100)...)
	if fd := g.u32(100); fd != 4 || g.FDs[fd].Flags != flagAppend || g.FDs[fd].Rights != rightsFile {
		t.Errorf("descriptor %d: %+v", fd, g.FDs[4])
	}
	g.want(EEXIST, "path_open", open(0, uint64(openCreate|openExclusive), 0, 100)...)
	g.want(ENOTDIR, "path_open", open(0, uint64(openDirectory), 0, 100)...)
	g.want(EFAULT, "path_open", open(0, 0, 0, pageBytes-3)...)
	ptr, n = g.put(0, "new/")
	g.want(EINVAL, "path_open", open(0, uint64(openCreate), 0, 100)...)
	g.symlink("target", root, "l")
	ptr, n = g.put(0, "l")
	g.want(ELOOP, "path_open", open(0, 0, 0, 100)...)
	g.want(ENOENT, "path_open", open(lookupFollow, 0, 0, 100)...)
	g.want(EEXIST, "path_open", open(lookupFollow, uint64(openCreate|openExclusive), 0, 100)...)
	g.want(OK, "path_open", open(lookupFollow, uint64(openCreate), 0, 100)...)
	if g.lookup(rootIno, "target") == 0 {
		t.Error("a dangling link did not make its target")
	}
}

// TestLinksThroughCalls: symbolic links are made, read and followed; what is cut is
// cut to the buffer.
func TestLinksThroughCalls(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	g.mkdir(root, "d")
	write(g.State, mustOpen(t, g.State, "d/f", openCreate, rightsAll), "content")
	target, tn := g.put(0, "d/f")
	link, ln := g.put(50, "l")
	g.want(OK, "path_symlink", target, tn, root, link, ln)
	g.want(EEXIST, "path_symlink", target, tn, root, link, ln)
	g.want(ENOENT, "path_symlink", target, 0, root, link, ln)
	g.want(EFAULT, "path_symlink", pageBytes, 1, root, link, ln)
	g.want(EFAULT, "path_symlink", target, tn, root, pageBytes, 1)
	slash, sn := g.put(60, "m/")
	g.want(ENOENT, "path_symlink", target, tn, root, slash, sn)
	g.want(OK, "path_readlink", root, link, ln, 100, 50, 200)
	if got := g.text(100, g.u32(200)); got != "d/f" {
		t.Errorf("leads to %q", got)
	}
	g.want(OK, "path_readlink", root, link, ln, 100, 2, 200)
	if got := g.u32(200); got != 2 {
		t.Errorf("%d bytes in a buffer of 2", got)
	}
	g.want(EFAULT, "path_readlink", root, link, ln, pageBytes-1, 2, 200)
	g.want(EINVAL, "path_readlink", root, target, tn, 100, 50, 200)
	for follow, size := range []uint64{3, 7} {
		g.want(OK, "path_filestat_get", root, uint64(follow), link, ln, 400)
		if got := g.u64(432); got != size {
			t.Errorf("follow %d: %d bytes, want %d", follow, got, size)
		}
	}
	g.want(EFAULT, "path_filestat_get", root, 0, link, ln, pageBytes-63)
}

// TestNamesMove: hard links, renames and removals, with each refusal that POSIX
// gives them.
func TestNamesMove(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	for _, d := range []string{"d", "d/sub", "empty", "full"} {
		g.mkdir(root, d)
	}
	mustOpen(t, g.State, "full/x", openCreate, 0)
	mustOpen(t, g.State, "f", openCreate, 0)
	mustOpen(t, g.State, "g", openCreate, 0)
	two := func(want Errno, name, a, b string) {
		t.Helper()
		pa, na := g.put(0, a)
		pb, nb := g.put(300, b)
		if name == "path_link" {
			g.want(want, name, root, 0, pa, na, root, pb, nb)
			return
		}
		g.want(want, name, root, pa, na, root, pb, nb)
	}
	for _, c := range []struct {
		want       Errno
		name, a, b string
	}{
		{EPERM, "path_link", "d", "d2"},
		{EEXIST, "path_link", "f", "g"},
		{ENOENT, "path_link", "none", "x"},
		{ENOENT, "path_link", "f", "none/x"},
		{ENOENT, "path_link", "f", "x/"},
		{ENAMETOOLONG, "path_link", "f", strings.Repeat("n", MaxName+1)},
		{OK, "path_link", "f", "f2"},
		{OK, "path_rename", "f", "f2"}, // two names of one file: nothing to do
		{ENOENT, "path_rename", "none", "x"},
		{EINVAL, "path_rename", "d", "d/sub/x"},
		{EINVAL, "path_rename", "d", "d/x"},
		{EBUSY, "path_rename", ".", "x"},
		{EBUSY, "path_rename", "d", "."},
		{ENOTDIR, "path_rename", "d", "f"},
		{EISDIR, "path_rename", "f", "d"},
		{ENOTEMPTY, "path_rename", "empty", "full"},
		{ENOTDIR, "path_rename", "f", "new/"},
		{ENOTDIR, "path_rename", "f/", "new"},
		{OK, "path_rename", "d", "empty"},
		{OK, "path_rename", "g", "f"},
		{ENOTCAPABLE, "path_rename", "f", "../f"},
	} {
		two(c.want, c.name, c.a, c.b)
	}
	one := func(want Errno, name, path string) {
		t.Helper()
		p, n := g.put(0, path)
		g.want(want, name, root, p, n)
	}
	one(EISDIR, "path_unlink_file", "empty")
	one(ENOTDIR, "path_unlink_file", "f/")
	one(ENOENT, "path_unlink_file", "g")
	one(ENOTDIR, "path_remove_directory", "f")
	one(ENOTEMPTY, "path_remove_directory", "full")
	one(ENOENT, "path_remove_directory", "d")
	one(ENOTEMPTY, "path_remove_directory", ".")
	one(EEXIST, "path_create_directory", "f")
	one(EEXIST, "path_create_directory", ".")
	one(OK, "path_remove_directory", "empty/sub/")
	var left []string
	g.Written(func(name string, _ []byte) { left = append(left, name) })
	if got := strings.Join(left, " "); got != "f f2 full/x" || g.Entries != 5 {
		t.Errorf("left are %s, and %d entries", got, g.Entries)
	}
	p, n := g.put(0, "f")
	g.want(EFAULT, "path_rename", root, p, n, root, pageBytes, 1)
	g.want(EFAULT, "path_link", root, 0, pageBytes, 1, root, p, n)
	g.want(EFAULT, "path_link", root, 0, p, n, root, pageBytes, 1)
}

// TestRemovedDirectories: in a directory that is gone but open nothing is made, and
// nothing is taken into it.
func TestRemovedDirectories(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	g.mkdir(root, "d")
	mustOpen(t, g.State, "f", openCreate, 0)
	dir := mustOpen(t, g.State, "d", openDirectory, 0)
	if errno := g.rmdir(root, "d"); errno != OK {
		t.Fatal(errno)
	}
	for what, got := range map[string]Errno{
		"a directory": g.mkdir(dir, "x"), "a link": g.symlink("y", dir, "x"),
		"a hard link": g.hardlink(root, "f", false, dir, "x"),
		"a rename":    g.rename(root, "f", dir, "x"), "itself": g.rmdir(root, "d"),
	} {
		if got != ENOENT {
			t.Errorf("%s: errno %d, want %d", what, got, ENOENT)
		}
	}
	if _, errno := g.openPath(dir, "x", true, openCreate, FD{}); errno != ENOENT {
		t.Errorf("a file: errno %d, want %d", errno, ENOENT)
	}
	if errno := g.close(dir); errno != OK || len(g.Free) != 1 {
		t.Errorf("closing: errno %d, %d free", errno, len(g.Free))
	}
}

// TestDepth: directories go as deep as the bound, however they get there.
func TestDepth(t *testing.T) {
	s := New("t", nil, nil, Limits{Bytes: 1, Entries: 1000, Output: 1})
	deepest := strings.TrimSuffix(strings.Repeat("a/", MaxDepth), "/")
	for n := 1; n <= MaxDepth; n++ {
		if errno := s.mkdir(root, deepest[:2*n-1]); errno != OK {
			t.Fatalf("depth %d: errno %d", n, errno)
		}
	}
	if errno := s.mkdir(root, deepest+"/a"); errno != ENAMETOOLONG {
		t.Errorf("one deeper: errno %d, want %d", errno, ENAMETOOLONG)
	}
	s.mkdir(root, "b")
	s.mkdir(root, "b/c")
	if errno := s.rename(root, "b", root, deepest[:2*MaxDepth-3]+"/b"); errno != ENAMETOOLONG {
		t.Errorf("two directories moved one too deep: errno %d, want %d", errno, ENAMETOOLONG)
	}
	if errno := s.rename(root, "b", root, deepest[:2*MaxDepth-5]+"/b"); errno != OK {
		t.Errorf("moved as deep as can be: errno %d", errno)
	}
}

// TestNamesOfInputs: each name that no input may have, with the reason.
func TestNamesOfInputs(t *testing.T) {
	for name, want := range map[string]string{
		"":                                 "empty name",
		".":                                "empty name",
		"/etc/passwd":                      "absolute name",
		"..":                               "name is not a clean path below the root",
		"../x":                             "name is not a clean path below the root",
		"a/../b":                           "name is not a clean path below the root",
		"a/":                               "name is not a clean path below the root",
		"./a":                              "name is not a clean path below the root",
		strings.Repeat("a/", 64) + "a":     "name deeper than 64 directories",
		strings.Repeat("a", 256):           `bad component "` + strings.Repeat("a", 256) + `"`,
		"a/\xff":                           `bad component "\xff"`,
		"a\x00":                            `bad component "a\x00"`,
		strings.Repeat("abc/", 1024) + "a": "name longer than 4096 bytes",
	} {
		if err := CheckName(name); err == nil || err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", name, err, want)
		}
	}
	for _, name := range []string{"a", "...", "..a", "a/b.txt", "ü/ä", strings.Repeat("a/", 63) + "a",
		strings.Repeat("a", 255)} {
		if err := CheckName(name); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
