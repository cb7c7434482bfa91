package proof

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"godwit/blocks/seal"
	"godwit/task"
)

// The names of a state in a file: its manifest, and its pages, as their worker stored them. So a page
// of a sealed job is sealed here, too, and named by what only the key makes of its hash.
const (
	statePrefix  = "state/"
	manifestName = "manifest"
)

const (
	// maxManifest bounds the manifest of a state, in bytes: package sandbox/freeze makes none that is larger.
	maxManifest = 64 << 20
	// maxStates bounds the pages of a state: as many as the memory of a task can have.
	maxStates = 1 << 16
	// maxPage bounds a page as it is stored, in bytes: 64 KiB, compressed and sealed.
	maxPage = 1 << 17
)

// addState writes the state that a part begins with, if it begins with one.
func addState(ctx context.Context, z *zip.Writer, root task.CID, from Source) error {
	if root == "" {
		return nil
	}
	tree, err := from.Tree(ctx, root)
	switch {
	case err != nil:
		return fmt.Errorf("the state before the part: %w", err)
	case tree[manifestName] == "" || len(tree) > maxStates+1:
		return fmt.Errorf("%s is no state: it has %d entries", root, len(tree))
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if err := add(ctx, z, statePrefix+name, from, tree[name]); err != nil {
			return fmt.Errorf("the state before the part: %w", err)
		}
	}
	return nil
}

// A state is what a part begins with, in a file that may be hostile: pages are read as they are wanted,
// and whoever wants one checks its hash.
type state struct {
	manifest []byte
	z        *zip.Reader
	sealer   *seal.Sealer
}

// readState reads the state of which the worker signed the hash.
func readState(z *zip.Reader, sealer *seal.Sealer, signed []byte) (*state, error) {
	kept, err := readEntry(z, statePrefix+manifestName, sealer.Size(maxManifest))
	if err != nil {
		return nil, err
	}
	s := &state{z: z, sealer: sealer}
	if s.manifest, err = sealer.OpenFile(kept); err != nil {
		return nil, fmt.Errorf("opening the state before the part: %w", err)
	}
	if h := sha256.Sum256(s.manifest); !bytes.Equal(h[:], signed) {
		return nil, errors.New("the state before the part is not the one that its worker signed")
	}
	return s, nil
}

// Has implements sandbox.Store: nothing more is wanted.
func (s *state) Has([sha256.Size]byte) bool { return true }

// Put implements sandbox.Store: it keeps nothing.
func (s *state) Put([sha256.Size]byte, []byte) error { return nil }

// Get implements sandbox.Store.
func (s *state) Get(h [sha256.Size]byte) ([]byte, error) {
	kept, err := readEntry(s.z, statePrefix+s.sealer.Name(h), maxPage)
	if err != nil {
		return nil, err
	}
	return s.sealer.Open(kept)
}

// readEntry reads an entry of at most so many bytes.
func readEntry(z *zip.Reader, name string, most int64) ([]byte, error) {
	r, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s is missing", name)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case int64(len(b)) > most:
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return b, nil
}
