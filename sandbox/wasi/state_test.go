package wasi

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var roomy = Limits{Bytes: 1 << 20, Entries: 100, Output: 1 << 10}

// root is the descriptor of the preopened directory.
const root = 3

func mustOpen(t *testing.T, s *State, path string, how uint16, rights uint64) uint32 {
	t.Helper()
	fd, errno := s.openPath(root, path, true, how, FD{Rights: rights})
	if errno != OK {
		t.Fatalf("open %s: errno %d", path, errno)
	}
	return fd
}

func write(s *State, fd uint32, text string) Errno {
	d := s.fd(fd)
	n, errno := s.write(d.Ino, d.Offset, [][]byte{[]byte(text)})
	s.FDs[fd].Offset += int64(n)
	return errno
}

func TestPathsStayInside(t *testing.T) {
	s := New("t", nil, nil, roomy)
	if err := s.AddInput("dir/sub/file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, l := range [][2]string{{"loop", "loop"}, {"dir/up", "../.."}, {"dir/ok", "../dir/sub"}, {"far", "a/../../b"},
		{"dangling", "nowhere"}} {
		if errno := s.symlink(l[1], root, l[0]); errno != OK {
			t.Fatalf("symlink %s: errno %d", l[0], errno)
		}
	}
	sub := mustOpen(t, s, "dir", openDirectory, 0)
	cases := []struct {
		fd   uint32
		path string
		want Errno
	}{
		{root, "dir/sub/file", OK},
		{root, "./dir//sub/../sub/./file", OK},
		{root, "dir/ok/file", OK},
		{root, "dir/sub/", OK},
		{root, ".", OK},
		{root, "", ENOENT},
		{root, "nowhere", ENOENT},
		{root, "nowhere/file", ENOENT},
		{root, "dangling", ENOENT},
		{root, "dir/sub/file/", ENOTDIR},
		{root, "dir/sub/file/x", ENOTDIR},
		{root, "/dir", ENOTCAPABLE},
		{root, "..", ENOTCAPABLE},
		{root, "dir/../../x", ENOTCAPABLE},
		{root, "dir/up/x", ENOTCAPABLE},
		{root, "far", ENOENT}, // "a" does not exist
		{root, "loop", ELOOP},
		{root, "a\x00b", EILSEQ},
		{root, "\xff", EILSEQ},
		{root, strings.Repeat("x", MaxName+1), ENAMETOOLONG},
		{root, strings.Repeat("x/", MaxPath), ENAMETOOLONG},
		{sub, "sub/file", OK},
		{sub, "../dir", ENOTCAPABLE}, // not above the directory that is open
		{99, "x", EBADF},
		{1, "x", ENOTDIR},
	}
	for _, c := range cases {
		if _, got := s.existing(c.fd, c.path, true); got != c.want {
			t.Errorf("%d %.40q: errno %d, want %d", c.fd, c.path, got, c.want)
		}
	}
	if errno := s.symlink("/etc", root, "abs"); errno != ENOTCAPABLE {
		t.Errorf("absolute link: errno %d, want %d", errno, ENOTCAPABLE)
	}
}

func TestInputsAreReadOnly(t *testing.T) {
	data := []byte("given")
	s := New("t", nil, nil, roomy)
	if err := s.AddInput("d/in", data); err != nil {
		t.Fatal(err)
	}
	refusals := map[string]Errno{
		"unlink":      s.unlinkFile(root, "d/in"),
		"rename":      s.rename(root, "d/in", root, "x"),
		"rename dir":  s.rename(root, "d", root, "x"),
		"hard link":   s.hardlink(root, "d/in", false, root, "x"),
		"remove dir":  s.rmdir(root, "d"),
		"rename over": s.rename(root, "mine", root, "d/in"),
	}
	for _, how := range []uint16{0, openTruncate} {
		_, refusals[fmt.Sprint("open ", how)] = s.openPath(root, "d/in", true, how, FD{Rights: rightWrite})
	}
	for what, errno := range refusals {
		if errno == OK {
			t.Errorf("%s: was allowed", what)
		}
	}
	s.Written(func(name string, _ []byte) { t.Errorf("%s counts as written", name) })
	if string(data) != "given" || s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("data %q, %d entries, %d bytes", data, s.Entries, s.Bytes)
	}
	for _, bad := range []string{"", "/x", "../x", "a/../b", "a//b", "d/in", "d/in/x", "d",
		strings.Repeat("a/", MaxDepth) + "x"} {
		if s.AddInput(bad, nil) == nil {
			t.Errorf("AddInput(%q): no error", bad)
		}
	}
}

