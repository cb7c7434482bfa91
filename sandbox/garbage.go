package sandbox

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// collectAfter is how many bytes of garbage a child lets lie before it collects between two tasks: some hundred tasks
// that do nothing, and no more than what a processor keeps near it.
const collectAfter = 8 << 20

// A garbage says when that of a child is collected. A collection during a run may have to wait for the guest's next
// call, so there is none before memory is short; and to turn collections off and on again for each task stops all
// goroutines twice. So they are off from the first run to the next module, and the child collects between two tasks,
// once there is enough. The zero value is of a child whose collections are on.
type garbage struct {
	lies     bool // collections are off
	standard int  // what they are when they are on, as debug.SetGCPercent has it
	live     uint64
}

// letLie turns collections off, or on again.
func (g *garbage) letLie(on bool) {
	switch {
	case on == g.lies:
	case on:
		g.standard = debug.SetGCPercent(-1)
	default:
		debug.SetGCPercent(g.standard)
	}
	g.lies = on
}

// collect frees what lies, once that is more than so many bytes, and as much as what was live after the last time.
func (g *garbage) collect(after uint64) {
	if !g.lies || heapBytes() <= after+2*g.live {
		return
	}
	runtime.GC()
	g.live = heapBytes()
}

// heapBytes is how much the heap has in use, garbage included.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
