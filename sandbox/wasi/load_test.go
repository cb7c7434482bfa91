package wasi

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"

	"godwit/task"
)

// lived is a State with something of everything: a directory that is open and one
// that is removed but open, a link, a file in blocks, output, a free inode, a
// listing.
func lived(t *testing.T) (*State, [sha256.Size]byte, store) {
	t.Helper()
	s, begins := beginning(t)
	for _, d := range []string{"d", "d/e", "gone"} {
		if errno := s.mkdir(root, d); errno != OK {
			t.Fatal(errno)
		}
	}
	write(s, mustOpen(t, s, "d/big", openCreate, rightsAll), strings.Repeat("block", 30_000))
	write(s, mustOpen(t, s, "small", openCreate, rightsAll), "inline")
	s.symlink("../small", root, "d/l")
	mustOpen(t, s, "gone", openDirectory, 0)
	s.rmdir(root, "gone")
	s.close(mustOpen(t, s, "free", openCreate, 0))
	s.unlinkFile(root, "free")
	if _, errno := s.write(stdoutIno, 0, [][]byte{[]byte("printed")}); errno != OK {
		t.Fatal(errno)
	}
	if _, errno := s.list(root, 0); errno != OK {
		t.Fatal(errno)
	}
	return s, begins, store{}
}

// Inodes of lived.
const (
	inDir   = stderrIno + 1 + iota // "in"
	deepDir                        // "in/deep"
	_                              // "in/deep/file"
	_                              // "in/other"
	dDir                           // "d"
	eDir                           // "d/e"
	goneDir                        // removed
	bigFile
	smallFile
	aLink
	freeIno
)

