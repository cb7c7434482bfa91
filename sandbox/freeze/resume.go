package freeze

import "godwit/sandbox/wasm"

// level is a construct around a safe point.
type level struct {
	opener int32
	inElse bool
}

// levels lists the constructs around instruction at, outermost first.
func (f *function) levels(at int32) []level {
	var out []level
	for k := int32(0); k < at; k++ {
		switch i := &f.ins[k]; i.op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			if i.match < at {
				k = i.match // it closes before the point
				continue
			}
			out = append(out, level{k, i.op == wasm.OpIf && i.els >= 0 && i.els < at})
		}
	}
	return out
}

// resume writes the function that goes on at a safe point: it takes the frame, opens what is open there,
// resumes the frame above or calls yield, and runs what is left of each construct from the innermost out.
// Around a loop it writes what is left of the turn and then the whole loop.
func (e *emitter) resume(point int32) wasm.Code {
	f := e.f
	pt := &f.points[point]
	e.openExits()
	e.restore(point)
	if pt.kind == pointEntry {
		e.call(helperYield)
		e.checkUnwind(point)
		e.span(0, int32(len(f.ins))-1)
		e.closeExits()
		return e.finishResume()
	}
	levels := f.levels(pt.ins)
	height := 0
	for _, l := range levels {
		i := &f.ins[l.opener]
		e.operands(pt.below, height, int(i.height))
		height = int(i.height)
		t := f.blockType(l.opener)
		e.open(wasm.OpBlock, e.results(t.Results))
		if i.op == wasm.OpLoop {
			e.open(wasm.OpBlock, e.results(t.Params))
		}
		e.enter(l.opener)
	}
	e.resumed = len(e.openers)
	next := e.atPoint(point, height)
	for k := len(levels) - 1; k >= 0; k-- {
		next = e.rest(levels[k], next)
	}
	e.span(next, int32(len(f.ins))-1)
	e.closeExits()
	return e.finishResume()
}

// atPoint writes what happens at the point itself and gives the instruction to go on with.
func (e *emitter) atPoint(point int32, height int) int32 {
	f := e.f
	pt := &f.points[point]
	if pt.kind == pointLoop {
		e.call(helperYield)
		e.checkUnwind(point)
		if l := f.loops[pt.ins]; l.atHead {
			e.refund(l.cost)
		}
		e.operands(pt.below, height, len(pt.below))
		return pt.ins
	}
	e.operands(pt.below, height, len(pt.below))
	i := &f.ins[pt.ins]
	t := i.a
	if i.op == wasm.OpCall {
		t = f.p.funcTypes[i.a]
	}
	e.localOp(wasm.OpLocalGet, f.local(scratchNext, wasm.I32))
	e.opIndex(wasm.OpCallIndirect, e.env.newType(wasm.FuncType{Results: f.p.mod.Types[t].Results}))
	e.out = wasm.AppendUnsigned(e.out, uint64(e.env.ownTable(tableResume)))
	e.checkUnwind(point)
	e.after(pt.ins)
	return pt.ins + 1
}

// rest writes what is left of a construct from instruction next on, and closes it. It gives the instruction
// after the construct.
func (e *emitter) rest(l level, next int32) int32 {
	i := &e.f.ins[l.opener]
	end := i.match
	if i.op == wasm.OpIf && !l.inElse && i.els >= 0 {
		end = i.els
	}
	e.span(next, end)
	e.leave()
	e.resumed = len(e.openers)
	if i.op == wasm.OpLoop {
		e.opIndex(wasm.OpBr, 1)
		e.end()
		e.span(l.opener, i.match+1)
	}
	e.end()
	e.after(i.match)
	if len(e.out) > maxResume && e.err == nil {
		e.err = e.f.refuse(e.f.code.Offset+int(i.start), "loops are nested too deeply to be resumed")
		e.out = e.out[:0]
	}
	return i.match + 1
}

// finishResume gives the body; the parameters are ordinary locals there.
func (e *emitter) finishResume() wasm.Code {
	var locals []wasm.LocalDecl
	for _, t := range e.f.typ.Params {
		locals = append(locals, wasm.LocalDecl{Count: 1, Type: t})
	}
	return e.finish(append(locals, e.f.code.Locals...))
}
