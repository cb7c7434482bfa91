package wasi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// pageBytes is the size of a guest's memory in these tests: one page.
const pageBytes = 1 << 16

// onePage is a module of nothing but a memory of one page.
var onePage = []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x01\x01\x01\x07\x05\x01\x01m\x02\x00")

// A guest calls what is offered, with a memory of its own.
type guest struct {
	testing.TB
	*State
	mod api.Module
	mem api.Memory
	ctx context.Context
}

func newGuest(t testing.TB, s *State) *guest {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(ctx) })
	mod, err := r.Instantiate(ctx, onePage)
	if err != nil {
		t.Fatal(err)
	}
	return &guest{t, s, mod, mod.Memory(), With(ctx, s)}
}

// call calls one function as the engine does. What it panics with is its error.
func (g *guest) call(name string, params ...uint64) (errno Errno, err error) {
	g.Helper()
	f, ok := offers[name]
	if !ok || len(params) != len(f.params) {
		g.Fatalf("%s with %d parameters", name, len(params))
	}
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	stack := append(make([]uint64, 0, 9), params...)
	f.Call(g.ctx, g.mod, stack)
	if len(stack) == 0 {
		return OK, nil
	}
	return Errno(stack[0]), nil
}

// want calls and compares the answer.
func (g *guest) want(want Errno, name string, params ...uint64) {
	g.Helper()
	if got, err := g.call(name, params...); got != want || err != nil {
		g.Errorf("%s%v: errno %d, %v, want %d", name, params, got, err, want)
	}
}

// put writes a string at an address and gives both as parameters.
func (g *guest) put(at uint32, s string) (ptr, size uint64) {
	g.Helper()
	if !g.mem.WriteString(at, s) {
		g.Fatalf("no room at %d", at)
	}
	return uint64(at), uint64(len(s))
}

// vector writes buffers for a scattered read or write.
func (g *guest) vector(at uint32, bufs ...[2]uint32) (ptr, n uint64) {
	for i, b := range bufs {
		g.mem.WriteUint32Le(at+uint32(i)*8, b[0])
		g.mem.WriteUint32Le(at+uint32(i)*8+4, b[1])
	}
	return uint64(at), uint64(len(bufs))
}

func (g *guest) u32(at uint32) uint32 {
	v, _ := g.mem.ReadUint32Le(at)
	return v
}

func (g *guest) u64(at uint32) uint64 {
	v, _ := g.mem.ReadUint64Le(at)
	return v
}

func (g *guest) text(at, n uint32) string {
	b, ok := g.mem.Read(at, n)
	if !ok {
		g.Fatalf("no %d bytes at %d", n, at)
	}
	return string(b)
}

// TestArguments: the layout of the lists of arguments and of the environment, and
// addresses at and over the memory's end.
func TestArguments(t *testing.T) {
	g := newGuest(t, New("t", []string{"task.wasm", "", "ü"}, []string{"A=1"}, roomy))
	g.want(OK, "args_sizes_get", 0, 4)
	if n, size := g.u32(0), g.u32(4); n != 3 || size != 10+1+3 {
		t.Errorf("%d arguments of %d bytes, want 3 of 14", n, size)
	}
	g.want(OK, "args_get", 100, 200)
	if got := g.text(200, 14); got != "task.wasm\x00\x00ü\x00" {
		t.Errorf("got %q", got)
	}
	for i, want := range []uint32{200, 210, 211} {
		if got := g.u32(100 + uint32(i)*4); got != want {
			t.Errorf("argument %d at %d, want %d", i, got, want)
		}
	}
	g.want(OK, "environ_sizes_get", 0, 4)
	if n, size := g.u32(0), g.u32(4); n != 1 || size != 4 {
		t.Errorf("%d variables of %d bytes, want 1 of 4", n, size)
	}
	g.want(OK, "environ_get", 0, pageBytes-4)
	if got := g.text(pageBytes-4, 4); got != "A=1\x00" {
		t.Errorf("at the end of memory: got %q", got)
	}
	for _, p := range [][3]any{
		{"environ_get", pageBytes - 3, 0}, {"environ_get", 0, pageBytes - 3}, {"environ_get", math.MaxUint32, 0},
		{"args_get", 0, math.MaxUint32},
		{"args_get", pageBytes - 11, 0}, {"args_sizes_get", pageBytes - 3, 0}, {"args_sizes_get", 0, pageBytes - 3},
		{"environ_sizes_get", math.MaxUint32, 0},
	} {
		g.want(EFAULT, p[0].(string), uint64(p[1].(int)), uint64(p[2].(int)))
	}
}