// A directory cannot be written, however it is opened; and who only lists it
// can open it with every other right.
func TestDirectoriesAreNotWritten(t *testing.T) {
	s := New("t", nil, nil, roomy)
	if errno := s.mkdir(root, "d"); errno != OK {
		t.Fatal(errno)
	}
	cases := []struct {
		how    uint16
		rights uint64
		want   Errno
	}{
		{openDirectory, rightRead, OK},
		{openDirectory, rightsAll &^ rightWrite, OK},
		{0, rightsAll &^ rightWrite, OK},
		{openDirectory, rightRead | rightWrite, EISDIR},
		{0, rightWrite, EISDIR},
		{openDirectory | openTruncate, 0, EISDIR},
		{openCreate, 0, EISDIR},
	}
	for _, path := range []string{"d", "."} {
		for _, c := range cases {
			if _, got := s.openPath(root, path, true, c.how, FD{Rights: c.rights}); got != c.want {
				t.Errorf("%s, how %d, rights %#x: errno %d, want %d", path, c.how, c.rights, got, c.want)
			}
		}
	}
}

// Truncating by O_TRUNC is a right of the directory, which those opened from it
// have too, until it is given up.
func TestTruncationIsTheDirectorysRight(t *testing.T) {
	s := New("t", nil, nil, roomy)
	if errno := s.mkdir(root, "d"); errno != OK {
		t.Fatal(errno)
	}
	dir := mustOpen(t, s, "d", openDirectory, rightRead)
	file, errno := s.openPath(dir, "f", true, openCreate|openTruncate, FD{Rights: rightsAll})
	if errno != OK {
		t.Fatalf("creating a file: errno %d", errno)
	}
	if errno := write(s, file, "text"); errno != OK {
		t.Fatal(errno)
	}
	size := func() int { return len(s.Inodes[s.FDs[file].Ino].Data) }

	s.FDs[dir].Rights &^= rightTruncate
	for _, how := range []uint16{openTruncate, openCreate | openTruncate} {
		for _, path := range []string{"f", "new"} {
			if _, errno := s.openPath(dir, path, true, how, FD{Rights: rightsAll}); errno != ENOTCAPABLE {
				t.Errorf("%s, how %d, without the right: errno %d, want %d", path, how, errno, ENOTCAPABLE)
			}
		}
	}
	if n, made := size(), s.lookup(s.FDs[dir].Ino, "new"); n != 4 || made != 0 {
		t.Errorf("without the right %d of 4 bytes are left, and inode %d was made", n, made)
	}
	if _, errno := s.openPath(dir, "f", true, 0, FD{Rights: rightsAll}); errno != OK {
		t.Errorf("opening without O_TRUNC: errno %d", errno)
	}
	again, errno := s.openPath(dir, ".", true, openDirectory, FD{Rights: rightsAll &^ rightWrite})
	if errno != OK || s.FDs[again].Rights&rightTruncate != 0 {
		t.Errorf("opened anew: errno %d, rights %#x", errno, s.FDs[again].Rights)
	}
	if _, errno := s.openPath(root, "d/f", true, openTruncate, FD{}); errno != OK || size() != 0 {
		t.Errorf("with the right: errno %d, %d bytes are left", errno, size())
	}
}

func TestQuotasEndTheGuest(t *testing.T) {
	cases := map[string]func(*State) Errno{
		"files":           func(s *State) Errno { return s.mkdir(root, "d") },
		"bytes of files":  func(s *State) Errno { return s.truncate(s.FDs[4].Ino, 101) },
		"bytes of output": func(s *State) Errno { return write(s, 1, strings.Repeat("x", 11)) },
	}
	for what, do := range cases {
		s := New("t", nil, nil, Limits{Bytes: 100, Entries: 1, Output: 10})
		mustOpen(t, s, "f", openCreate, rightsAll)
		if errno := do(s); errno != ENOSPC || s.Over == nil || s.Over.What != what {
			t.Errorf("%s: errno %d, over %v", what, errno, s.Over)
		}
	}
	// Output keeps what fits, and a deleted file gives its bytes back.
	s := New("t", nil, nil, Limits{Bytes: 100, Entries: 1, Output: 10})
	write(s, 1, "12345678")
	write(s, 2, "abcdef")
	if string(s.Stdout())+string(s.Stderr()) != "12345678ab" {
		t.Errorf("kept %q and %q", s.Stdout(), s.Stderr())
	}
	s.Over = nil
	for range 3 {
		fd := mustOpen(t, s, "f", openCreate, rightsAll)
		if errno := write(s, fd, strings.Repeat("x", 100)); errno != OK {
			t.Fatalf("errno %d", errno)
		}
		s.unlinkFile(root, "f")
		if s.Bytes != 100 { // still open
			t.Fatalf("%d bytes while open, want 100", s.Bytes)
		}
		s.close(fd)
	}
	if s.Bytes != 0 || s.Entries != 0 || s.Over != nil {
		t.Errorf("%d bytes, %d entries, over %v", s.Bytes, s.Entries, s.Over)
	}
}

