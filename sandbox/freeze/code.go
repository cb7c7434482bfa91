package freeze

import "godwit/sandbox/wasm"

// newEmitter prepares an emitter for a whole function, whose own label is the outermost.
func newEmitter(f *function, v env) *emitter {
	return &emitter{f: f, env: v, out: make([]byte, 0, len(f.code.Body)*5/4+16), labels: []int32{0},
		openers: []int32{-1}, depth: 1}
}

// finish gives the body with its locals.
func (e *emitter) finish(locals []wasm.LocalDecl) wasm.Code {
	out := append([]wasm.LocalDecl(nil), locals...)
	for _, t := range e.f.tempAt {
		if n := len(out); n > len(locals) && out[n-1].Type == t {
			out[n-1].Count++
		} else {
			out = append(out, wasm.LocalDecl{Count: 1, Type: t})
		}
	}
	return wasm.Code{Locals: out, Body: e.out}
}

// whole writes the instrumented function.
func (e *emitter) whole() wasm.Code {
	e.openExits()
	switch plan := &e.f.p.Funcs[e.f.index-e.f.p.imported]; {
	case plan.EntryPoll:
		e.poll(uint64(plan.Cost), 0)
	case plan.Pays:
		e.charge(uint64(plan.Cost), false)
	}
	e.span(0, int32(len(e.f.ins))-1)
	e.closeExits()
	return e.finish(e.f.code.Locals)
}

// span writes the instructions from one index up to another, which lie in one construct.
func (e *emitter) span(from, to int32) {
	for at := from; at < to; at++ {
		e.instr(at)
	}
}

func (e *emitter) enter(at int32) {
	e.labels = append(e.labels, e.depth-1)
	e.openers = append(e.openers, at)
}

func (e *emitter) leave() {
	e.labels = e.labels[:len(e.labels)-1]
	e.openers = e.openers[:len(e.openers)-1]
}

func (e *emitter) blockType(bt int32) int32 {
	if bt < 0 {
		return bt
	}
	return int32(e.env.typeIndex(uint32(bt)))
}

// instr writes one instruction with what the pass adds to it.
func (e *emitter) instr(at int32) {
	i := &e.f.ins[at]
	switch i.op {
	case wasm.OpBlock, wasm.OpIf:
		e.open(i.op, e.blockType(i.block))
		e.enter(at)
		e.chargeAfter(at)
		return
	case wasm.OpLoop:
		l := e.f.loops[at]
		if e.f.outside(at) {
			e.openLoop(at)
			return
		}
		e.open(i.op, e.blockType(i.block))
		e.enter(at)
		e.after(at)
		e.poll(l.cost, l.point)
		return
	case wasm.OpEnd:
		e.end()
		e.leave()
		if o := i.match; o >= 0 && e.f.ins[o].op == wasm.OpLoop && e.f.outside(o) {
			e.closeLoop(o)
		}
	case wasm.OpBr, wasm.OpBrIf:
		e.jump(at)
	case wasm.OpBrTable:
		e.opIndex(i.op, i.a-1)
		for _, l := range e.f.labels[i.els : i.els+int32(i.a)] {
			e.out = wasm.AppendUnsigned(e.out, uint64(e.branch(l)))
		}
	case wasm.OpCall:
		e.opIndex(i.op, e.env.funcIndex(i.a))
		if i.point >= 0 {
			e.checkUnwind(i.point)
		}
	case wasm.OpCallIndirect:
		e.opIndex(i.op, e.env.typeIndex(i.a))
		e.out = wasm.AppendUnsigned(e.out, uint64(e.env.tableIndex(i.b)))
		if i.point >= 0 {
			e.checkUnwind(i.point)
		}
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		e.opIndex(i.op, e.env.globalIndex(i.a))
	case wasm.OpSelect, wasm.OpSelectT:
		if !e.choose(i.typ) {
			e.copyIns(i)
		}
	default:
		if !e.memoryOrTable(at) && !e.remainder(at) {
			e.copyIns(i)
		}
	}
	e.after(at)
}

