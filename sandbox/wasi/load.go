package wasi

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// Load puts a State that the task began with, fresh, into the state that Save
// wrote, which may be anything: all of it is checked before it is used. block
// gives the content of a hash, BlockSize bytes that have been checked against
// it. The marks are those given to Save. After an error the State is
// of no use.
func (s *State) Load(b []byte, begins [sha256.Size]byte,
	block func(h [sha256.Size]byte) ([]byte, error)) (marks uint64, err error) {
	in, err := s.check(b, begins)
	if err != nil {
		return 0, err
	}
	return in.Marks, s.adopt(in, block)
}

// Check says what Load would find wrong before it asks for a block, and changes
// nothing.
func (s *State) Check(b []byte, begins [sha256.Size]byte) error {
	_, err := s.check(b, begins)
	return err
}

func (s *State) check(b []byte, begins [sha256.Size]byte) (*saved, error) {
	in, err := decodeSaved(b)
	if err != nil {
		return nil, err
	}
	if in.Begins != begins {
		return nil, errors.New("it is of a task with another name, arguments, inputs or limits")
	}
	c := checker{in: in, fresh: s}
	for _, check := range []func() error{c.inodes, c.fds, c.tree, c.sums} { // each relies on those before
		if err := check(); err != nil {
			return nil, fmt.Errorf("saved state: %w", err)
		}
	}
	return in, nil
}

// adopt takes over a state that has been checked.
func (s *State) adopt(in *saved, block func([sha256.Size]byte) ([]byte, error)) error {
	s.Drawn, s.Clock, s.Free = in.Drawn, in.Clock, in.Free
	s.Bytes, s.Entries, s.Output = in.Bytes, in.Entries, in.Output
	inputs := s.Inodes
	s.Inodes = make([]Inode, len(in.Inodes))
	for i := range in.Inodes {
		from, to := &in.Inodes[i], &s.Inodes[i]
		*to = Inode{Kind: from.Kind, ReadOnly: from.ReadOnly, Parent: from.Parent, Links: from.Links, Opens: from.Opens,
			Atim: from.Atim, Mtim: from.Mtim, Ctim: from.Ctim}
		for _, n := range from.Names {
			to.Names = append(to.Names, Name{n.Name, n.Ino})
		}
		if to.ReadOnly {
			to.Data = inputs[i].Data
			continue
		}
		data, err := from.content(block)
		if err != nil {
			return fmt.Errorf("content of a file: %w", err)
		}
		to.Data = data
	}
	s.FDs = make([]FD, len(in.FDs))
	for i, d := range in.FDs {
		s.FDs[i] = FD{Ino: d.Ino, Offset: d.Offset, Flags: d.Flags, Rights: d.Rights, Inheriting: d.Inheriting,
			Preopen: d.Preopen}
		for _, e := range d.Listing {
			s.FDs[i].Listing = append(s.FDs[i].Listing, Dirent{e.Name, e.Ino, e.Kind})
		}
	}
	return nil
}

func (n *savedInode) content(block func([sha256.Size]byte) ([]byte, error)) ([]byte, error) {
	if len(n.Blocks) == 0 {
		return n.Inline, nil
	}
	var out []byte
	for _, h := range n.Blocks {
		b, err := block(h)
		if err != nil {
			return nil, err
		}
		out = append(out, b[:min(int64(len(b)), n.Size-int64(len(out)))]...)
	}
	if int64(len(out)) != n.Size {
		return nil, errors.New("its blocks are too short")
	}
	return out, nil
}

// A checker looks through a saved state that a stranger may have made. What
// it lets pass keeps every invariant that the calls of a guest rely on.
type checker struct {
	in    *saved
	fresh *State
}

func (c *checker) known(ino Ino) bool {
	return ino > 0 && int64(ino) < int64(len(c.in.Inodes)) && c.in.Inodes[ino].Kind != KindFree
}

// inodes checks each inode by itself, and the list of the free ones.
func (c *checker) inodes() error {
	most := len(c.fresh.Inodes) + c.fresh.Limits.Entries + MaxFDs
	if n := len(c.in.Inodes); n < len(c.fresh.Inodes) || n > most {
		return fmt.Errorf("%d inodes", n)
	}
	free := 0
	for i := range c.in.Inodes {
		if err := c.inode(i); err != nil {
			return fmt.Errorf("inode %d: %w", i, err)
		}
		if i > 0 && c.in.Inodes[i].Kind == KindFree {
			free++
		}
	}
	seen := map[Ino]bool{}
	for _, ino := range c.in.Free {
		if ino == 0 || int64(ino) >= int64(len(c.in.Inodes)) || c.known(ino) || seen[ino] {
			return fmt.Errorf("inode %d cannot be free", ino)
		}
		seen[ino] = true
	}
	if len(seen) != free {
		return errors.New("an inode is neither used nor free")
	}
	return nil
}

func (c *checker) inode(i int) error {
	n := &c.in.Inodes[i]
	was := Inode{}
	if i < len(c.fresh.Inodes) {
		was = c.fresh.Inodes[i]
		if n.Kind != was.Kind {
			return errors.New("of another kind than the task began with")
		}
	} else if n.Kind >= KindStream {
		return errors.New("of a kind that no program can make")
	}
	switch {
	case n.ReadOnly != was.ReadOnly:
		return errors.New("its protection changed")
	case n.Kind == KindFree && (n.Links > 0 || n.Opens > 0):
		return errors.New("free and in use")
	case n.Kind != KindFree && n.Links == 0 && n.Opens == 0:
		return errors.New("neither free nor in use")
	case n.Kind == KindDir && int64(n.Parent) >= int64(len(c.in.Inodes)), n.Kind == KindDir && n.Parent == 0:
		return errors.New("a directory without a parent")
	case n.Kind != KindDir && (n.Parent != 0 || len(n.Names) > 0):
		return errors.New("names in something that is no directory")
	}
	return n.sized()
}