// TestLiesAreNamed: a saved state with one lie in it is refused with the reason,
// by Check as by Load, before a block is asked for.
func TestLiesAreNamed(t *testing.T) {
	s, begins, blocks := lived(t)
	good, err := s.Save(begins, 0, blocks.put)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lie    func(*saved)
		reason string
	}{
		"an older version": {func(s *saved) { s.Version = 0 },
			"a saved state of version 0, this program reads version 1"},
		"another task":   {func(s *saved) { s.Begins[0]++ }, "another name, arguments, inputs or limits"},
		"inodes missing": {func(s *saved) { s.Inodes = s.Inodes[:4] }, "saved state: 4 inodes"},
		"more inodes than can be": {func(s *saved) { s.Inodes = append(s.Inodes, make([]savedInode, 270)...) },
			"saved state: 286 inodes"},
		"stdin a directory": {func(s *saved) { s.Inodes[stdinIno].Kind = KindDir },
			"inode 2: of another kind than the task began with"},
		"a stream more": {func(s *saved) { s.Inodes[smallFile].Kind = KindStream },
			"of a kind that no program can make"},
		"a kind of none": {func(s *saved) { s.Inodes[smallFile].Kind = 9 },
			"of a kind that no program can make"},
		"an input unprotected": {func(s *saved) { s.Inodes[inDir].ReadOnly = false }, "its protection changed"},
		"a file protected":     {func(s *saved) { s.Inodes[smallFile].ReadOnly = true }, "its protection changed"},
		"free with links":      {func(s *saved) { s.Inodes[freeIno].Links = 1 }, "free and in use"},
		"free and open":        {func(s *saved) { s.Inodes[freeIno].Opens = 1 }, "free and in use"},
		"no use":               {func(s *saved) { s.Inodes[aLink].Links = 0 }, "neither free nor in use"},
		"no parent":            {func(s *saved) { s.Inodes[dDir].Parent = 0 }, "a directory without a parent"},
		"a parent beyond all":  {func(s *saved) { s.Inodes[goneDir].Parent = 99 }, "a directory without a parent"},
		"a file with a parent": {func(s *saved) { s.Inodes[smallFile].Parent = rootIno },
			"names in something that is no directory"},
		"a file with names": {func(s *saved) {
			s.Inodes[smallFile].Names = []savedName{{Name: "x",
				Ino: dDir}}
		}, "names in something that is no directory"},
		"a negative size":         {func(s *saved) { s.Inodes[smallFile].Size = -1 }, "a size of -1"},
		"a directory with a size": {func(s *saved) { s.Inodes[dDir].Size = 1 }, "a size of 1"},
		"an input with a size":    {func(s *saved) { s.Inodes[stdinIno].Size = 5 }, "a size of 5"},
		"less content": {func(s *saved) { s.Inodes[smallFile].Size++ },
			"content of another size than stated"},
		"blocks of a small file": {func(s *saved) { s.Inodes[smallFile].Blocks = make([][32]byte, 1) },
			"content of another size than stated"},
		"a block missing": {func(s *saved) { s.Inodes[bigFile].Blocks = s.Inodes[bigFile].Blocks[1:] },
			"content of another size than stated"},
		"a block too many": {func(s *saved) {
			s.Inodes[bigFile].Blocks = append(s.Inodes[bigFile].Blocks,
				[32]byte{})
		}, "content of another size than stated"},
		"both inline and blocks": {func(s *saved) { s.Inodes[bigFile].Inline = []byte("x") },
			"content of another size than stated"},
		"the largest size": {func(s *saved) { s.Inodes[bigFile].Size = math.MaxInt64 },
			"content of another size than stated"},
		"a link to the host": {func(s *saved) { s.Inodes[aLink].Inline = []byte("/etc/pas") },
			"a link that leads nowhere"},
		"a link of a zero byte": {func(s *saved) { s.Inodes[aLink].Inline = []byte("a\x00bcdefg") },
			"a link that leads nowhere"},
		"inode 0 free":           {func(s *saved) { s.Free[0] = 0 }, "inode 0 cannot be free"},
		"a free one beyond all":  {func(s *saved) { s.Free[0] = 1000 }, "inode 1000 cannot be free"},
		"free twice":             {func(s *saved) { s.Free = append(s.Free, s.Free[0]) }, "inode 15 cannot be free"},
		"the free one forgotten": {func(s *saved) { s.Free = nil }, "an inode is neither used nor free"},
		"257 descriptors": {func(s *saved) { s.FDs = append(s.FDs, make([]savedFD, MaxFDs)...) },
			"264 descriptors"},
		"of no inode":     {func(s *saved) { s.FDs[4].Ino = 99 }, "descriptor 4 of no inode"},
		"of a free inode": {func(s *saved) { s.FDs[4].Ino = freeIno }, "descriptor 4 of no inode"},
		"of a link":       {func(s *saved) { s.FDs[4].Ino = aLink }, "descriptor 4 has what none can have"},
		"closed with rights": {func(s *saved) { s.FDs = append(s.FDs, savedFD{Rights: 1}) },
			"descriptor 8 has what none can have"},
		"closed and preopened": {func(s *saved) { s.FDs = append(s.FDs, savedFD{Preopen: true}) },
			"descriptor 8 has what none can have"},
		"before the beginning":   {func(s *saved) { s.FDs[4].Offset = -1 }, "descriptor 4 has what none can have"},
		"a position in a stream": {func(s *saved) { s.FDs[1].Offset = 1 }, "descriptor 1 has what none can have"},
		"unknown flags": {func(s *saved) { s.FDs[1].Flags = flagsAll + 1 },
			"descriptor 1 has what none can have"},
		"unknown rights": {func(s *saved) { s.FDs[1].Rights = 1 << 30 },
			"descriptor 1 has what none can have"},
		"unknown rights to pass on": {func(s *saved) { s.FDs[3].Inheriting = 1 << 63 },
			"descriptor 3 has what none can have"},
		"a preopened file": {func(s *saved) { s.FDs[4].Preopen = true },
			"descriptor 4 has what none can have"},
		"a listing of a file": {func(s *saved) { s.FDs[4].Listing = s.FDs[3].Listing },
			"descriptor 4 has what none can have"},
		"a listing without a dot": {func(s *saved) { s.FDs[3].Listing[0].Name = "x" },
			"descriptor 3 lists an impossible entry"},
		"a listed slash and kind": {func(s *saved) { s.FDs[3].Listing[3].Kind = 8 },
			"descriptor 3 lists an impossible entry"},
		"a listed name without end": {func(s *saved) { s.FDs[3].Listing[2].Name = strings.Repeat("n", 256) },
			"descriptor 3 lists an impossible entry"},
		"opens": {func(s *saved) { s.Inodes[bigFile].Opens = 2 },
			"is not open as often as it says"},
		"links": {func(s *saved) { s.Inodes[bigFile].Links = 2 },
			"has not as many names as it says"},
		"a root below": {func(s *saved) { s.Inodes[rootIno].Parent = dDir },
			"directories that are no tree"},
		"out of order": {func(s *saved) { n := s.Inodes[dDir].Names; n[0], n[1] = n[1], n[0] },
			"directory 9 has an impossible entry"},
		"a name twice": {func(s *saved) { n := s.Inodes[dDir].Names; n[1].Name = n[0].Name },
			"directory 9 has an impossible entry"},
		"a name of stdout": {func(s *saved) { s.Inodes[dDir].Names[0].Ino = stdoutIno },
			"directory 9 has an impossible entry"},
		"a name of what is free": {func(s *saved) { s.Inodes[dDir].Names[0].Ino = freeIno },
			"directory 9 has an impossible entry"},
		"a name that leads up": {func(s *saved) { s.Inodes[dDir].Names[0].Name = ".." },
			"directory 9 has an impossible entry"},
		"another parent": {func(s *saved) { s.Inodes[eDir].Parent = rootIno },
			"directory 10 has two places"},
		"below itself": {func(s *saved) { s.Inodes[eDir].Names = []savedName{{Name: "up", Ino: dDir}} },
			"directory 9 has two places"},
		"names in what is removed": {func(s *saved) {
			s.Inodes[goneDir].Names = []savedName{{Name: "x",
				Ino: smallFile}}
		}, "is a removed directory with names in it"},
		"an input renamed": {func(s *saved) { s.Inodes[inDir].Names[1].Name = "p" },
			`the input "other" is gone`},
		"an input replaced": {func(s *saved) {
			s.Inodes[inDir].Names[1].Ino = bigFile
			s.Inodes[7+1].Links = 0
			s.Inodes[bigFile].Links++
		}, "neither free nor in use"},
		"bytes":       {func(s *saved) { s.Bytes-- }, "its counts do not add up"},
		"printed":     {func(s *saved) { s.Output++ }, "its counts do not add up"},
		"entries":     {func(s *saved) { s.Entries = 0 }, "its counts do not add up"},
		"before time": {func(s *saved) { s.Clock = -1 }, "its counts do not add up"},
		"after time":  {func(s *saved) { s.Clock = maxClock + 1 }, "its counts do not add up"},
		"a file over the quota": {func(s *saved) {
			s.Inodes[bigFile].Size, s.Inodes[bigFile].Blocks = 1<<20+1,
				make([][32]byte, 17)
		}, "a file over the quota"},
		"files over the quota": {func(s *saved) {
			s.Inodes[bigFile].Size, s.Inodes[bigFile].Blocks, s.Bytes = 1<<20, make([][32]byte, 16), 1<<20+6+8
		}, "its counts do not add up"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := decodeSaved(good)
			if err != nil {
				t.Fatal(err)
			}
			c.lie(in)
			b, err := task.Encode(in)
			if err != nil {
				t.Fatal(err)
			}
			fresh, _ := beginning(t)
			if err := fresh.Check(b, begins); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("Check: got %v, want %q", err, c.reason)
			}
			_, err = fresh.Load(b, begins, func([sha256.Size]byte) ([]byte, error) {
				t.Error("a block was asked for")
				return nil, errors.New("asked for")
			})
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("Load: got %v, want %q", err, c.reason)
			}
		})
	}
}

