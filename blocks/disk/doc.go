// Package disk is what blocks and a node's own state are kept in: a datastore of
// two databases, on a disk that may fill up, fail or lie.
//
// [Open] opens it. It outlives a disk that fills up, and says when what is on it is
// damaged or it failed: see [ErrFull], [ErrCorrupt], [ErrBroken] and [Check].
package disk
