package freeze

import (
	"fmt"

	"godwit/sandbox/wasm"
)

// pageSize is the size of a page of memory in bytes.
const pageSize = 65536

// helperType gives the type of each helper.
func helperType(h helper) wasm.FuncType {
	one := func(t wasm.ValType) []wasm.ValType { return []wasm.ValType{t} }
	switch h {
	case helperFrame:
		return wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32}}
	case helperPushRef:
		return wasm.FuncType{Params: one(wasm.FuncRef)}
	case helperPopRef:
		return wasm.FuncType{Results: one(wasm.FuncRef)}
	case helperPushExt:
		return wasm.FuncType{Params: one(wasm.ExternRef)}
	case helperPopExt:
		return wasm.FuncType{Results: one(wasm.ExternRef)}
	case helperGrow:
		return wasm.FuncType{Params: one(wasm.I32), Results: one(wasm.I32)}
	case helperRef:
		return wasm.FuncType{Params: one(wasm.I32), Results: one(wasm.FuncRef)}
	}
	return wasm.FuncType{} // yield
}

// assemble adds to a copy of the original module, whose code has been replaced, all that the code asked for.
func (w *mainEnv) assemble(out *wasm.Module) {
	p := w.p
	w.tableHelpers()
	for k := 0; k < len(w.order); k++ { // a helper may ask for another
		w.defineHelper(out, w.order[k])
	}
	w.accessHelpers(out)
	w.wrapImports(out)
	yieldType := w.newType(wasm.FuncType{})
	out.Types = w.types
	out.Imports = append(append([]wasm.Import(nil), p.mod.Imports...),
		wasm.Import{Module: HostModule, Name: yieldName, Kind: wasm.FuncKind, Type: yieldType})
	out.Tables = append(append([]wasm.TableType(nil), p.mod.Tables...), w.extra...)
	out.Globals = append(w.remapGlobals(), w.added...)
	out.Elements = w.remapElements()
	w.exportOriginals(out)
	if p.mod.Start != nil {
		w.export("start", wasm.FuncKind, w.reference(*p.mod.Start))
		out.Start = nil
	}
	out.Exports = append(w.remapExports(), w.exports...)
	out.Customs = nil
}

// exportOriginals gives the resume functions, and the host, access to what they need of the module.
func (w *mainEnv) exportOriginals(out *wasm.Module) {
	p := w.p
	if len(p.mod.Memories) == 0 && p.mod.Imported(wasm.MemoryKind) == 0 {
		pages := (p.maxFrame+trailerSize)/pageSize + 1
		out.Memories = []wasm.Limits{{Min: pages, Max: pages, HasMax: true}}
	}
	w.export("mem", wasm.MemoryKind, 0)
	for i := range p.globals {
		w.export(fmt.Sprintf("g%d", i), wasm.GlobalKind, uint32(i))
	}
	for i := range p.tables {
		w.export(fmt.Sprintf("t%d", i), wasm.TableKind, uint32(i))
	}
	for i, named := range p.named {
		if named {
			w.export(fmt.Sprintf("f%d", i), wasm.FuncKind, w.reference(uint32(i)))
		}
	}
}

func (w *mainEnv) remapConst(e wasm.ConstExpr) wasm.ConstExpr {
	if e.Op == wasm.OpRefFunc {
		e.Bits = uint64(w.reference(uint32(e.Bits)))
	}
	return e
}

func (w *mainEnv) remapGlobals() []wasm.Global {
	out := make([]wasm.Global, 0, len(w.p.mod.Globals)+len(w.added))
	for _, g := range w.p.mod.Globals {
		g.Init = w.remapConst(g.Init)
		out = append(out, g)
	}
	return out
}

func (w *mainEnv) remapExports() []wasm.Export {
	out := make([]wasm.Export, 0, len(w.p.mod.Exports)+len(w.exports))
	for _, e := range w.p.mod.Exports {
		if e.Kind == wasm.FuncKind {
			e.Index = w.funcIndex(e.Index)
		}
		out = append(out, e)
	}
	return out
}

