package freeze

import (
	"slices"

	"godwit/sandbox/wasm"
)

// save writes the code that leaves a frame and returns. The number of the point is on the stack. What lies highest is
// stored first: an engine that has checked that place against the memory's size checks no other.
func (e *emitter) save(pt *point) {
	for _, s := range pt.saved {
		switch s.typ {
		case wasm.FuncRef:
			e.localOp(wasm.OpLocalGet, s.local)
			e.call(helperPushRef)
		case wasm.ExternRef:
			e.localOp(wasm.OpLocalGet, s.local)
			e.call(helperPushExt)
		}
	}
	for _, s := range slices.Backward(pt.saved) {
		if s.typ == wasm.FuncRef || s.typ == wasm.ExternRef {
			continue
		}
		e.getOwn(globalSP)
		e.localOp(wasm.OpLocalGet, s.local)
		e.canonical(s.canon)
		_, store, align := memOps(s.typ)
		e.access(store, align, s.offset)
	}
	e.i32(pt.size)
	e.call(helperFrame)
	for _, t := range e.f.typ.Results {
		e.zero(t)
	}
	e.op(wasm.OpReturn)
}

// restore writes the code that takes a point's frame: the reverse of save. It leaves the number of the
// next resume function in a local.
func (e *emitter) restore(point int32) {
	pt := &e.f.points[point]
	frame := e.f.local(scratchFrame, wasm.I32)
	e.getOwn(globalSP)
	e.op(wasm.OpI32Eqz)
	e.open(wasm.OpIf, wasm.BlockVoid)
	e.call(helperYield) // the region holds no more frames: the host brings the next ones
	e.end()
	e.getOwn(globalSP)
	e.i32(pt.size + trailerSize)
	e.op(wasm.OpI32Sub)
	e.localOp(wasm.OpLocalTee, frame)
	e.setOwn(globalSP)
	for k := len(pt.saved) - 1; k >= 0; k-- {
		s := pt.saved[k]
		switch s.typ {
		case wasm.FuncRef:
			e.call(helperPopRef)
		case wasm.ExternRef:
			e.call(helperPopExt)
		default:
			e.localOp(wasm.OpLocalGet, frame)
			load, _, align := memOps(s.typ)
			e.access(load, align, s.offset)
		}
		e.localOp(wasm.OpLocalSet, s.local)
	}
	if pt.kind == pointCall {
		e.localOp(wasm.OpLocalGet, frame)
		e.access(wasm.OpI32Load, 2, pt.size+4)
		e.localOp(wasm.OpLocalSet, e.f.local(scratchNext, wasm.I32))
	}
}

// charge writes the subtraction of fuel, leaving what is left on the stack if want is set.
func (e *emitter) charge(cost uint64, want bool) {
	e.getFuel()
	e.i64(cost)
	e.op(wasm.OpI64Sub)
	e.setFuel(want)
}

// poll writes a safe point's charge and, if the fuel is used up, the call of the host.
func (e *emitter) poll(cost uint64, point int32) {
	e.charge(cost, true)
	e.i64(0)
	e.op(wasm.OpI64LtS)
	e.open(wasm.OpIf, wasm.BlockVoid)
	e.call(helperYield)
	e.checkUnwind(point)
	e.readFuel()
	e.end()
}