// copyIns writes an instruction as it was.
func (e *emitter) copyIns(i *ins) { e.out = append(e.out, e.f.code.Body[i.start:i.end]...) }

// jump writes a br or br_if, with the charge if it leads back to a loop that charges there.
func (e *emitter) jump(at int32) {
	i := &e.f.ins[at]
	place := len(e.openers) - 1 - int(i.a)
	opener := e.openers[place]
	var l *loop
	if opener >= 0 && e.f.ins[opener].op == wasm.OpLoop {
		l = e.f.loops[opener]
	}
	if l == nil || l.atHead {
		e.opIndex(i.op, e.branch(i.a))
		return
	}
	cost := l.cost
	if c, ok := e.f.jumps[at]; ok {
		if cost = c; cost == 0 {
			e.opIndex(i.op, e.branch(i.a))
			return
		}
	}
	if i.op == wasm.OpBrIf {
		e.open(wasm.OpIf, wasm.BlockVoid)
	}
	switch {
	case l.dispatches:
		e.charge(cost, false)
	case place < e.resumed: // the rest of a turn: the loop is yet to be opened
		e.poll(cost, l.point)
	default:
		e.charge(cost, true)
		e.i64(0)
		e.op(wasm.OpI64LtS)
		e.opIndex(wasm.OpBrIf, e.branch(i.a)+1)
	}
	e.opIndex(wasm.OpBr, e.branch(i.a))
	if i.op == wasm.OpBrIf {
		e.end()
	}
}

// outside reports whether a loop's call of the host stands outside of it. One with parameters would want them again.
func (f *function) outside(loop int32) bool { return len(f.blockType(loop).Params) == 0 }

// openLoop opens a loop in constructs for its yield. The call stands outside of the loop, so that engines do not expect
// what a call may change (the memory's place, globals) to change in it:
//
//	block done; loop again; block yield; loop ... br_if yield ... end; br done; end; call yield; br again; end; end
func (e *emitter) openLoop(at int32) {
	i := &e.f.ins[at]
	l := e.f.loops[at]
	e.open(wasm.OpBlock, e.results(e.f.blockType(at).Results))
	if l.quiet {
		if e.quiet++; e.quiet == 1 {
			e.readFuel()
		}
	}
	e.open(wasm.OpLoop, wasm.BlockVoid)
	e.open(wasm.OpBlock, wasm.BlockVoid)
	e.open(wasm.OpLoop, e.blockType(i.block))
	e.enter(at)
	switch {
	case l.atHead:
		e.charge(l.cost, true)
	case l.dispatches:
		e.getFuel()
	default:
		return
	}
	e.i64(0)
	e.op(wasm.OpI64LtS)
	e.opIndex(wasm.OpBrIf, 1)
}

// closeLoop closes what openLoop opened around the loop.
func (e *emitter) closeLoop(at int32) {
	l := e.f.loops[at]
	e.opIndex(wasm.OpBr, 2)
	e.end()
	e.call(helperYield)
	e.checkUnwind(l.point)
	e.readFuel()
	if l.atHead {
		e.refund(l.cost)
	}
	e.opIndex(wasm.OpBr, 0)
	e.end()
	e.op(wasm.OpUnreachable)
	e.end()
	if l.quiet {
		e.quiet--
	}
}

// refund gives back what the head of a loop charged, since it will charge it again.
func (e *emitter) refund(cost uint64) {
	e.getFuel()
	e.i64(cost)
	e.op(wasm.OpI64Add)
	e.setFuel(false)
}

// chargeAfter charges what is charged behind an instruction.
func (e *emitter) chargeAfter(at int32) {
	if c, ok := e.f.charges[at]; ok {
		e.charge(c, false)
	}
}

// after writes what the pass adds behind an instruction.
func (e *emitter) after(at int32) {
	e.keep(at)
	e.chargeAfter(at)
}

