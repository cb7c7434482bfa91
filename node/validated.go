package node

import (
	"slices"
	"sync"

	"godwit/task"
)

// maxValidated is how many modules are remembered: more than a node has jobs of at
// a time, and a few KiB.
const maxValidated = 64

// validated remembers the modules that were found valid here, since jobs of one
// module come one after the other and validation takes 2 s of processor time for
// the largest. It is safe for any goroutine; the zero value remembers none.
type validated struct {
	mu      sync.Mutex
	modules []task.CID // the latest last
}

func (v *validated) has(c task.CID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Contains(v.modules, c)
}

func (v *validated) add(c task.CID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(v.modules, c) {
		return
	}
	if len(v.modules) == maxValidated {
		v.modules = slices.Delete(v.modules, 0, 1)
	}
	v.modules = append(v.modules, c)
}