// remapElements renumbers the segments' functions, empties the segments that code reads from the table of
// functions instead, and fills that table.
func (w *mainEnv) remapElements() []wasm.Element {
	p := w.p
	var out []wasm.Element
	var funcs []wasm.ConstExpr
	for _, f := range p.takenByRef {
		funcs = append(funcs, wasm.ConstExpr{Op: wasm.OpRefFunc, Bits: uint64(w.reference(f))})
	}
	for k, e := range p.mod.Elements {
		init := make([]wasm.ConstExpr, len(e.Init))
		for i, x := range e.Init {
			init[i] = w.remapConst(x)
		}
		e.Init = init
		if p.laidOut(uint32(k)) {
			funcs = append(funcs, init...)
		}
		out = append(out, e)
	}
	if t, ok := w.tables[tableFuncs]; ok && len(funcs) > 0 {
		out = append(out, wasm.Element{Type: wasm.FuncRef, Table: t, Offset: wasm.ConstExpr{Op: wasm.OpI32Const},
			Init: funcs})
	}
	return out
}

// define appends a function that the pass adds.
func (w *mainEnv) define(out *wasm.Module, t wasm.FuncType, body *emitter) {
	body.op(wasm.OpEnd)
	out.Funcs = append(out.Funcs, w.newType(t))
	out.Code = append(out.Code, wasm.Code{Body: body.out})
}

// defineHelper writes one helper; they come in the order in which they were asked for.
func (w *mainEnv) defineHelper(out *wasm.Module, h helper) {
	e := &emitter{env: w}
	switch h {
	case helperFrame:
		w.frameBody(e)
	case helperPushRef:
		w.pushBody(e, globalRefs, tableRefs, wasm.FuncRef)
	case helperPopRef:
		w.popBody(e, globalRefs, tableRefs)
	case helperPushExt:
		w.pushBody(e, globalExts, tableExts, wasm.ExternRef)
	case helperPopExt:
		w.popBody(e, globalExts, tableExts)
	case helperGrow:
		e.op(wasm.OpRefNull)
		e.out = append(e.out, byte(wasm.FuncRef))
		e.localOp(wasm.OpLocalGet, 0)
		e.opIndex(wasm.OpTableGrow, w.ownTable(tableResume))
	case helperRef:
		e.localOp(wasm.OpLocalGet, 0)
		e.opIndex(wasm.OpTableGet, w.ownTable(tableFuncs))
	}
	if h == helperFrame && len(out.Funcs) == len(w.p.mod.Funcs) {
		out.Funcs = append([]uint32(nil), out.Funcs...) // the first: do not write into the original's
	}
	w.define(out, helperType(h), e)
}

// frameBody ends a frame of (point, size): it stores the trailer, moves the stack pointer, and has the host take
// the frames away if the next might not fit.
func (w *mainEnv) frameBody(e *emitter) {
	e.getOwn(globalSP)
	e.localOp(wasm.OpLocalGet, 1)
	e.op(wasm.OpI32Add)
	e.localOp(wasm.OpLocalGet, 0)
	e.access(wasm.OpI32Store, 2, 0)
	e.getOwn(globalSP)
	e.localOp(wasm.OpLocalGet, 1)
	e.op(wasm.OpI32Add)
	e.localOp(wasm.OpLocalGet, 1)
	e.access(wasm.OpI32Store, 2, 4)
	e.getOwn(globalSP)
	e.localOp(wasm.OpLocalGet, 1)
	e.op(wasm.OpI32Add)
	e.i32(trailerSize)
	e.op(wasm.OpI32Add)
	e.setOwn(globalSP)
	e.getOwn(globalSP)
	e.getOwn(globalEnd)
	e.op(wasm.OpI32GtU)
	e.open(wasm.OpIf, wasm.BlockVoid)
	e.call(helperYield)
	e.end()
}