func TestTooManyDescriptors(t *testing.T) {
	s := New("t", nil, nil, roomy)
	mustOpen(t, s, "f", openCreate, rightsAll)
	for len(s.FDs) < MaxFDs {
		mustOpen(t, s, "f", 0, rightsAll)
	}
	if _, errno := s.openPath(root, "new", true, openCreate, FD{}); errno != EMFILE {
		t.Errorf("errno %d, want %d", errno, EMFILE)
	}
	if s.lookup(rootIno, "new") != 0 {
		t.Error("a file was made that could not be opened")
	}
	s.close(17)
	if fd := mustOpen(t, s, "f", 0, 0); fd != 17 {
		t.Errorf("got descriptor %d, want the lowest free one, 17", fd)
	}
}

func TestListingIsStable(t *testing.T) {
	s := New("t", nil, nil, roomy)
	for _, n := range []string{"c", "a", "b"} {
		s.mkdir(root, n)
	}
	all, _ := s.list(root, 0)
	if got := names(all); got != ". .. a b c" {
		t.Errorf("got %s, want sorted", got)
	}
	s.rmdir(root, "a")
	s.mkdir(root, "aa")
	rest, _ := s.list(root, 3)
	if got := names(rest); got != "b c" {
		t.Errorf("after cookie 3 got %s, want b c", got)
	}
	all, _ = s.list(root, 0)
	if got := names(all); got != ". .. aa b c" {
		t.Errorf("anew got %s", got)
	}
	if _, errno := s.list(root, 99); errno != EINVAL {
		t.Errorf("cookie 99: errno %d", errno)
	}
}

func names(list []Dirent) string {
	var n []string
	for _, e := range list {
		n = append(n, e.Name)
	}
	return strings.Join(n, " ")
}

func TestRandomIsOneStream(t *testing.T) {
	whole, parts, other := make([]byte, 100), make([]byte, 100), make([]byte, 100)
	New("job/1", nil, nil, roomy).Random(whole)
	s := New("job/1", nil, nil, roomy)
	for at := 0; at < len(parts); at += 7 {
		s.Random(parts[at:min(at+7, len(parts))])
		s.block, s.blockAt = [32]byte{}, 0 // as after being decoded
	}
	New("job/2", nil, nil, roomy).Random(other)
	if !bytes.Equal(whole, parts) || bytes.Equal(whole, other) {
		t.Errorf("whole %x\nparts %x\nother %x", whole, parts, other)
	}
}

