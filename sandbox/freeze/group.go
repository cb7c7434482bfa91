package freeze

import "godwit/sandbox/wasm"

// Stores of dirty floats that follow each other, with nothing between them but instructions that neither trap nor touch
// memory or globals, wait for the last of them. One test then serves all: their sum is a NaN if one of them is. (It is
// one too for infinities of both signs, which costs time alone.) Nothing can see that a store waited, since nothing
// looks at memory before the last, and what traps does so in the same order.

// maxGroup bounds the stores of a group: their places and values are kept in locals.
const maxGroup = 8

// member is a store's part in a group.
type member struct {
	nth  int32 // which of the group's stores it is
	last bool  // those before it are done with it
}

// groupStores finds the stores of dirty floats and their groups.
func (f *function) groupStores() {
	w := &f.flows
	dirty := map[int32]bool{}
	for _, s := range w.stores {
		p := &f.ins[s.from]
		if o, ok := w.origins[s.from]; p.canon == noShape && (ok && o.kind == result || w.held(s.from) != noShape) {
			dirty[s.at] = true
		}
	}
	if len(dirty) == 0 {
		return
	}
	f.groups = make(map[int32]member, len(dirty))
	n, last := int32(0), int32(-1)
	for at := range f.ins {
		i := &f.ins[at]
		at := int32(at)
		switch {
		case dirty[at]:
			if n == maxGroup || n > 0 && f.ins[last].op != i.op {
				n = f.closeGroup(last)
			}
			f.groups[at] = member{nth: n}
			n, last = n+1, at
		case n > 0 && !quietly(i.op):
			n = f.closeGroup(last)
		}
	}
	if n > 0 {
		f.closeGroup(last)
	}
}

// closeGroup ends a group with its last store, and gives the size of the next so far.
func (f *function) closeGroup(last int32) int32 {
	f.groups[last] = member{f.groups[last].nth, true}
	return 0
}

// quietly reports whether an instruction leaves memory, globals and tables alone and cannot trap.
func quietly(op wasm.Opcode) bool {
	switch op {
	case wasm.OpNop, wasm.OpDrop, wasm.OpSelect, wasm.OpSelectT, wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee,
		wasm.OpGlobalGet, wasm.OpI32Const, wasm.OpI64Const, wasm.OpF32Const, wasm.OpF64Const:
		return true
	}
	return op >= 0x45 && op <= 0x6a || // tests and comparisons, counting bits, i32.add
		op >= 0x6b && op <= 0x6c || op >= 0x71 && op <= 0x7e || // the rest of integers but division
		op >= 0x83 && op <= 0xa7 || // to the end of float arithmetic, wrap
		op >= 0xac && op <= 0xad || op >= 0xb2 && op <= 0xc4 || // conversions that do not trap
		op >= 0xfc00 && op <= 0xfc07
}

// storeInGroup writes a store of a dirty float, whose operands are on the stack; all of its group with the last.
func (e *emitter) storeInGroup(at int32, m member) {
	i := &e.f.ins[at]
	s := shapeF32
	if i.op == wasm.OpF64Store {
		s = shapeF64
	}
	if m.nth == 0 && m.last {
		e.canonical(s)
		e.copyIns(i)
		return
	}
	value := func(k int32) uint32 { return e.f.local(scratchStores-k, s.valType()) }
	place := func(k int32) uint32 { return e.f.local(scratchStores-k, wasm.I32) }
	e.localOp(wasm.OpLocalSet, value(m.nth))
	e.localOp(wasm.OpLocalSet, place(m.nth))
	e.waiting = append(e.waiting, at)
	if !m.last {
		return
	}
	e.open(wasm.OpBlock, wasm.BlockVoid)
	for k := range m.nth + 1 {
		e.localOp(wasm.OpLocalGet, value(k))
		if k > 0 {
			e.op(map[shape]wasm.Opcode{shapeF32: opF32Add, shapeF64: opF64Add}[s])
		}
	}
	sum := e.f.local(scratchNaN, s.valType())
	e.localOp(wasm.OpLocalSet, sum)
	e.isNumber(s, sum)
	e.opIndex(wasm.OpBrIf, 0)
	for k := range m.nth + 1 {
		e.canonLocal(s, value(k))
	}
	e.end()
	for k, at := range e.waiting {
		e.localOp(wasm.OpLocalGet, place(int32(k)))
		e.localOp(wasm.OpLocalGet, value(int32(k)))
		e.copyIns(&e.f.ins[at])
	}
	e.waiting = e.waiting[:0]
}

const (
	opF32Add wasm.Opcode = 0x92
	opF64Add wasm.Opcode = 0xa0
)
