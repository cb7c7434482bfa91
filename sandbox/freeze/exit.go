package freeze

import (
	"encoding/binary"

	"godwit/sandbox/wasm"
)

// Behind a call, the guest must only see that nothing was frozen: one test, and a branch that is not taken. What leaves
// the frame stands at the function's end, where it is in nobody's way. Points whose frames hold the same share it. (All
// points of a function shared one layout once, with room for what any of them saves. It kept alive at each point
// what is
// dead there: QuickJS took twice as long, Lua and SQLite 1.2 times.)

// exit is code that leaves a frame, for all points whose frames have this layout.
type exit struct {
	first  int32 // of its points
	points int
}

// layFrames decides where each point's frame keeps what, and which points share the code that leaves it.
func (f *function) layFrames() error {
	total := 0
	for k := range f.points {
		pt := &f.points[k]
		if pt.kind == pointEntry { // the other locals are still zero
			for len(pt.live) > 0 && pt.live[len(pt.live)-1] >= uint32(len(f.typ.Params)) {
				pt.live = pt.live[:len(pt.live)-1]
			}
		}
		for h, t := range pt.below {
			f.local(int32(h), t)
		}
		if total += len(pt.live) + len(pt.below); total > maxSaved {
			return f.refuse(f.code.Offset, "its safe points have more than %d values to save", maxSaved)
		}
	}
	byContent := map[string]int32{}
	for k := range f.points {
		pt := &f.points[k]
		pt.saved = pt.saved[:0]
		for _, x := range pt.live {
			pt.add(x, f.locals[x], f.flows.atPoint(k, x))
		}
		for h, t := range pt.below {
			pt.add(f.local(int32(h), t), t, noShape)
		}
		f.p.sizeFrame(pt)
		f.joinExit(byContent, int32(k))
	}
	return nil
}

// joinExit has a point leave its frame where others with the same contents do.
func (f *function) joinExit(byContent map[string]int32, k int32) {
	pt := &f.points[k]
	var content []byte
	for _, s := range pt.saved {
		content = append(binary.LittleEndian.AppendUint32(content, s.local), byte(s.canon))
	}
	x, ok := byContent[string(content)]
	if !ok {
		x = int32(len(f.exits))
		byContent[string(content)] = x
		f.exits = append(f.exits, exit{first: k})
	}
	pt.exit = x
	f.exits[x].points++
}

// checkUnwind writes the test after a call that may unwind: if it did, leave the point's frame and return.
func (e *emitter) checkUnwind(point int32) {
	x := e.f.points[point].exit
	if e.f.exits[x].points > 1 {
		e.i32(e.number(point))
	}
	e.getOwn(globalState)
	e.opIndex(wasm.OpBrIf, uint32(e.depth-2-x))
	if e.f.exits[x].points > 1 {
		e.op(wasm.OpDrop)
	}
}

// number is a safe point's number in the module.
func (e *emitter) number(point int32) uint32 {
	return e.f.p.Funcs[e.f.index-e.f.p.imported].FirstPoint + uint32(point)
}

// openExits opens the blocks behind which the exits stand, the first outermost.
func (e *emitter) openExits() {
	for _, x := range e.f.exits {
		bt := wasm.BlockVoid
		if x.points > 1 {
			bt = -int32(wasm.I32)
		}
		e.open(wasm.OpBlock, bt)
	}
}

// closeExits ends the function's code and writes the exits after it.
func (e *emitter) closeExits() {
	if len(e.f.exits) > 0 {
		e.op(wasm.OpReturn)
	}
	for k := len(e.f.exits) - 1; k >= 0; k-- {
		x := e.f.exits[k]
		e.end()
		if x.points == 1 {
			e.i32(e.number(x.first))
		}
		e.save(&e.f.points[x.first])
	}
	e.end()
}
