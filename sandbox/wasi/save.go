package wasi

import (
	"crypto/sha256"
	"fmt"

	"godwit/task"
)

// savedVersion names the encoding of a saved State.
const savedVersion = 1

// BlockSize is how large the pieces are in which content is stored; the last
// of a file is filled up with zeros.
const BlockSize = 64 << 10

// maxInline is up to how many bytes content is kept in the saved State itself:
// a whole block for a line of text would cost more than it saves.
const maxInline = 1 << 10

// A saved is a State as it is written down. What the task begins with is not
// in it but for its digest: whoever resumes the task has that already.
type saved struct {
	Version int               `cbor:"1,keyasint"`
	Begins  [sha256.Size]byte `cbor:"2,keyasint"` // digest of the State that the task began with
	Drawn   uint64            `cbor:"3,keyasint"`
	Clock   int64             `cbor:"4,keyasint"`
	Inodes  []savedInode      `cbor:"5,keyasint"`
	Free    []Ino             `cbor:"6,keyasint"`
	FDs     []savedFD         `cbor:"7,keyasint"`
	Bytes   int64             `cbor:"8,keyasint"`
	Entries int               `cbor:"9,keyasint"`
	Output  int64             `cbor:"10,keyasint"`
	Marks   uint64            `cbor:"11,keyasint"` // of whoever runs the guest
}

type savedInode struct {
	_        struct{} `cbor:",toarray"`
	Kind     Kind
	ReadOnly bool
	Size     int64
	Inline   []byte
	Blocks   [][sha256.Size]byte
	Names    []savedName
	Parent   Ino
	Links    uint32
	Opens    uint32
	Atim     int64
	Mtim     int64
	Ctim     int64
}

type savedName struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Ino  Ino
}

type savedFD struct {
	_          struct{} `cbor:",toarray"`
	Ino        Ino
	Offset     int64
	Flags      uint16
	Rights     uint64
	Inheriting uint64
	Preopen    bool
	Listing    []savedDirent
}

type savedDirent struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Ino  Ino
	Kind Kind
}

// Digest is the digest of a State as New and AddInput made it: of everything
// that a guest could find out from it.
func (s *State) Digest() ([sha256.Size]byte, error) {
	type input struct {
		_      struct{} `cbor:",toarray"`
		Kind   Kind
		Data   [sha256.Size]byte
		Names  []savedName
		Parent Ino
	}
	var begins struct {
		_         struct{} `cbor:",toarray"`
		Args, Env [][]byte // they need not be UTF-8
		Seed      [sha256.Size]byte
		Inputs    []input
		Limits    [3]int64
	}
	begins.Seed, begins.Limits = s.Seed, [3]int64{s.Limits.Bytes, int64(s.Limits.Entries), s.Limits.Output}
	for _, a := range s.Args {
		begins.Args = append(begins.Args, []byte(a))
	}
	for _, e := range s.Env {
		begins.Env = append(begins.Env, []byte(e))
	}
	for i := range s.Inodes {
		n := &s.Inodes[i]
		begins.Inputs = append(begins.Inputs, input{Kind: n.Kind, Data: sha256.Sum256(n.Data), Names: saveNames(n.Names),
			Parent: n.Parent})
	}
	b, err := task.Encode(begins)
	return sha256.Sum256(b), err
}

// Save writes the State down: equal States give equal bytes. begins is the
// Digest of the State when the task began; marks are kept for the caller. store is called with each block of
// content that is too large
// to be kept in the result and may keep only its hash; it may be nil.
func (s *State) Save(begins [sha256.Size]byte, marks uint64,
	store func(h [sha256.Size]byte, block []byte) error) ([]byte, error) {
	out := saved{Version: savedVersion, Begins: begins, Drawn: s.Drawn, Clock: s.Clock, Marks: marks,
		Bytes: s.Bytes, Entries: s.Entries, Output: s.Output, Free: append([]Ino(nil), s.Free...)}
	for i := range s.Inodes {
		n, err := s.Inodes[i].save(store)
		if err != nil {
			return nil, fmt.Errorf("saving a file: %w", err)
		}
		out.Inodes = append(out.Inodes, n)
	}
	for i := range s.FDs {
		out.FDs = append(out.FDs, s.FDs[i].save())
	}
	b, err := task.Encode(out)
	if err == nil && len(b) > task.MaxEncoded {
		err = fmt.Errorf("the files and directories take %d bytes to describe, the most is %d", len(b), task.MaxEncoded)
	}
	return b, err
}

func saveNames(names []Name) []savedName {
	var out []savedName
	for _, n := range names {
		out = append(out, savedName{Name: n.Name, Ino: n.Ino})
	}
	return out
}

func (n *Inode) save(store func([sha256.Size]byte, []byte) error) (savedInode, error) {
	out := savedInode{Kind: n.Kind, ReadOnly: n.ReadOnly, Names: saveNames(n.Names), Parent: n.Parent,
		Links: n.Links, Opens: n.Opens, Atim: n.Atim, Mtim: n.Mtim, Ctim: n.Ctim}
	if n.ReadOnly {
		return out, nil
	}
	out.Size = int64(len(n.Data))
	if out.Size <= maxInline {
		out.Inline = append([]byte(nil), n.Data...)
		return out, nil
	}
	var err error
	out.Blocks, err = n.blocks(store)
	return out, err
}

func (d *FD) save() savedFD {
	out := savedFD{Ino: d.Ino, Offset: d.Offset, Flags: d.Flags, Rights: d.Rights, Inheriting: d.Inheriting,
		Preopen: d.Preopen}
	for _, e := range d.Listing {
		out.Listing = append(out.Listing, savedDirent{Name: e.Name, Ino: e.Ino, Kind: e.Kind})
	}
	return out
}

// Blocks lists the blocks of content that a saved State refers to.
func Blocks(b []byte) ([][sha256.Size]byte, error) {
	in, err := decodeSaved(b)
	if err != nil {
		return nil, err
	}
	var out [][sha256.Size]byte
	for i := range in.Inodes {
		out = append(out, in.Inodes[i].Blocks...)
	}
	return out, nil
}

func decodeSaved(b []byte) (*saved, error) {
	var in saved
	if err := task.Decode(b, &in); err != nil {
		return nil, fmt.Errorf("reading a saved state: %w", err)
	}
	if in.Version != savedVersion {
		return nil, fmt.Errorf("a saved state of version %d, this program reads version %d", in.Version, savedVersion)
	}
	return &in, nil
}