// TestClocks: each reading moves every clock; all but the real-time clock begin at
// the task's beginning; at its end time stands still.
func TestClocks(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	for i, id := range []uint32{clockMonotonic, clockRealtime, clockProcess, clockThread} {
		g.want(OK, "clock_time_get", uint64(id), 1, 8)
		want := int64(i+1) * ReadStep
		if id == clockRealtime {
			want += Epoch
		}
		if got := int64(g.u64(8)); got != want {
			t.Errorf("clock %d: got %d, want %d", id, got, want)
		}
		g.want(OK, "clock_res_get", uint64(id), 16)
		if got := int64(g.u64(16)); got != ReadStep {
			t.Errorf("clock %d: resolution %d, want %d", id, got, ReadStep)
		}
	}
	before := g.Clock
	g.want(EINVAL, "clock_time_get", 4, 0, 8)
	g.want(EINVAL, "clock_res_get", math.MaxUint32, 8)
	g.want(EFAULT, "clock_res_get", 0, pageBytes-7)
	if g.Clock != before {
		t.Errorf("calls that failed moved the clock by %d", g.Clock-before)
	}
	g.want(EFAULT, "clock_time_get", 0, 0, pageBytes-7)
	g.Clock = maxClock - 1
	for range 2 {
		g.want(OK, "clock_time_get", uint64(clockRealtime), 0, 8)
		if got := int64(g.u64(8)); got != math.MaxInt64 {
			t.Errorf("at the end of time: got %d", got)
		}
	}
}

// TestOtherCalls: those that need no file.
func TestOtherCalls(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	g.want(OK, "sched_yield")
	g.want(OK, "random_get", 8, 40)
	want := make([]byte, 40)
	New("t", nil, nil, roomy).Random(want)
	if got := g.text(8, 40); got != string(want) || g.Drawn != 40 {
		t.Errorf("got % x, want % x", got, want)
	}
	g.want(OK, "random_get", pageBytes, 0)
	g.want(EFAULT, "random_get", 8, pageBytes)
	g.want(EFAULT, "random_get", math.MaxUint32, 2)
	if g.Drawn != 40 {
		t.Errorf("calls that failed drew %d bytes", g.Drawn-40)
	}
	for name, rest := range map[string]int{"sock_accept": 2, "sock_recv": 5, "sock_send": 4, "sock_shutdown": 1} {
		g.want(ENOTSOCK, name, append([]uint64{root}, make([]uint64, rest)...)...)
		g.want(EBADF, name, append([]uint64{9}, make([]uint64, rest)...)...)
	}
	var exit *sys.ExitError
	if _, err := g.call("proc_exit", 7); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("proc_exit: got %v", err)
	}
	var raised *RaisedError
	if _, err := g.call("proc_raise", 6); !errors.As(err, &raised) || raised.Error() != "raised signal 6" {
		t.Errorf("proc_raise: got %v", err)
	}
}