// TestAnyCalls does random things to a tree and checks its books after each.
func TestAnyCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New("t", nil, nil, Limits{Bytes: 400, Entries: 12, Output: 50})
		if err := s.AddInput("a/in", []byte("input")); err != nil {
			t.Fatal(err)
		}
		path := rapid.SampledFrom([]string{"a", "b", "a/b", "a/b/a", "b/a", "a/in", ".", "a/..", "b/", "a/./b", "../a"})
		fd := rapid.Uint32Range(0, 8)
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				s.openPath(root, path.Draw(t, "path"), true, rapid.Uint16Range(0, 15).Draw(t, "how"), FD{Rights: rightsAll})
			},
			"close":  func(t *rapid.T) { s.close(rapid.Uint32Range(4, 8).Draw(t, "fd")) },
			"mkdir":  func(t *rapid.T) { s.mkdir(root, path.Draw(t, "path")) },
			"rmdir":  func(t *rapid.T) { s.rmdir(root, path.Draw(t, "path")) },
			"unlink": func(t *rapid.T) { s.unlinkFile(root, path.Draw(t, "path")) },
			"rename": func(t *rapid.T) { s.rename(root, path.Draw(t, "from"), root, path.Draw(t, "to")) },
			"link":   func(t *rapid.T) { s.hardlink(root, path.Draw(t, "from"), true, root, path.Draw(t, "to")) },
			"symlink": func(t *rapid.T) {
				s.symlink(path.Draw(t, "target"), root, path.Draw(t, "path"))
			},
			"write": func(t *rapid.T) {
				if d, _, errno := s.file(fd.Draw(t, "fd"), rightWrite); errno == OK {
					s.write(d.Ino, rapid.Int64Range(0, 150).Draw(t, "off"), [][]byte{make([]byte, rapid.IntRange(0, 90).Draw(t, "n"))})
				}
			},
			"truncate": func(t *rapid.T) {
				if d, i, errno := s.file(fd.Draw(t, "fd"), rightWrite); errno == OK && i.Kind == KindFile {
					s.truncate(d.Ino, rapid.Int64Range(0, 300).Draw(t, "size"))
				}
			},
			"renumber": func(t *rapid.T) {
				s.renumber(rapid.Uint32Range(4, 8).Draw(t, "from"), rapid.Uint32Range(4, 8).Draw(t, "to"))
			},
			"": func(t *rapid.T) {
				s.Over = nil
				checkBooks(t, s)
			},
		})
	})
}

// checkBooks recounts everything that a State keeps a count of.
func checkBooks(t interface{ Fatalf(string, ...any) }, s *State) {
	links, opens := map[Ino]uint32{rootIno: 1, stdinIno: 1, stdoutIno: 1, stderrIno: 1}, map[Ino]uint32{}
	entries, size, free := 0, int64(0), 0
	for i := range s.Inodes {
		n := &s.Inodes[i]
		if n.Kind == KindFree {
			free++
		}
		if n.Kind != KindStream && !n.ReadOnly {
			size += int64(len(n.Data))
		}
		for k, e := range n.Names {
			links[e.Ino]++
			if c := &s.Inodes[e.Ino]; !c.ReadOnly {
				entries++
			}
			if c := &s.Inodes[e.Ino]; c.Kind == KindDir && c.Parent != Ino(i) {
				t.Fatalf("directory %q does not know its parent", e.Name)
			}
			if k > 0 && n.Names[k-1].Name >= e.Name {
				t.Fatalf("names out of order: %v", n.Names)
			}
		}
	}
	for _, d := range s.FDs {
		if d.Ino != 0 {
			opens[d.Ino]++
		}
	}
	for i := range s.Inodes {
		n := &s.Inodes[i]
		if n.Links != links[Ino(i)] || n.Opens != opens[Ino(i)] || n.Kind != KindFree && n.Links+n.Opens == 0 {
			t.Fatalf("inode %d: %d links, %d opens; counted %d, %d", i, n.Links, n.Opens, links[Ino(i)], opens[Ino(i)])
		}
	}
	if s.Entries != entries || s.Bytes != size || free != len(s.Free)+1 {
		t.Fatalf("%d entries, %d bytes, %d free; counted %d, %d, %d", s.Entries, s.Bytes, len(s.Free)+1, entries, size, free)
	}
	if s.Entries > s.Limits.Entries || s.Bytes > s.Limits.Bytes || s.Output > s.Limits.Output {
		t.Fatalf("over a quota: %d entries, %d bytes, %d output", s.Entries, s.Bytes, s.Output)
	}
}

// A State goes on after being written down as it would have without.
func TestStateIsPlainData(t *testing.T) {
	s := New("job/1", []string{"x"}, []string{"A=b"}, roomy)
	fd := mustOpen(t, s, "f", openCreate, rightsAll)
	write(s, fd, "half")
	s.Random(make([]byte, 5))
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(s); err != nil {
		t.Fatal(err)
	}
	var moved State
	if err := gob.NewDecoder(&buf).Decode(&moved); err != nil {
		t.Fatal(err)
	}
	var results [2]string
	for i, s := range []*State{s, &moved} {
		write(s, fd, "-done")
		now, _ := s.now(clockRealtime)
		b := make([]byte, 40)
		s.Random(b)
		s.Written(func(name string, data []byte) { results[i] += name + "=" + string(data) })
		results[i] += fmt.Sprint(now, b)
	}
	if results[0] != results[1] || !strings.HasPrefix(results[0], "f=half-done") {
		t.Errorf("stayed %s\nmoved  %s", results[0], results[1])
	}
}
