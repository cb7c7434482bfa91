package wasi

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"godwit/task"

	"pgregory.net/rapid"
)

// store keeps the blocks of saved states.
type store map[[sha256.Size]byte][]byte

func (b store) put(h [sha256.Size]byte, block []byte) error {
	b[h] = bytes.Clone(block)
	return nil
}

func (b store) get(h [sha256.Size]byte) ([]byte, error) {
	if x, ok := b[h]; ok {
		return x, nil
	}
	return nil, fmt.Errorf("no block %x", h[:4])
}

func beginning(t testing.TB) (*State, [sha256.Size]byte) {
	t.Helper()
	s := New("job/1", []string{"a", "\xff"}, []string{"A=1"}, Limits{Bytes: 1 << 20, Entries: 20, Output: 1 << 12})
	for _, name := range []string{"in/deep/file", "in/other"} {
		if err := s.AddInput(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.SetStdin([]byte("typed"))
	d, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// busy does what programs do, as drawn.
func busy(t *rapid.T, s *State) {
	name := rapid.SampledFrom([]string{"x", "y", "in/x", "d", "d/x", "d/e", "l", "in/other"})
	fd := rapid.Uint32Range(0, 8)
	t.Repeat(map[string]func(*rapid.T){
		"open": func(t *rapid.T) {
			_, _ = s.openPath(root, name.Draw(t, "name"), true,
				rapid.SampledFrom([]uint16{0, openCreate, openDirectory, openTruncate}).Draw(t, "how"), FD{Rights: rightsAll})
		},
		"write": func(t *rapid.T) {
			n := fd.Draw(t, "fd")
			if d, _, errno := s.file(n, rightWrite); errno == OK {
				_, _ = s.write(d.Ino, d.Offset, [][]byte{bytes.Repeat([]byte{byte(n)}, rapid.IntRange(0, 3000).Draw(t, "n"))})
			}
		},
		"truncate": func(t *rapid.T) {
			if d, i, errno := s.file(fd.Draw(t, "fd"), rightWrite); errno == OK && i.Kind == KindFile {
				_ = s.truncate(d.Ino, rapid.Int64Range(0, 90_000).Draw(t, "size"))
			}
		},
		"seek":     func(t *rapid.T) { _, _ = s.seek(fd.Draw(t, "fd"), rapid.Int64Range(0, 90_000).Draw(t, "to"), 0) },
		"close":    func(t *rapid.T) { s.close(fd.Draw(t, "fd")) },
		"list":     func(t *rapid.T) { _, _ = s.list(fd.Draw(t, "fd"), 0) },
		"mkdir":    func(t *rapid.T) { s.mkdir(root, name.Draw(t, "name")) },
		"rmdir":    func(t *rapid.T) { s.rmdir(root, name.Draw(t, "name")) },
		"unlink":   func(t *rapid.T) { s.unlinkFile(root, name.Draw(t, "name")) },
		"rename":   func(t *rapid.T) { s.rename(root, name.Draw(t, "from"), root, name.Draw(t, "to")) },
		"symlink":  func(t *rapid.T) { s.symlink("x", root, name.Draw(t, "name")) },
		"hardlink": func(t *rapid.T) { s.hardlink(root, name.Draw(t, "from"), false, root, name.Draw(t, "to")) },
		"random":   func(t *rapid.T) { s.Random(make([]byte, rapid.IntRange(0, 40).Draw(t, "n"))); s.advance(7) },
		"": func(t *rapid.T) {
			if s.Over != nil {
				t.Skip("ended by a quota")
			}
		},
	})
}

// TestSaveLoad: whatever a program did, its state comes back the same.
func TestSaveLoad(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, begins := beginning(t)
		busy(rt, s)
		blocks := store{}
		b, err := s.Save(begins, 5, blocks.put)
		if err != nil {
			rt.Fatal(err)
		}
		listed, err := Blocks(b)
		if err != nil {
			rt.Fatal(err)
		}
		for _, h := range listed {
			if blocks[h] == nil {
				rt.Fatal("a block is listed that was not stored")
			}
		}
		again, _ := beginning(t)
		marks, err := again.Load(b, begins, blocks.get)
		if err != nil || marks != 5 {
			rt.Fatalf("marks %d, %v", marks, err)
		}
		if c, err := again.Save(begins, 5, nil); err != nil || !bytes.Equal(b, c) {
			rt.Fatalf("a state that came back is saved as another: %v", err)
		}
	})
}

// TestSavedAgain: a state that was saved before, whatever changed since, is saved as one that never was.
func TestSavedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, begins := beginning(t)
		for range 3 {
			busy(rt, s)
			got, err := s.Save(begins, 0, nil)
			if err != nil {
				rt.Fatal(err)
			}
			fresh := *s
			fresh.Inodes = slices.Clone(s.Inodes)
			for i := range fresh.Inodes {
				fresh.Inodes[i].sums = nil
			}
			stored := store{}
			want, err := fresh.Save(begins, 0, stored.put)
			if err != nil || !bytes.Equal(got, want) {
				rt.Fatalf("it is saved as another: %v", err)
			}
			again := store{}
			if _, err := s.Save(begins, 0, again.put); err != nil || !maps.EqualFunc(again, stored, bytes.Equal) {
				rt.Fatalf("%d blocks are stored, want %d: %v", len(again), len(stored), err)
			}
		}
	})
}