// TestDescriptorsOfTheBeginning: what each of the first four may do, and which is
// preopened.
func TestDescriptorsOfTheBeginning(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	for fd, want := range []struct {
		kind       byte
		rights     uint64
		inheriting uint64
		preopen    Errno
	}{{4, rightsFile &^ rightWrite, 0, EBADF}, {0, rightsStream, 0, EBADF}, {0, rightsStream, 0, EBADF},
		{3, rightsDir, rightsAll, OK}, {}} {
		fd := uint64(fd)
		if want.rights == 0 {
			g.want(EBADF, "fd_fdstat_get", fd, 0)
			g.want(EBADF, "fd_filestat_get", fd, 0)
			g.want(EBADF, "fd_sync", fd)
			g.want(EBADF, "fd_datasync", fd)
			g.want(EBADF, "fd_close", fd)
			continue
		}
		g.want(OK, "fd_fdstat_get", fd, 0)
		if kind, rights, inh := byte(g.u32(0)), g.u64(8), g.u64(16); kind != want.kind || rights != want.rights ||
			inh != want.inheriting {
			t.Errorf("descriptor %d: type %d, rights %#x, %#x, want %+v", fd, kind, rights, inh, want)
		}
		g.want(OK, "fd_sync", fd)
		g.want(want.preopen, "fd_prestat_get", fd, 32)
		g.want(want.preopen, "fd_prestat_dir_name", fd, 64, 1)
	}
	if tag, n, name := g.u32(32), g.u32(36), g.text(64, 1); tag != 0 || n != 1 || name != "/" {
		t.Errorf("preopened: tag %d, %d bytes, %q", tag, n, name)
	}
	g.want(ENAMETOOLONG, "fd_prestat_dir_name", root, 64, 0)
	g.want(EFAULT, "fd_prestat_dir_name", root, pageBytes, 1)
	g.want(EFAULT, "fd_prestat_get", root, pageBytes-7)
	g.want(EFAULT, "fd_prestat_get", root, math.MaxUint32)
	g.want(EFAULT, "fd_fdstat_get", root, pageBytes-23)
	g.want(EFAULT, "fd_filestat_get", root, pageBytes-63)
}

// TestRightsAreGivenUp: rights and flags of a descriptor change only as preview 1
// lets them.
func TestRightsAreGivenUp(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	fd := uint64(mustOpen(t, g.State, "f", openCreate, rightsAll))
	g.want(ENOTCAPABLE, "fd_fdstat_set_rights", fd, rightsAll, 0)
	g.want(ENOTCAPABLE, "fd_fdstat_set_rights", fd, rightRead, 1)
	g.want(ENOTCAPABLE, "fd_fdstat_set_rights", fd, 1<<63, 0)
	g.want(OK, "fd_fdstat_set_rights", fd, rightRead, 0)
	g.want(ENOTCAPABLE, "fd_fdstat_set_rights", fd, rightRead|rightWrite, 0)
	ptr, n := g.vector(0, [2]uint32{100, 4})
	g.want(EBADF, "fd_write", fd, ptr, n, 64)
	g.want(EBADF, "fd_pwrite", fd, ptr, n, 0, 64)
	g.want(EBADF, "fd_filestat_set_size", fd, 9)
	g.want(EBADF, "fd_allocate", fd, 0, 9)
	g.want(ENOTCAPABLE, "fd_seek", fd, 1, 0, 64)
	g.want(ENOTCAPABLE, "fd_tell", fd, 64)
	g.want(OK, "fd_read", fd, ptr, n, 64)
	g.want(EINVAL, "fd_fdstat_set_flags", fd, uint64(flagsAll)+1)
	g.want(EINVAL, "fd_fdstat_set_flags", fd, 1<<16)
	g.want(OK, "fd_fdstat_set_flags", fd, uint64(flagAppend|flagSync))
	g.want(OK, "fd_fdstat_get", fd, 200)
	if got := uint16(g.u32(200) >> 16); got != flagAppend|flagSync {
		t.Errorf("flags %#x", got)
	}
	g.want(EBADF, "fd_fdstat_set_flags", 50, 0)
	g.want(EBADF, "fd_fdstat_set_rights", 50, 0, 0)
}

