package wasi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero/sys"
	"pgregory.net/rapid"
)

// fill writes what a hostile guest may have in its memory: paths, lists of
// buffers, subscriptions and garbage.
func (g *guest) fill() {
	for i, path := range []string{"a", "b", "a/b", "a/in", "..", "b/", "/a", "l", "\xff"} {
		g.mem.WriteString(uint32(i)*16, path)
	}
	g.vector(256, [2]uint32{1024, 10}, [2]uint32{1030, 600}, [2]uint32{pageBytes - 2, 9}, [2]uint32{256, 16})
	for i, s := range []sub{{1, eventClock, 1, 50, 0}, {2, eventRead, 4, 0, 0}, {3, 7, 9, 9, 9}} {
		g.mem.Write(512+uint32(i)*subscriptionSize, s.bytes())
	}
}

// parameter draws one that is likely to mean something, or to be out of bounds.
func parameter(t *rapid.T, wide bool) uint64 {
	small := rapid.Uint64Range(0, 9)
	address := rapid.SampledFrom([]uint64{0, 16, 32, 48, 64, 80, 96, 112, 256, 264, 512, 560, 1024, pageBytes - 8,
		pageBytes - 1, pageBytes, 1<<32 - 1})
	if wide {
		return rapid.OneOf(small, rapid.SampledFrom([]uint64{rightsAll, rightRead | rightWrite, 1 << 63, 1<<63 - 1,
			1<<64 - 1, 300})).Draw(t, "I")
	}
	return rapid.OneOf(small, address).Draw(t, "i")
}

// endless are the functions that a guest does not come back from.
var endless = []string{"proc_exit", "proc_raise"}

// TestHostileGuests: whatever a guest calls with whatever parameters, the books of
// its State are right, it is within its quotas, and its State can be saved and
// loaded.
func TestHostileGuests(t *testing.T) {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(offers)),
		func(n string) bool { return slices.Contains(endless, n) })
	shared := newGuest(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		fresh := func() *State {
			s := New("t", []string{"t"}, nil, Limits{Bytes: 400, Entries: 12, Output: 50})
			if err := s.AddInput("a/in", []byte("input")); err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := fresh()
		begins, err := s.Digest()
		if err != nil {
			t.Fatal(err)
		}
		g := &guest{shared.TB, s, shared.mod, shared.mem, With(t.Context(), s)}
		g.mem.Write(0, make([]byte, 4096))
		g.fill()
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			name := rapid.SampledFrom(all).Draw(t, "name")
			var params []uint64
			for _, kind := range offers[name].params {
				params = append(params, parameter(t, kind == 'I'))
			}
			if _, err := g.call(name, params...); err != nil {
				var over *QuotaError
				if !errors.As(err, &over) {
					t.Fatalf("%s%v: %v", name, params, err)
				}
				s.Over = nil
			}
			checkBooks(t, s)
		}
		blocks := store{}
		b, err := s.Save(begins, 0, blocks.put)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fresh().Load(b, begins, blocks.get); err != nil {
			t.Fatalf("what a guest made is refused: %v", err)
		}
	})
}

// FuzzCalls runs calls that are written in bytes: a function's number, and each
// parameter as a choice of sizes.
func FuzzCalls(f *testing.F) {
	names := slices.Sorted(maps.Keys(offers))
	encode := func(name string, params ...uint64) []byte {
		b := []byte{byte(slices.Index(names, name))}
		for i, kind := range offers[name].params {
			if kind == 'I' {
				b = binary.LittleEndian.AppendUint64(b, params[i])
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(params[i]))
			}
		}
		return b
	}
	open := encode("path_open", root, 1, 16, 1, uint64(openCreate), rightsAll, rightsAll, 0, 2000)
	f.Add(slices.Concat(open, encode("fd_write", 4, 256, 2, 2000), encode("fd_seek", 4, 0, 0, 2000),
		encode("fd_pread", 4, 256, 4, 5, 2000)))
	f.Add(slices.Concat(open, encode("path_rename", root, 16, 1, root, 0, 1),
		encode("fd_readdir", root, 1024, 99, 0, 2000), encode("fd_renumber", 4, 3)))
	f.Add(slices.Concat(encode("poll_oneoff", 512, 3000, 3, 2000), encode("path_symlink", 0, 1, root, 16, 1),
		encode("proc_exit", 3)))
	shared := newGuest(f, nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, begins := beginning(t)
		g := &guest{t, s, shared.mod, shared.mem, With(t.Context(), s)}
		g.mem.Write(0, make([]byte, 4096))
		g.fill()
		for len(b) > 0 {
			name := names[int(b[0])%len(names)]
			b = b[1:]
			var params []uint64
			for _, kind := range offers[name].params {
				var word [8]byte
				size := 4
				if kind == 'I' {
					size = 8
				}
				n := copy(word[:size], b)
				b = b[n:]
				params = append(params, binary.LittleEndian.Uint64(word[:]))
			}
			if _, err := g.call(name, params...); err != nil {
				var over *QuotaError
				var exit *sys.ExitError
				var raised *RaisedError
				if !errors.As(err, &over) && !errors.As(err, &exit) && !errors.As(err, &raised) {
					t.Fatalf("%s%v: %v", name, params, err)
				}
				break
			}
		}
		checkBooks(t, s)
		blocks := store{}
		saved, err := s.Save(begins, 0, blocks.put)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := beginning(t)
		if _, err := again.Load(saved, begins, blocks.get); err != nil {
			t.Fatalf("what a guest made is refused: %v", err)
		}
	})
}

