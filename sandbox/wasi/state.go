package wasi

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
)

// Limits bound what a guest may make. All must be positive.
type Limits struct {
	Bytes   int64 // content of all files it writes, together; holes count
	Entries int   // files, directories and links it makes, together
	Output  int64 // bytes of standard output and standard error, together
}

// Bounds that are the same for every task: they are what a program meets on
// an ordinary system, and keep one call from costing the host much.
const (
	MaxFDs      = 256  // open descriptors
	MaxPath     = 4096 // bytes of a path
	MaxName     = 255  // bytes of one component of a path
	MaxDepth    = 64   // directories below one another
	MaxSymlinks = 40   // symbolic links followed in one resolution
	maxIovecs   = 1024 // buffers of one scattered read or write
	maxPoll     = 1024 // subscriptions of one poll_oneoff
)

// An Ino names an Inode: its index in State.Inodes. 0 is no inode.
type Ino uint32

// The inodes every State begins with.
const (
	rootIno Ino = 1 + iota
	stdinIno
	stdoutIno
	stderrIno
)

// State is a guest's world. It is plain data: encoding its exported fields and
// decoding them elsewhere gives a State that goes on in the same way. It is
// not safe for concurrent use.
type State struct {
	Args []string // the program's name first
	Env  []string // "NAME=value", sorted by name by whoever makes the State

	Seed  [sha256.Size]byte // SHA-256 of the task's name
	Drawn uint64            // random bytes given so far
	Clock int64             // nanoseconds since Epoch

	Inodes []Inode // index is the Ino; 0 is unused; KindFree marks a hole
	Free   []Ino   // holes of Inodes, reused last in first out
	FDs    []FD    // index is the descriptor; Ino 0 marks a closed one

	Limits  Limits
	Bytes   int64 // content written, against Limits.Bytes
	Entries int   // entries made, against Limits.Entries
	Output  int64 // printed, against Limits.Output

	// Over is set by the call that went over a quota; the guest must not run
	// on after it.
	Over *QuotaError

	block   [sha256.Size]byte // the random block that holds byte Drawn-1
	blockAt uint64            // its number plus 1; 0 if there is none
}

// A QuotaError says which quota a guest went over.
type QuotaError struct {
	What  string // "bytes of files", "files", "bytes of output"
	Limit int64
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("over quota: more than %d %s", e.Limit, e.What)
}

// New returns the State that the task of this name begins with. Standard
// input is empty; see SetStdin and AddInput.
func New(name string, args, env []string, limits Limits) *State {
	s := &State{
		Args: args, Env: env,
		Seed:   sha256.Sum256([]byte(name)),
		Limits: limits,
	}
	s.Inodes = make([]Inode, stderrIno+1, stderrIno+5)
	s.Inodes[rootIno] = Inode{Kind: KindDir, Parent: rootIno, Links: 1}
	s.Inodes[stdinIno] = Inode{Kind: KindFile, ReadOnly: true, Links: 1}
	s.Inodes[stdoutIno] = Inode{Kind: KindStream, Links: 1}
	s.Inodes[stderrIno] = Inode{Kind: KindStream, Links: 1}
	s.FDs = make([]FD, 0, 8)
	for _, fd := range []FD{
		{Ino: stdinIno, Rights: rightsFile &^ rightWrite},
		{Ino: stdoutIno, Rights: rightsStream},
		{Ino: stderrIno, Rights: rightsStream},
		{Ino: rootIno, Rights: rightsDir, Inheriting: rightsAll, Preopen: true},
	} {
		s.FDs = append(s.FDs, fd)
		s.Inodes[fd.Ino].Opens++
	}
	return s
}

// SetStdin makes data the standard input. The State keeps data and never
// changes it.
func (s *State) SetStdin(data []byte) { s.Inodes[stdinIno].Data = data }

// AddInput puts a read-only file into the tree, with the directories above
// it. The State keeps data and never changes it. Inputs do not count against
// the quotas.
func (s *State) AddInput(name string, data []byte) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("input file %q: %w", name, err)
	}
	dir := rootIno
	dirs, base := path.Split(name)
	for part := range strings.SplitSeq(strings.TrimSuffix(dirs, "/"), "/") {
		if part == "" {
			continue
		}
		next := s.lookup(dir, part)
		if next == 0 {
			next = s.alloc(Inode{Kind: KindDir, ReadOnly: true, Parent: dir})
			s.link(dir, part, next)
		}
		if s.Inodes[next].Kind != KindDir {
			return fmt.Errorf("input file %q: %q is a file and a directory", name, part)
		}
		dir = next
	}
	if s.lookup(dir, base) != 0 {
		return fmt.Errorf("input file %q: given twice", name)
	}
	s.link(dir, base, s.alloc(Inode{Kind: KindFile, ReadOnly: true, Data: data}))
	return nil
}

// CheckName reports whether name can be a file below the root: relative,
// slash-separated, clean, within MaxPath, MaxName and MaxDepth.
func CheckName(name string) error {
	switch {
	case name == "" || name == ".":
		return fmt.Errorf("empty name")
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("absolute name")
	case len(name) > MaxPath:
		return fmt.Errorf("name longer than %d bytes", MaxPath)
	case path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return fmt.Errorf("name is not a clean path below the root")
	case strings.Count(name, "/") >= MaxDepth:
		return fmt.Errorf("name deeper than %d directories", MaxDepth)
	}
	for part := range strings.SplitSeq(name, "/") {
		if errno := checkComponent(part); errno != OK {
			return fmt.Errorf("bad component %q", part)
		}
	}
	return nil
}

// Stdout returns what the guest printed; the slice is the State's own.
func (s *State) Stdout() []byte { return s.Inodes[stdoutIno].Data }

// Stderr returns what the guest printed to standard error; the slice is the
// State's own.
func (s *State) Stderr() []byte { return s.Inodes[stderrIno].Data }

// Written calls visit for each regular file in the tree that is not an input,
// in the order of a depth-first walk by name. Links are not followed. The data
// is the State's own.
func (s *State) Written(visit func(name string, data []byte)) { s.walk(rootIno, "", visit) }

func (s *State) walk(dir Ino, prefix string, visit func(string, []byte)) {
	for _, e := range s.Inodes[dir].Names {
		n := &s.Inodes[e.Ino]
		switch {
		case n.Kind == KindDir:
			s.walk(e.Ino, prefix+e.Name+"/", visit)
		case n.Kind == KindFile && !n.ReadOnly:
			visit(prefix+e.Name, n.Data)
		}
	}
}