// sized checks that the stored content has the size stated.
func (n *savedInode) sized() error {
	empty := n.ReadOnly || n.Kind == KindDir || n.Kind == KindFree
	blocks := (n.Size + BlockSize - 1) / BlockSize
	switch {
	case n.Size < 0 || empty && n.Size != 0:
		return fmt.Errorf("a size of %d", n.Size)
	case n.Size <= maxInline && (int64(len(n.Inline)) != n.Size || len(n.Blocks) > 0),
		n.Size > maxInline && (len(n.Inline) > 0 || int64(len(n.Blocks)) != blocks):
		return errors.New("content of another size than stated")
	case n.Kind == KindLink && checkPath(string(n.Inline)) != OK:
		return errors.New("a link that leads nowhere")
	}
	return nil
}

// fds checks the descriptors against the inodes.
func (c *checker) fds() error {
	if len(c.in.FDs) > MaxFDs {
		return fmt.Errorf("%d descriptors", len(c.in.FDs))
	}
	opens := make([]uint32, len(c.in.Inodes))
	for i := range c.in.FDs {
		d := &c.in.FDs[i]
		if d.Ino != 0 && !c.known(d.Ino) {
			return fmt.Errorf("descriptor %d of no inode", i)
		}
		kind := c.in.Inodes[d.Ino].Kind
		closed := d.Ino == 0 && (d.Flags != 0 || d.Rights != 0 || d.Inheriting != 0)
		if closed || d.Offset < 0 || d.Flags > flagsAll || d.Rights > rightsAll || d.Inheriting > rightsAll ||
			kind != KindDir && (d.Preopen || len(d.Listing) > 0) || kind != KindFile && d.Offset != 0 || kind == KindLink {
			return fmt.Errorf("descriptor %d has what none can have", i)
		}
		for k, e := range d.Listing {
			if e.Kind > KindStream || k < 2 && e.Name != []string{".", ".."}[k] || k >= 2 && checkComponent(e.Name) != OK {
				return fmt.Errorf("descriptor %d lists an impossible entry", i)
			}
		}
		opens[d.Ino]++
	}
	for i := range c.in.Inodes {
		if i > 0 && c.in.Inodes[i].Opens != opens[i] {
			return fmt.Errorf("inode %d is not open as often as it says", i)
		}
	}
	return nil
}

// tree checks that the directories are a tree below the root that holds all
// that has names, and all inputs at their places.
func (c *checker) tree() error {
	links := make([]uint32, len(c.in.Inodes))
	if err := c.branch(rootIno, 0, links); err != nil {
		return err
	}
	links[rootIno], links[stdinIno], links[stdoutIno], links[stderrIno] = 1, 1, 1, 1
	for i := range c.in.Inodes {
		n := &c.in.Inodes[i]
		switch {
		case n.Links != links[i]:
			return fmt.Errorf("inode %d has not as many names as it says", i)
		case n.Links == 0 && len(n.Names) > 0:
			return fmt.Errorf("inode %d is a removed directory with names in it", i)
		}
	}
	for i := range c.fresh.Inodes {
		for _, n := range c.fresh.Inodes[i].Names {
			if k, ok := slices.BinarySearchFunc(c.in.Inodes[i].Names, n.Name, byName); !ok ||
				c.in.Inodes[i].Names[k].Ino != n.Ino {
				return fmt.Errorf("the input %q is gone", n.Name)
			}
		}
	}
	return nil
}

func byName(e savedName, name string) int { return cmp.Compare(e.Name, name) }

func (c *checker) branch(dir Ino, depth int, links []uint32) error {
	n := &c.in.Inodes[dir]
	if depth > MaxDepth || dir == rootIno && n.Parent != rootIno {
		return errors.New("directories that are no tree")
	}
	for k, e := range n.Names {
		if checkComponent(e.Name) != OK || k > 0 && n.Names[k-1].Name >= e.Name || !c.known(e.Ino) || e.Ino <= stderrIno {
			return fmt.Errorf("directory %d has an impossible entry", dir)
		}
		links[e.Ino]++
		if c.in.Inodes[e.Ino].Kind != KindDir {
			continue
		}
		if links[e.Ino] > 1 || c.in.Inodes[e.Ino].Parent != dir {
			return fmt.Errorf("directory %d has two places", e.Ino)
		}
		if err := c.branch(e.Ino, depth+1, links); err != nil {
			return err
		}
	}
	return nil
}

// sums checks what is counted against the quotas.
func (c *checker) sums() error {
	var bytes, output int64
	entries := 0
	for i := range c.in.Inodes {
		n := &c.in.Inodes[i]
		if n.Size > max(c.fresh.Limits.Bytes, c.fresh.Limits.Output) {
			return errors.New("a file over the quota")
		}
		if n.Kind == KindStream {
			output += n.Size
		} else {
			bytes += n.Size
		}
		entries += len(n.Names)
		if i < len(c.fresh.Inodes) {
			entries -= len(c.fresh.Inodes[i].Names)
		}
	}
	l := c.fresh.Limits
	if bytes != c.in.Bytes || output != c.in.Output || entries != c.in.Entries ||
		bytes > l.Bytes || output > l.Output || entries > l.Entries || c.in.Clock < 0 || c.in.Clock > maxClock {
		return errors.New("its counts do not add up")
	}
	return nil
}