// keep canonicalises an instruction's result and keeps results in temporaries where that was asked for.
func (e *emitter) keep(at int32) {
	i := &e.f.ins[at]
	e.canonical(i.canon)
	if i.spill < 0 {
		return
	}
	ts := []wasm.ValType{i.typ}
	h := i.height
	switch i.op {
	case wasm.OpCall:
		ts = e.f.p.mod.Types[e.f.p.funcTypes[i.a]].Results
	case wasm.OpCallIndirect:
		ts = e.f.p.mod.Types[i.a].Results
	case wasm.OpEnd:
		ts = e.f.blockType(i.match).Results
	case wasm.OpLoop:
		ts = e.f.blockType(at).Params
	}
	k := int(i.spill)
	if k == len(ts)-1 {
		e.localOp(wasm.OpLocalTee, e.f.local(h+int32(k), ts[k]))
		return
	}
	for n := len(ts) - 1; n >= k; n-- {
		e.localOp(wasm.OpLocalSet, e.f.local(h+int32(n), ts[n]))
	}
	for n := k; n < len(ts); n++ {
		e.localOp(wasm.OpLocalGet, e.f.local(h+int32(n), ts[n]))
	}
}

func (f *function) blockType(opener int32) wasm.FuncType {
	t, _ := f.p.mod.BlockType(f.ins[opener].block) // read checked it
	return t
}

// memoryOrTable writes the instructions on memories, tables, references and segments that the pass changes.
func (e *emitter) memoryOrTable(at int32) bool {
	i := &e.f.ins[at]
	switch i.op {
	case wasm.OpF32Store, wasm.OpF64Store:
		m, ok := e.f.groups[at]
		if ok {
			e.storeInGroup(at, m)
		}
		return ok
	case wasm.OpMemoryCopy, wasm.OpMemoryFill:
		e.chargeLength()
		return false
	case wasm.OpMemoryInit:
		e.memoryInit(i.a)
	case wasm.OpDataDrop:
		if e.f.p.dropsData(i.a) {
			e.i32(0)
			e.opIndex(wasm.OpGlobalSet, e.env.dropped(dropKey{false, i.a}))
		}
	case wasm.OpElemDrop:
		if e.f.p.uses.elemUsed[i.a] {
			e.i32(0)
			e.opIndex(wasm.OpGlobalSet, e.env.dropped(dropKey{true, i.a}))
		}
	case wasm.OpTableInit:
		e.tableInit(i.a, i.b)
	case wasm.OpRefFunc:
		// Engines make a new reference each time; the table holds one that can be told again.
		e.i32(e.f.p.rank[i.a])
		e.opIndex(wasm.OpTableGet, e.env.ownTable(tableFuncs))
	case wasm.OpTableGet, wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableSize, wasm.OpTableFill:
		e.opIndex(i.op, e.env.tableIndex(i.a))
	case wasm.OpTableCopy:
		e.opIndex(i.op, e.env.tableIndex(i.a))
		e.out = wasm.AppendUnsigned(e.out, uint64(e.env.tableIndex(i.b)))
	default:
		return false
	}
	return true
}

// bulkShift turns a length in bytes into fuel.
const bulkShift = 4

// chargeLength charges for the length in bytes on top of the stack.
func (e *emitter) chargeLength() {
	n := e.f.local(scratchLen, wasm.I32)
	e.localOp(wasm.OpLocalTee, n)
	e.getFuel()
	e.localOp(wasm.OpLocalGet, n)
	e.op(wasm.OpI64ExtendI32U)
	e.i64(bulkShift)
	e.op(wasm.OpI64ShrU)
	e.op(wasm.OpI64Sub)
	e.setFuel(false)
}

func (p *plan) dropsData(segment uint32) bool {
	return p.uses.dataDropped[segment] && p.uses.dataUsed[segment]
}

// clamp takes a segment offset and a length from the stack into locals, and leaves on it the value that put
// writes, or -1, which traps, if they reach beyond the global with the length that is left.
func (e *emitter) clamp(left uint32, put func(from uint32)) (length uint32) {
	n, from := e.f.local(scratchLen, wasm.I32), e.f.local(scratchFrom, wasm.I32)
	e.localOp(wasm.OpLocalSet, n)
	e.localOp(wasm.OpLocalSet, from)
	e.i32(^uint32(0))
	put(from)
	e.localOp(wasm.OpLocalGet, from)
	e.op(wasm.OpI64ExtendI32U)
	e.localOp(wasm.OpLocalGet, n)
	e.op(wasm.OpI64ExtendI32U)
	e.op(wasm.OpI64Add)
	e.opIndex(wasm.OpGlobalGet, left)
	e.op(wasm.OpI64ExtendI32U)
	e.op(wasm.OpI64GtU)
	e.op(wasm.OpSelect)
	return n
}