// TestReadsAndWrites: buffers in pieces, positions, and everything about them that
// can be wrong.
func TestReadsAndWrites(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	g.SetStdin([]byte("typed"))
	fd := uint64(mustOpen(t, g.State, "f", openCreate, rightsAll))
	g.put(100, "hello, world")
	ptr, n := g.vector(0, [2]uint32{100, 5}, [2]uint32{0, 0}, [2]uint32{105, 7})
	g.want(OK, "fd_write", fd, ptr, n, 64)
	g.want(OK, "fd_pwrite", fd, ptr, 1, 20, 68)
	if a, b := g.u32(64), g.u32(68); a != 12 || b != 5 || g.FDs[fd].Offset != 12 {
		t.Errorf("wrote %d and %d, at %d", a, b, g.FDs[fd].Offset)
	}
	g.want(OK, "fd_pread", fd, ptr, n, 0, 64)
	if got := g.text(100, 12); g.u32(64) != 12 || got != "hello, world" {
		t.Errorf("read %d: %q", g.u32(64), got)
	}
	one, _ := g.vector(32, [2]uint32{300, 100})
	g.want(OK, "fd_pread", fd, one, 1, 10, 64)
	if got := g.text(300, g.u32(64)); got != "ld\x00\x00\x00\x00\x00\x00\x00\x00hello" {
		t.Errorf("over the gap: %q", got)
	}
	g.want(OK, "fd_pread", fd, one, 1, math.MaxInt64, 64)
	if g.u32(64) != 0 {
		t.Errorf("read %d bytes behind the end", g.u32(64))
	}
	for _, whence := range []struct{ delta, whence, want uint64 }{{3, 0, 3}, {2, 1, 5}, {^uint64(0), 1, 4},
		{^uint64(4), 2, 20}, {1 << 40, 0, 1 << 40}} {
		g.want(OK, "fd_seek", fd, whence.delta, whence.whence, 72)
		if got := g.u64(72); got != whence.want {
			t.Errorf("seek %+v: at %d", whence, got)
		}
	}
	g.want(OK, "fd_tell", fd, 80)
	if got := g.u64(80); got != 1<<40 {
		t.Errorf("tell: at %d", got)
	}
	for name, params := range map[string][]uint64{
		"fd_seek of no whence":    {fd, 0, 3, 72},
		"fd_seek before 0":        {fd, ^uint64(0), 0, 72},
		"fd_seek over the end":    {fd, math.MaxInt64, 1, 72},
		"fd_pread before 0":       {fd, one, 1, ^uint64(0), 64},
		"fd_pwrite before 0":      {fd, one, 1, 1 << 63, 64},
		"fd_read of many buffers": {fd, one, maxIovecs + 1, 64},
		"fd_advise of no advice":  {fd, 0, 0, 6},
		"fd_allocate of nothing":  {fd, 0, 0},
		"fd_allocate from -1":     {fd, ^uint64(0), 5},
		"fd_allocate over 2^63":   {fd, 1, math.MaxInt64},
		"fd_filestat_set_size -1": {fd, ^uint64(0)},
	} {
		name, _, _ = strings.Cut(name, " ")
		g.want(EINVAL, name, params...)
	}
	g.want(EFBIG, "fd_pwrite", fd, one, 1, math.MaxInt64, 64)
	for name, params := range map[string][]uint64{
		"fd_read into no list":      {fd, pageBytes - 7, 1, 64},
		"fd_read into no buffer":    {fd, ptr, 1, pageBytes - 3},
		"fd_write from no list":     {fd, math.MaxUint32, 2, 64},
		"fd_seek to no result":      {fd, 0, 1, pageBytes - 7},
		"fd_tell to no result":      {fd, pageBytes},
		"fd_pread from no list":     {fd, pageBytes, 1, 0, 64},
		"fd_pwrite to no result":    {fd, ptr, 1, 0, pageBytes - 3},
		"fd_readdir into no buffer": {root, pageBytes - 8, 9, 0, 64},
		"fd_readdir to no result":   {root, 400, 100, 0, pageBytes - 3},
	} {
		name, _, _ = strings.Cut(name, " ")
		g.want(EFAULT, name, params...)
	}
	outside, k := g.vector(48, [2]uint32{pageBytes - 1, 2})
	for _, name := range []string{"fd_read", "fd_write"} {
		g.want(EFAULT, name, fd, outside, k, 64)
		g.want(EBADF, name, 9, outside, k, 64)
		g.want(EISDIR, name, root, outside, k, 64)
	}
	g.want(OK, "fd_read", 0, one, 1, 64)
	if got := g.text(300, g.u32(64)); got != "typed" {
		t.Errorf("standard input: %q", got)
	}
	g.want(EBADF, "fd_write", 0, one, 1, 64)
	g.want(EBADF, "fd_read", 1, one, 1, 64)
	g.want(ESPIPE, "fd_seek", 1, 0, 0, 72)
	g.want(ESPIPE, "fd_pwrite", 1, one, 1, 0, 64)
	g.want(ESPIPE, "fd_allocate", 1, 0, 1)
	g.want(EINVAL, "fd_filestat_set_size", 1, 0)
	g.want(EBADF, "fd_seek", root, 0, 0, 72)
	g.want(EBADF, "fd_filestat_set_size", root, 0)
}

