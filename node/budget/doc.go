// Package budget keeps what a node has on disk within what its owner lends: one count
// that the blocks, the files of jobs that are ready and the compiled modules share. Bytes
// are reserved before they are written; what does not fit is refused with the reason.
//
// Compiled modules give room at once, for they can be made again (dir.go). Blocks that
// nothing needs give room too, which takes longer and is the node's to begin.
package budget