// memoryInit writes memory.init. A data.drop is only noted in a global, which this looks at: the engine's own
// state could not be brought to another process.
func (e *emitter) memoryInit(segment uint32) {
	if h, byCall := e.env.initData(segment); byCall { // which charges too
		e.opIndex(wasm.OpCall, h)
		e.readFuel()
		return
	}
	e.chargeLength()
	if e.f.p.dropsData(segment) {
		n := e.clamp(e.env.dropped(dropKey{false, segment}), func(from uint32) { e.localOp(wasm.OpLocalGet, from) })
		e.localOp(wasm.OpLocalGet, n)
	}
	e.opIndex(wasm.OpMemoryInit, segment)
	e.out = append(e.out, 0)
}

// tableInit writes table.init as a copy from the table in which passive segments are laid out. Segments of
// external references hold nothing but null.
func (e *emitter) tableInit(segment, table uint32) {
	left := e.env.dropped(dropKey{true, segment})
	if e.f.p.mod.Elements[segment].Type == wasm.FuncRef {
		n := e.clamp(left, func(from uint32) {
			e.localOp(wasm.OpLocalGet, from)
			e.i32(e.f.p.segmentAt(segment))
			e.op(wasm.OpI32Add)
		})
		e.localOp(wasm.OpLocalGet, n)
		e.opIndex(wasm.OpTableCopy, e.env.tableIndex(table))
		e.out = wasm.AppendUnsigned(e.out, uint64(e.env.ownTable(tableFuncs)))
		return
	}
	// The operands are (to, from, n); the fill wants (to, null, n).
	n, from, to := e.f.local(scratchLen, wasm.I32), e.f.local(scratchFrom, wasm.I32), e.f.local(scratchFrame, wasm.I32)
	e.localOp(wasm.OpLocalSet, n)
	e.localOp(wasm.OpLocalSet, from)
	e.localOp(wasm.OpLocalSet, to)
	e.localOp(wasm.OpLocalGet, from)
	e.localOp(wasm.OpLocalGet, n)
	e.clamp(left, func(uint32) { e.localOp(wasm.OpLocalGet, to) })
	e.op(wasm.OpRefNull)
	e.out = append(e.out, byte(wasm.ExternRef))
	e.localOp(wasm.OpLocalGet, n)
	e.opIndex(wasm.OpTableFill, e.env.tableIndex(table))
}

// segmentAt is where a passive segment of function references begins in the table of functions.
func (p *plan) segmentAt(segment uint32) uint32 {
	at := uint32(len(p.takenByRef))
	for k := range segment {
		if p.laidOut(k) {
			at += uint32(len(p.mod.Elements[k].Init))
		}
	}
	return at
}

// laidOut says which segments stand in the table of functions: those that code copies from, and, where
// references move, those that fill tables, so that every reference in a table is one that can be told.
func (p *plan) laidOut(segment uint32) bool {
	e := &p.mod.Elements[segment]
	return e.Type == wasm.FuncRef && (e.Mode == wasm.Passive && p.uses.elemUsed[segment] || e.Mode == wasm.Active &&
		p.uses.refsMove)
}

// refPositions gives the function at each position of the table of functions; -1 where there is none or it is
// not known.
func (p *plan) refPositions() []int32 {
	var out []int32
	for _, f := range p.takenByRef {
		out = append(out, int32(f))
	}
	for k := range p.mod.Elements {
		if !p.laidOut(uint32(k)) {
			continue
		}
		for _, x := range p.mod.Elements[k].Init {
			f := int32(-1)
			if x.Op == wasm.OpRefFunc {
				f = int32(x.Bits)
			}
			out = append(out, f)
		}
	}
	return out
}
