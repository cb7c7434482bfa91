package freeze

import (
	"context"
	"fmt"

	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Validate asks wazero whether a module is valid WebAssembly 2.0. Custom sections do not matter.
func Validate(ctx context.Context, original []byte) error {
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	defer rt.Close(ctx)
	bare, err := wasm.WithoutCustoms(original)
	if err != nil {
		return fmt.Errorf("validate module: %w", err)
	}
	c, err := rt.CompileModule(ctx, bare)
	if err != nil {
		return fmt.Errorf("validate module: %w", err)
	}
	return c.Close(ctx)
}

// Instrument puts safe points into a module, which must have passed Validate (or have been compiled by
// wazero otherwise): on a module that is not valid the result is not defined, except that it is an error or a
// module that wazero refuses. Errors about modules that cannot be frozen wrap ErrRefused.
func Instrument(original []byte, o Options) (*Program, error) {
	m, err := wasm.Decode(original)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	p, err := newPlan(m, o)
	if err != nil {
		return nil, err
	}
	return p.instrument()
}

// instrument writes the module of a plan.
func (p *plan) instrument() (*Program, error) {
	m := p.mod
	w := newMainEnv(p)
	out := *m
	out.Code = make([]wasm.Code, 0, len(m.Code)+int(helpers))
	points := uint32(0)
	for i := range m.Code {
		f, err := p.analyse(i + p.imported)
		if err != nil {
			return nil, err
		}
		p.Funcs[i].FirstPoint, p.Funcs[i].Points = points, uint32(len(f.points))
		points += uint32(len(f.points))
		if err := f.checkNesting(); err != nil {
			return nil, err
		}
		out.Code = append(out.Code, newEmitter(f, w).whole())
	}
	w.assemble(&out)
	l := w.layout(points)
	return newProgram(wasm.Encode(&out), l, p), nil
}

// checkNesting refuses functions whose resume functions would be too large: each loop is written once more
// for every loop around it.
func (f *function) checkNesting() error {
	total, worst := 0, 0
	var open []int // bytes of the loops around, including this
	for at := range f.ins {
		i := &f.ins[at]
		switch i.op {
		case wasm.OpBlock, wasm.OpIf, wasm.OpLoop:
			open = append(open, total)
			if i.op == wasm.OpLoop {
				total += int(f.ins[i.match].end - i.start)
				worst = max(worst, total)
			}
		case wasm.OpEnd:
			if n := len(open); n > 0 {
				total, open = open[n-1], open[:n-1]
			}
		}
	}
	if worst > maxNested {
		return f.refuse(f.code.Offset, "loops are nested too deeply to be resumed (%d bytes of code)", worst)
	}
	return nil
}

// maxNested bounds the bytes of all loops around one place, each counted whole.
const maxNested = 8 << 20

// mainEnv places what the pass adds to a module, as it is asked for.
type mainEnv struct {
	p       *plan
	types   []wasm.FuncType
	helper_ map[helper]uint32 // function indices
	order   []helper
	globals map[ownGlobal]uint32
	added   []wasm.Global
	exports []wasm.Export
	tables  map[ownTable]uint32
	extra   []wasm.TableType
	drops   map[dropKey]uint32
	slots   []GlobalSlot // of drops
	wraps   []uint32     // functions that call the imports, by import; see imports.go
}

func newMainEnv(p *plan) *mainEnv {
	w := &mainEnv{p: p, types: append([]wasm.FuncType(nil), p.mod.Types...), helper_: map[helper]uint32{},
		globals: map[ownGlobal]uint32{},
		tables:  map[ownTable]uint32{}, drops: map[dropKey]uint32{}}
	for _, g := range []ownGlobal{globalState, globalSP, globalEnd, globalFuel} {
		w.own(g)
	}
	w.ownTable(tableResume)
	w.helper(helperFrame)
	w.helper(helperGrow)
	for seg, used := range p.uses.elemUsed {
		if used {
			w.dropped(dropKey{true, uint32(seg)})
		}
	}
	for seg := range p.mod.Data {
		if p.dropsData(uint32(seg)) {
			w.dropped(dropKey{false, uint32(seg)})
		}
	}
	return w
}

// funcIndex makes room for the import of yield, which comes after the module's own imports.
func (w *mainEnv) funcIndex(i uint32) uint32 {
	if int(i) >= w.p.imported {
		return i + 1
	}
	return i
}

func (w *mainEnv) typeIndex(i uint32) uint32      { return i }
func (w *mainEnv) tableIndex(i uint32) uint32     { return i }
func (w *mainEnv) globalIndex(i uint32) uint32    { return i }
func (w *mainEnv) initData(uint32) (uint32, bool) { return 0, false }
func (w *mainEnv) newType(t wasm.FuncType) uint32 { return addType(&w.types, t) }

// addType finds or appends a type. Only the types that the pass adds are looked through, and they are few.
func addType(types *[]wasm.FuncType, t wasm.FuncType) uint32 {
	for i := len(*types) - 1; i >= 0 && i >= len(*types)-64; i-- {
		if (*types)[i].Equal(t) {
			return uint32(i)
		}
	}
	*types = append(*types, t)
	return uint32(len(*types) - 1)
}

func (w *mainEnv) export(name string, k wasm.ExternKind, index uint32) {
	w.exports = append(w.exports, wasm.Export{Name: ownPrefix + name, Kind: k, Index: index})
}

func (w *mainEnv) addGlobal(name string, t wasm.ValType, init uint64) uint32 {
	op := wasm.OpI32Const
	if t == wasm.I64 {
		op = wasm.OpI64Const
	}
	i := uint32(len(w.p.globals) + len(w.added))
	w.added = append(w.added, wasm.Global{Type: wasm.GlobalType{Type: t, Mutable: true},
		Init: wasm.ConstExpr{Op: op, Bits: init}})
	w.export(name, wasm.GlobalKind, i)
	return i
}

func (w *mainEnv) own(g ownGlobal) uint32 {
	i, ok := w.globals[g]
	if !ok {
		i = w.addGlobal(ownGlobalNames[g], g.typ(), 0)
		w.globals[g] = i
	}
	return i
}

func (w *mainEnv) dropped(k dropKey) uint32 {
	i, ok := w.drops[k]
	if !ok {
		name, left := dropName(k), 0
		if s := k.segment; k.elem && w.p.mod.Elements[s].Mode == wasm.Passive {
			left = len(w.p.mod.Elements[s].Init)
		} else if !k.elem && w.p.mod.Data[s].Mode == wasm.Passive {
			left = len(w.p.mod.Data[s].Bytes)
		}
		i = w.addGlobal(name, wasm.I32, uint64(left))
		w.drops[k] = i
		w.slots = append(w.slots, GlobalSlot{name, wasm.I32})
	}
	return i
}

func dropName(k dropKey) string {
	if k.elem {
		return fmt.Sprintf("elem%d", k.segment)
	}
	return fmt.Sprintf("data%d", k.segment)
}

func (w *mainEnv) ownTable(t ownTable) uint32 {
	i, ok := w.tables[t]
	if !ok {
		typ := wasm.TableType{Elem: wasm.FuncRef}
		switch t {
		case tableExts:
			typ.Elem = wasm.ExternRef
		case tableFuncs:
			typ.Limits.Min = w.p.segmentAt(uint32(len(w.p.mod.Elements)))
		}
		i = uint32(len(w.p.tables) + len(w.extra))
		w.extra = append(w.extra, typ)
		w.tables[t] = i
		w.export(ownTableNames[t], wasm.TableKind, i)
	}
	return i
}

func (w *mainEnv) helper(h helper) uint32 {
	if h == helperYield {
		return uint32(w.p.imported)
	}
	i, ok := w.helper_[h]
	if !ok {
		i = uint32(len(w.p.funcTypes) + 1 + len(w.order))
		w.order = append(w.order, h)
		w.helper_[h] = i
		w.export(helperNames[h], wasm.FuncKind, i)
	}
	return i
}
