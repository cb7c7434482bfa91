package freeze

import "godwit/sandbox/wasm"

// A quiet loop makes no calls, so that nobody else touches the fuel while it runs. There the count is kept in a
// local as
// well as in its global, and read from the local: a turn waits neither for a load nor for the store of the turn before.

// findQuiet marks the loops without calls in them.
func (f *function) findQuiet() {
	var open []*loop // of the constructs around; nil for those that are no loops
	for at := range f.ins {
		switch f.ins[at].op {
		case wasm.OpBlock, wasm.OpIf:
			open = append(open, nil)
		case wasm.OpLoop:
			l := f.loops[int32(at)]
			l.quiet = true
			open = append(open, l)
		case wasm.OpEnd:
			n := len(open) - 1
			if n < 0 {
				return
			}
			l := open[n]
			open = open[:n]
			if l != nil && !l.quiet {
				disquiet(open)
			}
		case wasm.OpCall, wasm.OpCallIndirect:
			disquiet(open)
		}
	}
}

// disquiet marks the innermost loop as one with calls. Those around it learn of it at its end.
func disquiet(open []*loop) {
	for k := len(open) - 1; k >= 0; k-- {
		if open[k] != nil {
			open[k].quiet = false
			return
		}
	}
}

// readFuel brings the local up to date in a quiet loop.
func (e *emitter) readFuel() {
	if e.quiet > 0 {
		e.getOwn(globalFuel)
		e.localOp(wasm.OpLocalSet, e.f.local(scratchFuel, wasm.I64))
	}
}

// getFuel pushes what is left.
func (e *emitter) getFuel() {
	if e.quiet > 0 {
		e.localOp(wasm.OpLocalGet, e.f.local(scratchFuel, wasm.I64))
		return
	}
	e.getOwn(globalFuel)
}

// setFuel sets what is left from the stack, and pushes it again if want is set.
func (e *emitter) setFuel(want bool) {
	x := e.f.local(scratchFuel, wasm.I64)
	if want || e.quiet > 0 {
		e.localOp(wasm.OpLocalTee, x)
	}
	e.setOwn(globalFuel)
	if want {
		e.localOp(wasm.OpLocalGet, x)
	}
}
