package freeze

import (
	"fmt"

	"godwit/sandbox/wasm"
)

// access adds functions beyond the numbered helpers: those by which the host reaches globals and tables, and
// memory.init for resume functions.
type access struct {
	*mainEnv
	module *wasm.Module
}

// accessHelpers adds them all.
func (w *mainEnv) accessHelpers(out *wasm.Module) {
	a := &access{w, out}
	if w.p.uses.refsMove {
		a.add("reseat", wasm.FuncType{}, w.reseatBody())
	}
	a.vectors()
	for _, t := range w.savedTables() {
		a.table(t.Index, t.Type, fmt.Sprint(t.Index))
	}
	if i, ok := w.tables[tableRefs]; ok {
		a.table(i, wasm.FuncRef, ownTableNames[tableRefs])
	}
	if i, ok := w.tables[tableExts]; ok {
		a.table(i, wasm.ExternRef, ownTableNames[tableExts])
	}
	a.segments()
}

// place is the index of the function that is added next.
func (a *access) place() uint32 { return uint32(a.p.imported + 1 + len(a.module.Funcs)) }

func (a *access) add(name string, t wasm.FuncType, e *emitter) {
	a.export(name, wasm.FuncKind, a.place())
	a.define(a.module, t, e)
}

// vectors adds access to globals that hold vectors: the host can read and write the others itself.
func (a *access) vectors() {
	v := []wasm.ValType{wasm.V128}
	for i, g := range a.p.globals {
		if !g.Mutable || g.Type != wasm.V128 {
			continue
		}
		get, set := &emitter{env: a.mainEnv}, &emitter{env: a.mainEnv}
		get.opIndex(wasm.OpGlobalGet, uint32(i))
		a.add(fmt.Sprintf("gget%d", i), wasm.FuncType{Results: v}, get)
		set.localOp(wasm.OpLocalGet, 0)
		set.opIndex(wasm.OpGlobalSet, uint32(i))
		a.add(fmt.Sprintf("gset%d", i), wasm.FuncType{Params: v}, set)
	}
}

func (a *access) table(index uint32, typ wasm.ValType, name string) {
	i32 := []wasm.ValType{wasm.I32}
	w := a.mainEnv
	get, set, size, grow := &emitter{env: w}, &emitter{env: w}, &emitter{env: w}, &emitter{env: w}
	get.localOp(wasm.OpLocalGet, 0)
	get.opIndex(wasm.OpTableGet, index)
	a.add("tget"+name, wasm.FuncType{Params: i32, Results: []wasm.ValType{typ}}, get)
	set.localOp(wasm.OpLocalGet, 0)
	set.localOp(wasm.OpLocalGet, 1)
	set.opIndex(wasm.OpTableSet, index)
	a.add("tset"+name, wasm.FuncType{Params: []wasm.ValType{wasm.I32, typ}}, set)
	size.opIndex(wasm.OpTableSize, index)
	a.add("tsize"+name, wasm.FuncType{Results: i32}, size)
	grow.op(wasm.OpRefNull)
	grow.out = append(grow.out, byte(typ))
	grow.localOp(wasm.OpLocalGet, 0)
	grow.opIndex(wasm.OpTableGrow, index)
	a.add("tgrow"+name, wasm.FuncType{Params: i32, Results: i32}, grow)
}

// segments adds memory.init of the segments that code reads.
func (a *access) segments() {
	for seg, used := range a.p.uses.dataUsed {
		if !used {
			continue
		}
		f := &function{p: a.p, temps: map[temp]uint32{}, locals: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32},
			code: &wasm.Code{}}
		e := newEmitter(f, a.mainEnv)
		for x := range uint32(3) {
			e.localOp(wasm.OpLocalGet, x)
		}
		e.memoryInit(uint32(seg))
		e.op(wasm.OpEnd)
		a.export(fmt.Sprintf("init%d", seg), wasm.FuncKind, a.place())
		a.module.Funcs = append(a.module.Funcs, a.newType(wasm.FuncType{Params: f.locals}))
		a.module.Code = append(a.module.Code, e.finish(nil))
	}
}