// FuzzLoad feeds states of any content; what is let pass must be one that Save
// makes, and safe to walk through.
func FuzzLoad(f *testing.F) {
	s, begins := beginning(f)
	fd, _ := s.openPath(3, "x", false, openCreate, FD{Rights: rightsAll})
	if _, errno := s.write(s.fd(fd).Ino, 0, [][]byte{make([]byte, 5000)}); errno != OK {
		f.Fatal(errno)
	}
	s.mkdir(3, "d")
	_, _ = s.list(3, 0)
	b, err := s.Save(begins, 0, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, begins := beginning(t)
		if _, err := s.Load(b, begins, func([sha256.Size]byte) ([]byte, error) {
			return make([]byte, BlockSize),
				nil
		}); err != nil {
			return
		}
		s.Written(func(string, []byte) {})
		for fd := range uint32(len(s.FDs)) {
			_, _ = s.list(fd, 0)
			s.close(fd)
		}
	})
}

// TestForgedStates: each of the lies is found.
func TestForgedStates(t *testing.T) {
	lies := map[string]func(*saved){
		"version":             func(s *saved) { s.Version++ },
		"no inodes":           func(s *saved) { s.Inodes = nil },
		"a loop":              func(s *saved) { s.Inodes[rootIno].Names[0].Ino = rootIno },
		"a name of stdout":    func(s *saved) { s.Inodes[rootIno].Names[0].Ino = stdoutIno },
		"a name with a slash": func(s *saved) { s.Inodes[rootIno].Names[0].Name = "../x" },
		"an input gone":       func(s *saved) { s.Inodes[rootIno].Names = nil },
		"an input writable":   func(s *saved) { s.Inodes[stderrIno+1].ReadOnly = false },
		"another kind":        func(s *saved) { s.Inodes[stdinIno].Kind = KindDir },
		"links":               func(s *saved) { s.Inodes[stderrIno+1].Links++ },
		"opens":               func(s *saved) { s.Inodes[stdinIno].Opens++ },
		"free and used":       func(s *saved) { s.Free = append(s.Free, rootIno) },
		"a wild descriptor":   func(s *saved) { s.FDs[0].Ino = 99 },
		"a negative offset":   func(s *saved) { s.FDs[0].Offset = -1 },
		"rights":              func(s *saved) { s.FDs[0].Rights = 1 << 40 },
		"many descriptors":    func(s *saved) { s.FDs = make([]savedFD, MaxFDs+1) },
		"size":                func(s *saved) { s.Inodes[stdoutIno].Size = 1 << 40 },
		"bytes":               func(s *saved) { s.Bytes = -1 },
		"entries":             func(s *saved) { s.Entries = -5 },
		"clock":               func(s *saved) { s.Clock = -1 },
	}
	for name, lie := range lies {
		s, begins := beginning(t)
		b, err := s.Save(begins, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := decodeSaved(b)
		if err != nil {
			t.Fatal(err)
		}
		lie(in)
		if b, err = task.Encode(in); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(b, begins, store{}.get); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
