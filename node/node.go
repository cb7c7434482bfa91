package node

import (
	"errors"

	"godwit/blocks/disk"
	"godwit/p2p"
)

// Errors of a node as a whole.
var (
	// ErrStopped is returned by calls on a node that has stopped.
	ErrStopped = errors.New("node: stopped")
	// ErrInUse is returned by New where another node uses the data directory.
	ErrInUse = errors.New("node: the data directory is in use")
	// ErrDamaged is wrapped by errors of New for a file of the data directory that is damaged and
	// that no other file or node can replace. The error names the file.
	ErrDamaged = errors.New("the file is damaged")
	// ErrIdentity is wrapped by errors of New for a damaged file of the node's key.
	ErrIdentity = p2p.ErrKeyDamaged
	// ErrStoreDamaged is wrapped by errors of New and Run for a damaged store. The next New recovers
	// what is readable.
	ErrStoreDamaged = disk.ErrCorrupt
	// ErrDiskFull is wrapped by errors of New if the disk has no space for the node to start.
	ErrDiskFull = disk.ErrFull
)

// A Node is one peer of the swarm. Make it with New, then call Run once. Its
// other methods may be called from any goroutine while Run runs. It is the sum of
// its parts, each of which owns what it works with and knows only those before it.
type Node struct {
	*driver
	*past
	*lending
	*overlays
	*ranking
	*queries
	*submissions
	*seer
	keeper   *keeper
	lists    *bootLists
	proofs   *proofs
	tallies  *tallies
	thankful *thankful
	walled   wallsLookedAt

	speed float64 // of a core, relative to the reference core; 0 not yet measured; the loop's
}
