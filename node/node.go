package node

import "errors"

// Errors of a node as a whole.
var (
	// ErrStopped is returned by calls on a node that has stopped.
	ErrStopped = errors.New("node: stopped")
	// ErrInUse is returned by New where another node uses the data directory.
	ErrInUse = errors.New("node: the data directory is in use")
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