// TestAppending: with the flag a write goes to the end wherever the position is,
// and takes the position with it; a write at a place does not.
func TestAppending(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	fd := uint64(mustOpen(t, g.State, "f", openCreate, rightsAll))
	g.put(100, "abcdef")
	ab, _ := g.vector(0, [2]uint32{100, 2})
	cd, _ := g.vector(8, [2]uint32{102, 2})
	g.want(OK, "fd_write", fd, ab, 1, 64)
	g.want(OK, "fd_seek", fd, 0, 0, 72)
	g.want(OK, "fd_fdstat_set_flags", fd, uint64(flagAppend))
	g.want(OK, "fd_write", fd, cd, 1, 64)
	g.want(OK, "fd_pwrite", fd, cd, 1, 0, 64)
	if got := string(g.Inodes[g.FDs[fd].Ino].Data); got != "cdcd" || g.FDs[fd].Offset != 4 {
		t.Errorf("got %q, at %d", got, g.FDs[fd].Offset)
	}
}

// TestSizes: what sets a file's size, and what tells it.
func TestSizes(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, Limits{Bytes: 100, Entries: 9, Output: 9}))
	fd := uint64(mustOpen(t, g.State, "f", openCreate, rightsAll))
	size := func(want uint64) {
		t.Helper()
		g.want(OK, "fd_filestat_get", fd, 0)
		if got := g.u64(32); got != want || g.Bytes != int64(want) {
			t.Errorf("%d bytes, %d counted, want %d", got, g.Bytes, want)
		}
	}
	g.want(OK, "fd_allocate", fd, 10, 20)
	size(30)
	g.want(OK, "fd_allocate", fd, 0, 5) // never shrinks
	size(30)
	g.want(OK, "fd_filestat_set_size", fd, 100)
	size(100)
	g.want(OK, "fd_filestat_set_size", fd, 7)
	size(7)
	g.want(OK, "fd_advise", fd, 0, 1<<40, 5)
	var over *QuotaError
	if _, err := g.call("fd_filestat_set_size", fd, 101); !errors.As(err, &over) ||
		over.Error() != "over quota: more than 100 bytes of files" {
		t.Errorf("over the quota: got %v", err)
	}
	g.Over = nil
	if _, err := g.call("fd_allocate", fd, 1<<62, 1<<62-1); !errors.As(err, &over) {
		t.Errorf("2^63-1 bytes: got %v", err)
	}
}