// pushBody puts a reference on its stack, which grows by doubling.
func (w *mainEnv) pushBody(e *emitter, sp ownGlobal, t ownTable, typ wasm.ValType) {
	table := w.ownTable(t)
	e.getOwn(sp)
	e.opIndex(wasm.OpTableSize, table)
	e.op(wasm.OpI32Eq)
	e.open(wasm.OpIf, wasm.BlockVoid)
	e.op(wasm.OpRefNull)
	e.out = append(e.out, byte(typ))
	e.opIndex(wasm.OpTableSize, table)
	e.i32(refStackStep)
	e.op(wasm.OpI32Add)
	e.opIndex(wasm.OpTableGrow, table)
	e.op(wasm.OpDrop) // if it failed the table.set below traps
	e.end()
	e.getOwn(sp)
	e.localOp(wasm.OpLocalGet, 0)
	e.opIndex(wasm.OpTableSet, table)
	e.getOwn(sp)
	e.i32(1)
	e.op(wasm.OpI32Add)
	e.setOwn(sp)
}

// refStackStep is the first size of a stack of references.
const refStackStep = 16

func (w *mainEnv) popBody(e *emitter, sp ownGlobal, t ownTable) {
	e.getOwn(sp)
	e.i32(1)
	e.op(wasm.OpI32Sub)
	e.setOwn(sp)
	e.getOwn(sp)
	e.opIndex(wasm.OpTableGet, w.ownTable(t))
}

// savedTables lists the tables whose contents are part of a checkpoint: those that instructions write.
func (w *mainEnv) savedTables() (out []TableSlot) {
	for i, t := range w.p.tables {
		if w.p.uses.tableWritten[i] {
			out = append(out, TableSlot{uint32(i), t.Elem})
		}
	}
	return out
}

// tableHelpers asks for what is needed to tell references from each other.
func (w *mainEnv) tableHelpers() {
	if w.p.uses.refsMove {
		w.helper(helperRef)
	}
	if _, ok := w.helper_[helperPushRef]; ok {
		w.helper(helperPopRef)
		w.ownTable(tableRefs)
	}
	if _, ok := w.helper_[helperPushExt]; ok {
		w.helper(helperPopExt)
		w.ownTable(tableExts)
	}
}

// reseatBody copies the active segments into their tables again, from the table of functions: engines give the
// entries of each segment references of their own.
func (w *mainEnv) reseatBody() *emitter {
	e := &emitter{env: w}
	for k := range w.p.mod.Elements {
		s := &w.p.mod.Elements[k]
		if s.Mode != wasm.Active || !w.p.laidOut(uint32(k)) {
			continue
		}
		e.op(s.Offset.Op)
		if s.Offset.Op == wasm.OpGlobalGet {
			e.out = wasm.AppendUnsigned(e.out, s.Offset.Bits)
		} else {
			e.out = wasm.AppendSigned(e.out, int64(int32(s.Offset.Bits)))
		}
		e.i32(w.p.segmentAt(uint32(k)))
		e.i32(uint32(len(s.Init)))
		e.opIndex(wasm.OpTableCopy, s.Table)
		e.out = wasm.AppendUnsigned(e.out, uint64(w.ownTable(tableFuncs)))
	}
	return e
}

func (w *mainEnv) layout(points uint32) Layout {
	p := w.p
	l := Layout{Version: PassVersion, Options: p.Options, Funcs: p.Funcs, Indirect: p.IndirectUnwinds, Refs: p.takenByRef,
		MaxFrame: p.maxFrame + trailerSize, Points: points, Tables: w.savedTables(), Start: p.mod.Start != nil,
		Memory:   len(p.mod.Memories) > 0 || p.mod.Imported(wasm.MemoryKind) > 0,
		RefsMove: p.uses.refsMove, Written: p.uses.tableWritten, Dropped: p.uses.dataDropped, DataUsed: p.uses.dataUsed,
		ElemUsed: p.uses.elemUsed}
	for i, g := range p.globals {
		if g.Mutable {
			l.Globals = append(l.Globals, GlobalSlot{fmt.Sprintf("g%d", i), g.Type})
		}
	}
	l.Globals = append(l.Globals, w.slots...)
	_, l.RefStacks[0] = w.tables[tableRefs]
	_, l.RefStacks[1] = w.tables[tableExts]
	return l
}
