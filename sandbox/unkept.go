package sandbox

import (
	"crypto/sha256"
	"errors"
)

// Unkept is a Store for the pages of a state of which the hash alone is wanted.
type Unkept struct{}

// Has implements Store: it has nothing.
func (Unkept) Has([sha256.Size]byte) bool { return false }

// Put implements Store: it keeps nothing.
func (Unkept) Put([sha256.Size]byte, []byte) error { return nil }

// Get implements Store: nothing can be had again.
func (Unkept) Get([sha256.Size]byte) ([]byte, error) {
	return nil, errors.New("pages of that state are not kept")
}