// TestOffers: the engine is offered the 46 functions of preview 1, with one result
// each but proc_exit, and nothing else by any other name.
func TestOffers(t *testing.T) {
	if len(offers) != 46 {
		t.Errorf("%d functions, preview 1 has 46", len(offers))
	}
	for name := range offers {
		params, results, ok := Offered(name)
		if want := len(offers[name].params); !ok || len(params) != want || len(results) != 1 && name != "proc_exit" {
			t.Errorf("%s: %d parameters and %d results, %v", name, len(params), len(results), ok)
		}
	}
	if _, results, _ := Offered("proc_exit"); len(results) != 0 {
		t.Error("proc_exit has a result")
	}
	for _, name := range []string{"", "fd_readv", "sock_open"} {
		if _, _, ok := Offered(name); ok {
			t.Errorf("%q is offered", name)
		}
	}
}

// TestFilesAgree: reads and writes at any places give what a plain slice of bytes
// gives.
func TestFilesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New("t", nil, nil, Limits{Bytes: 1 << 16, Entries: 1, Output: 1})
		fd, errno := s.openPath(root, "f", true, openCreate, FD{Rights: rightsAll})
		if errno != OK {
			t.Fatal(errno)
		}
		ino := s.FDs[fd].Ino
		var dumb []byte
		off, n := rapid.IntRange(0, 500), rapid.IntRange(0, 90)
		resized := func(size int) {
			if size <= len(dumb) {
				dumb = slices.Clone(dumb[:size])
				return
			}
			dumb = append(dumb, make([]byte, size-len(dumb))...)
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "calls") {
			at := off.Draw(t, "at")
			switch rapid.SampledFrom([]string{"write", "truncate", "read"}).Draw(t, "what") {
			case "write":
				a, b := bytes.Repeat([]byte{byte(i)}, n.Draw(t, "first")),
					bytes.Repeat([]byte{^byte(i)}, n.Draw(t, "second"))
				if got, errno := s.write(ino, int64(at), [][]byte{a, b}); errno != OK || int(got) != len(a)+len(b) {
					t.Fatalf("wrote %d, errno %d", got, errno)
				}
				if end := at + len(a) + len(b); len(a)+len(b) > 0 && end > len(dumb) {
					resized(end)
				}
				copy(dumb[min(at, len(dumb)):], append(a, b...))
			case "truncate":
				if errno := s.truncate(ino, int64(at)); errno != OK {
					t.Fatal(errno)
				}
				resized(at)
			case "read":
				a, b := make([]byte, n.Draw(t, "first")), make([]byte, n.Draw(t, "second"))
				got := s.read(&s.Inodes[ino], int64(at), [][]byte{a, b})
				want := dumb[min(at, len(dumb)):min(at+len(a)+len(b), len(dumb))]
				if !bytes.Equal(append(a, b...)[:got], want) {
					t.Fatalf("read %d bytes at %d, want %d", got, at, len(want))
				}
			}
			if !bytes.Equal(s.Inodes[ino].Data, dumb) || s.Bytes != int64(len(dumb)) {
				t.Fatalf("%d bytes, %d counted, want %d", len(s.Inodes[ino].Data), s.Bytes, len(dumb))
			}
		}
	})
}
