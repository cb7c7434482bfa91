package sandbox

import (
	"crypto/sha256"
	"errors"
)

// Unkept is a Store for the pages of a state of which the hash alone is wanted.
type Unkept struct {
	From Store // of the state that the task goes on from; nil where it begins
}

// Has implements Store: it wants nothing more.
func (Unkept) Has([sha256.Size]byte) bool { return true }

// Put implements Store: it keeps nothing.
func (Unkept) Put([sha256.Size]byte, []byte) error { return nil }

// Get implements Store.
func (u Unkept) Get(h [sha256.Size]byte) ([]byte, error) {
	if u.From == nil {
		return nil, errors.New("pages of that state are not kept")
	}
	return u.From.Get(h)
}
