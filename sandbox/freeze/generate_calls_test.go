package freeze_test

import "godwit/sandbox/wasm"

// mayCall says whether the function being written may call another: those that take no step only from before them.
func (g *generator) mayCall(f int) bool { return g.funcs[f].guarded || f > g.f && g.f < len(g.funcs) }

// call writes a call, perhaps through the table.
func (g *generator) call(f int) {
	fn := g.funcs[f]
	g.want(fn.typ.Params...)
	if fn.guarded && g.choice(2) == 0 {
		if g.one(30) {
			g.i32(uint32(g.choice(1000))) // mostly a trap
		} else {
			g.expr(wasm.I32)
			g.pop(1)
			g.i32(genPlaces - 1)
			g.op(0x71) // i32.and
			g.i32(uint32(genPlaces * f))
			g.op(wasm.OpI32Add)
		}
		g.op(wasm.OpCallIndirect, fn.index, 0)
	} else {
		g.op(wasm.OpCall, g.index(f))
	}
	g.pop(len(fn.typ.Params))
	g.push(fn.typ.Results...)
}

// hostCall writes a call of a host function.
func (g *generator) hostCall(k int) {
	if k >= len(g.m.Imports) {
		return
	}
	t := genHostTypes[k]
	g.want(t.Params...)
	g.pop(len(t.Params))
	if k == genFail {
		g.i32(63)
		g.op(0x71) // i32.and: rarely what it fails for
	}
	g.op(wasm.OpCall, uint32(k))
	g.push(t.Results...)
}

// bulk writes a bulk memory instruction, or one that changes the memory's size.
func (g *generator) bulk() {
	if !g.memory {
		return
	}
	switch g.choice(6) {
	case 0:
		g.address()
		g.expr(wasm.I32)
		g.i32(uint32(g.choice(40)))
		g.op(wasm.OpMemoryFill, 0)
		g.pop(2)
	case 1:
		g.address()
		g.address2()
		g.i32(uint32(g.choice(40)))
		g.op(wasm.OpMemoryCopy, 0, 0)
		g.pop(2)
	case 2:
		g.address()
		g.i32(uint32(g.choice(30)))
		g.i32(uint32(g.choice(10)))
		g.op(wasm.OpMemoryInit, 0, 0)
		g.pop(1)
	case 3:
		if g.one(4) {
			g.op(wasm.OpDataDrop, 0)
		}
	case 4:
		g.i32(uint32(g.choice(2)))
		g.op(wasm.OpMemoryGrow, 0)
		g.push(wasm.I32)
	case 5:
		g.op(wasm.OpMemorySize, 0)
		g.push(wasm.I32)
	}
}

// address2 writes a second address, above the first.
func (g *generator) address2() {
	g.expr(wasm.I32)
	g.i32(genMemory - 1)
	g.op(0x71)
}

// table writes an instruction on table 1.
func (g *generator) table() {
	place := func(n int) { g.i32(uint32(g.choice(n))) }
	if g.choice(3) == 0 { // call what stands there
		g.expr(wasm.I32)
		g.pop(1)
		g.i32(genNames - 1)
		g.op(0x71)
		g.callName()
		g.push(wasm.I32)
		return
	}
	kind := g.choice(8)
	if g.narrow {
		kind %= 3
	}
	switch kind {
	case 0:
		place(genNames)
		g.op(wasm.OpRefFunc, g.nameIndex())
		g.op(wasm.OpTableSet, 1)
	case 1:
		place(genNames)
		g.op(wasm.OpRefNull)
		g.out = append(g.out, byte(wasm.FuncRef))
		g.op(wasm.OpTableSet, 1)
	case 2:
		g.op(wasm.OpRefFunc, g.nameIndex())
		place(3)
		g.op(wasm.OpTableGrow, 1)
		g.push(wasm.I32)
	case 3:
		place(genNames)
		g.op(wasm.OpRefFunc, g.nameIndex())
		place(2)
		g.op(wasm.OpTableFill, 1)
	case 4:
		place(genNames / 2)
		place(genNames / 2)
		place(genNames / 2)
		g.op(wasm.OpTableCopy, 1, 1)
	case 5:
		place(genNames / 2)
		place(2)
		place(3)
		g.op(wasm.OpTableInit, 2, 1)
	case 6:
		if g.one(4) {
			g.op(wasm.OpElemDrop, 2)
		}
	case 7:
		if g.refs {
			place(genNames)
			g.expr(wasm.FuncRef)
			g.pop(1)
			g.op(wasm.OpTableSet, 1)
		}
	}
}
