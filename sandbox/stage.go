package sandbox

import "crypto/sha256"

// A Stage is a part of the state that a task is to go on from. The task's
// process takes it in before the task goes on, so that the last stage has only
// what changed: a task moves from machine to machine while it runs, and stands
// still for the last stage alone.
//
// A stage has either Ahead or a Manifest. When Stages is closed before the last
// stage, Run reports Interrupted and no error, with nothing in Frozen.
type Stage struct {
	// Manifest is a checkpoint of the task, all of whose blocks Task.Pages has.
	// Those that the process lacks are put into its memory.
	Manifest []byte
	// Last says that the task goes on from Manifest.
	Last bool
	// Ahead are pages that a manifest to come will probably name: they need not
	// be in Task.Pages yet.
	Ahead []Block
}

// A Block is one page of a task's memory, of 64 KiB.
type Block struct {
	Page uint32            // number of the page: its address / 64 KiB
	Hash [sha256.Size]byte // of the page's content
	Data []byte            // the block of a Store: the content compressed
}
