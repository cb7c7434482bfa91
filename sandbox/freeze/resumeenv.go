package freeze

import (
	"fmt"

	"godwit/sandbox/wasm"
)

// resumeEnv builds the module that holds resume functions. It imports, as they are asked for, the functions,
// globals and tables of the instrumented module under that module's name.
type resumeEnv struct {
	p       *plan
	main    string
	types   []wasm.FuncType
	typeOf  map[uint32]uint32
	imports []wasm.Import
	counts  [4]uint32
	have    map[string]uint32
}

func newResumeEnv(p *plan, main string) *resumeEnv {
	w := &resumeEnv{p: p, main: main, typeOf: map[uint32]uint32{}, have: map[string]uint32{}}
	w.imports = append(w.imports, wasm.Import{Module: main, Name: ownPrefix + "mem", Kind: wasm.MemoryKind})
	return w
}

// get imports something once and gives its index.
func (w *resumeEnv) get(i wasm.Import) uint32 {
	key := fmt.Sprint(i.Kind, " ", i.Module, " ", i.Name)
	n, ok := w.have[key]
	if !ok {
		n = w.counts[i.Kind]
		w.counts[i.Kind]++
		w.have[key] = n
		w.imports = append(w.imports, i)
	}
	return n
}

func (w *resumeEnv) newType(t wasm.FuncType) uint32 { return addType(&w.types, t) }

func (w *resumeEnv) typeIndex(i uint32) uint32 {
	n, ok := w.typeOf[i]
	if !ok {
		n = w.newType(w.p.mod.Types[i])
		w.typeOf[i] = n
	}
	return n
}

func (w *resumeEnv) funcIndex(i uint32) uint32 {
	imp := wasm.Import{Module: w.main, Name: fmt.Sprintf("%sf%d", ownPrefix, i), Kind: wasm.FuncKind}
	if importsDirectly && int(i) < w.p.imported {
		k := 0
		for _, m := range w.p.mod.Imports {
			if m.Kind != wasm.FuncKind {
				continue
			}
			if k == int(i) {
				imp.Module, imp.Name = m.Module, m.Name
			}
			k++
		}
	}
	imp.Type = w.typeIndex(w.p.funcTypes[i])
	return w.get(imp)
}

func (w *resumeEnv) tableIndex(i uint32) uint32 {
	t := w.p.tables[i]
	return w.get(wasm.Import{Module: w.main, Name: fmt.Sprintf("%st%d", ownPrefix, i), Kind: wasm.TableKind, Table: t})
}

func (w *resumeEnv) globalIndex(i uint32) uint32 {
	return w.get(wasm.Import{Module: w.main, Name: fmt.Sprintf("%sg%d", ownPrefix, i), Kind: wasm.GlobalKind,
		Global: w.p.globals[i]})
}

func (w *resumeEnv) own(g ownGlobal) uint32 {
	return w.get(wasm.Import{Module: w.main, Name: ownPrefix + ownGlobalNames[g], Kind: wasm.GlobalKind,
		Global: wasm.GlobalType{Type: g.typ(), Mutable: true}})
}

func (w *resumeEnv) dropped(k dropKey) uint32 {
	return w.get(wasm.Import{Module: w.main, Name: ownPrefix + dropName(k), Kind: wasm.GlobalKind,
		Global: wasm.GlobalType{Type: wasm.I32, Mutable: true}})
}

func (w *resumeEnv) helper(h helper) uint32 {
	i := wasm.Import{Module: w.main, Name: ownPrefix + helperNames[h], Kind: wasm.FuncKind, Type: w.newType(helperType(h))}
	if h == helperYield {
		i.Module, i.Name = HostModule, yieldName
	}
	return w.get(i)
}

func (w *resumeEnv) ownTable(t ownTable) uint32 {
	i := wasm.Import{Module: w.main, Name: ownPrefix + ownTableNames[t], Kind: wasm.TableKind,
		Table: wasm.TableType{Elem: wasm.FuncRef}}
	if t == tableExts {
		i.Table.Elem = wasm.ExternRef
	}
	return w.get(i)
}

func (w *resumeEnv) initData(segment uint32) (uint32, bool) {
	i32 := wasm.I32
	return w.get(wasm.Import{Module: w.main, Name: fmt.Sprintf("%sinit%d", ownPrefix, segment), Kind: wasm.FuncKind,
		Type: w.newType(wasm.FuncType{Params: []wasm.ValType{i32, i32, i32}})}), true
}

// resumeName is the export name of the resume function in a slot.
func resumeName(slot uint32) string { return fmt.Sprintf("r%d", slot) }

// resumeModule writes a module with the resume functions of some safe points, which it puts into the table of
// resume functions from a slot on, in order. main is the name under which the instrumented module runs.
func (p *Program) resumeModule(points []uint32, first uint32, main string) ([]byte, error) {
	p.emits.Lock()
	defer p.emits.Unlock()
	w := newResumeEnv(p.plan, main)
	table := w.ownTable(tableResume)
	out := &wasm.Module{}
	elem := wasm.Element{Type: wasm.FuncRef, Table: table,
		Offset: wasm.ConstExpr{Op: wasm.OpI32Const, Bits: uint64(first)}}
	for _, point := range points {
		f, k, err := p.find(point)
		if err != nil {
			return nil, err
		}
		e := newEmitter(f, w)
		code := e.resume(k)
		if e.err != nil {
			return nil, e.err
		}
		out.Code = append(out.Code, code)
		out.Funcs = append(out.Funcs, w.newType(wasm.FuncType{Results: f.typ.Results}))
	}
	imported := w.counts[wasm.FuncKind]
	for k := range points {
		index := imported + uint32(k)
		elem.Init = append(elem.Init, wasm.ConstExpr{Op: wasm.OpRefFunc, Bits: uint64(index)})
		out.Exports = append(out.Exports, wasm.Export{Name: resumeName(first + uint32(k)), Kind: wasm.FuncKind, Index: index})
	}
	out.Types, out.Imports, out.Elements = w.types, w.imports, []wasm.Element{elem}
	return wasm.Encode(out), nil
}