// TestFilestat: every field of a file's description, and setting its times.
func TestFilestat(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	g.Clock = 500
	fd := uint64(mustOpen(t, g.State, "f", openCreate, rightsAll))
	if errno := g.hardlink(root, "f", false, root, "g"); errno != OK {
		t.Fatal(errno)
	}
	g.Clock = 900
	write(g.State, uint32(fd), "four")
	stat := func() (out [8]uint64) {
		g.want(OK, "fd_filestat_get", fd, 0)
		for i := range out {
			out[i] = g.u64(uint32(i) * 8)
		}
		return out
	}
	at := func(ns int64) uint64 { return uint64(Epoch + ns) }
	ino := uint64(g.FDs[fd].Ino)
	if got, want := stat(), [8]uint64{device, ino, 4, 2, 4, at(500), at(900), at(900)}; got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	g.Clock = 1200
	g.want(OK, "fd_filestat_set_times", fd, at(1), at(2), uint64(setAtim|setMtimNow))
	if got, want := stat(), [8]uint64{device, ino, 4, 2, 4, at(1), at(1200), at(1200)}; got != want {
		t.Errorf("after times were set: got %v\nwant %v", got, want)
	}
	path, n := g.put(100, "g")
	g.Clock = 1300
	g.want(OK, "path_filestat_set_times", root, 0, path, n, at(8), 0, uint64(setAtimNow|setMtim))
	if got, want := stat(), [8]uint64{device, ino, 4, 2, 4, at(1300), 0, at(1300)}; got != want {
		t.Errorf("after 1970 was set: got %v\nwant %v", got, want)
	}
	for _, flags := range []uint16{setAtim | setAtimNow, setMtim | setMtimNow, 15, 16} {
		g.want(EINVAL, "fd_filestat_set_times", fd, 0, 0, uint64(flags))
	}
	g.want(EBADF, "fd_filestat_set_times", 77, 0, 0, 0)
	none, n := g.put(200, "none")
	g.want(ENOENT, "path_filestat_set_times", root, 0, none, n, 0, 0, 16)
}

// TestRenumber: a descriptor moves over another, which is closed; its old number
// is free.
func TestRenumber(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	a, b := mustOpen(t, g.State, "a", openCreate, rightsAll), mustOpen(t, g.State, "b", openCreate, rightsAll)
	was := g.FDs[a].Ino
	g.unlinkFile(root, "b")
	g.want(OK, "fd_renumber", uint64(a), uint64(a))
	g.want(OK, "fd_renumber", uint64(a), uint64(b))
	if g.FDs[b].Ino != was || g.fd(a) != nil || g.Inodes[was].Opens != 1 || len(g.Free) != 1 {
		t.Errorf("%+v, %d free", g.FDs, len(g.Free))
	}
	g.want(EBADF, "fd_renumber", uint64(a), uint64(b))
	g.want(EBADF, "fd_renumber", uint64(b), 9)
}

// TestDirectoriesAreRead: fd_readdir gives whole and cut entries, and goes on from
// any cookie.
func TestDirectoriesAreRead(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	for _, n := range []string{"file", "dir", "link"} {
		switch n {
		case "file":
			mustOpen(t, g.State, n, openCreate, 0)
		case "dir":
			g.mkdir(root, n)
		default:
			g.symlink("file", root, n)
		}
	}
	var got []string
	for cookie := uint64(0); ; {
		g.want(OK, "fd_readdir", root, 1000, 60, cookie, 0)
		used := g.u32(0)
		b, _ := g.mem.Read(1000, used)
		for len(b) >= direntSize {
			n := binary.LittleEndian.Uint32(b[16:])
			if len(b) < direntSize+int(n) {
				break
			}
			cookie = binary.LittleEndian.Uint64(b)
			got = append(got, fmt.Sprintf("%s:%d", b[direntSize:direntSize+n], b[20]))
			b = b[direntSize+n:]
		}
		if used < 60 {
			break
		}
	}
	if s := strings.Join(got, " "); s != ".:3 ..:3 dir:3 file:4 link:7" {
		t.Errorf("got %s", s)
	}
	g.want(OK, "fd_readdir", root, 1000, 0, 2, 0)
	g.want(EINVAL, "fd_readdir", root, 1000, 60, 6, 0)
	g.want(EINVAL, "fd_readdir", root, 1000, 60, math.MaxUint64, 0)
	g.want(ENOTDIR, "fd_readdir", 0, 1000, 60, 0, 0)
	g.want(EBADF, "fd_readdir", 99, 1000, 60, 0, 0)
}