// TestLivedStatesLoad: the state that the lies are made of is good, and goes on as
// the one that stayed.
func TestLivedStatesLoad(t *testing.T) {
	s, begins, blocks := lived(t)
	good, err := s.Save(begins, 1<<63, blocks.put)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := beginning(t)
	if err := again.Check(good, begins); err != nil {
		t.Fatal(err)
	}
	if marks, err := again.Load(good, begins, blocks.get); err != nil || marks != 1<<63 {
		t.Fatalf("marks %#x, %v", marks, err)
	}
	var saved [2][]byte
	for i, s := range []*State{s, again} {
		if errno := s.rename(root, "small", root, "d/e/small"); errno != OK {
			t.Fatal(errno)
		}
		write(s, mustOpen(t, s, "d/e/new", openCreate, rightsAll), "made in the hole")
		rest, errno := s.list(root, 3)
		if errno != OK || names(rest) != "in small" {
			t.Errorf("state %d goes on listing with %s, errno %d", i, names(rest), errno)
		}
		if s.lookup(eDir, "new") != freeIno {
			t.Errorf("state %d: the hole was not used", i)
		}
		if saved[i], err = s.Save(begins, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(saved[0], saved[1]) {
		t.Error("what stayed and what was loaded differ after the same calls")
	}
}

// TestBlocksThatFail: what a store cannot give, or gives too short, fails the load
// and says which part.
func TestBlocksThatFail(t *testing.T) {
	s, begins, blocks := lived(t)
	good, err := s.Save(begins, 0, blocks.put)
	if err != nil {
		t.Fatal(err)
	}
	if listed, err := Blocks(good); err != nil || len(listed) != 3 {
		t.Errorf("%d blocks, %v, want 3", len(listed), err)
	}
	lost := errors.New("the block is lost")
	for name, c := range map[string]struct {
		block func([sha256.Size]byte) ([]byte, error)
		want  string
	}{
		"lost": {func([sha256.Size]byte) ([]byte, error) { return nil, lost }, "content of a file: the block is lost"},
		"short": {func([sha256.Size]byte) ([]byte, error) { return make([]byte, 9), nil },
			"content of a file: its blocks are too short"},
	} {
		fresh, _ := beginning(t)
		if _, err := fresh.Load(good, begins, c.block); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	full := errors.New("the disk is full")
	if _, err := s.Save(begins, 0, func([sha256.Size]byte, []byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("a store that fails: got %v", err)
	}
	for name, b := range map[string][]byte{"nothing": nil, "garbage": []byte("\xff\xff"), "cut": good[:len(good)/2],
		"longer": append(bytes.Clone(good), 0)} {
		if _, err := Blocks(b); err == nil || !strings.HasPrefix(err.Error(), "reading a saved state: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestDigestSeesEverything: the digest of a beginning changes with all that a guest
// could tell it by.
func TestDigestSeesEverything(t *testing.T) {
	limits := Limits{Bytes: 1, Entries: 2, Output: 3}
	digest := func(s *State, inputs ...string) [sha256.Size]byte {
		for _, in := range inputs {
			name, data, _ := strings.Cut(in, "=")
			if err := s.AddInput(name, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		d, err := s.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	typed := func(s *State, text string) *State { s.SetStdin([]byte(text)); return s }
	seen := map[[sha256.Size]byte]string{}
	for name, d := range map[string][sha256.Size]byte{
		"plain":             digest(New("t", nil, nil, limits)),
		"another name":      digest(New("u", nil, nil, limits)),
		"an argument":       digest(New("t", []string{"a"}, nil, limits)),
		"two arguments":     digest(New("t", []string{"a", ""}, nil, limits)),
		"a variable":        digest(New("t", nil, []string{"a"}, limits)),
		"more bytes":        digest(New("t", nil, nil, Limits{Bytes: 2, Entries: 2, Output: 3})),
		"more files":        digest(New("t", nil, nil, Limits{Bytes: 1, Entries: 3, Output: 3})),
		"more output":       digest(New("t", nil, nil, Limits{Bytes: 1, Entries: 2, Output: 4})),
		"standard input":    digest(typed(New("t", nil, nil, limits), "x")),
		"a file":            digest(New("t", nil, nil, limits), "f=x"),
		"other content":     digest(New("t", nil, nil, limits), "f=y"),
		"another place":     digest(New("t", nil, nil, limits), "d/f=x"),
		"two files":         digest(New("t", nil, nil, limits), "f=x", "g=x"),
		"two files swapped": digest(New("t", nil, nil, limits), "g=x", "f=x"), // inode numbers show
	} {
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}
