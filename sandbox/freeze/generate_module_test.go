package freeze_test

import (
	"math"

	"godwit/sandbox/wasm"
)

// Host functions of generated modules, in the order of their imports. Those that need a memory come last.
const (
	genWho  = iota // () i32: whether the caller is the guest's main instance
	genMix         // (i32 f64 i64) (i64 i32)
	genFail        // (i32): fails for some
	genPeek        // (i32) i32: reads the caller's memory
	genPoke        // (i32 i64): writes it
)

var genHostNames = []string{"who", "mix", "fail", "peek", "poke"}

var genHostTypes = []wasm.FuncType{
	{Results: []wasm.ValType{wasm.I32}},
	{Params: []wasm.ValType{wasm.I32, wasm.F64, wasm.I64}, Results: []wasm.ValType{wasm.I64, wasm.I32}},
	{Params: []wasm.ValType{wasm.I32}},
	{Params: []wasm.ValType{wasm.I32}, Results: []wasm.ValType{wasm.I32}},
	{Params: []wasm.ValType{wasm.I32, wasm.I64}},
}

// genHostModule is the name space of the host functions.
const genHostModule = "env"

func (g *generator) imports() {
	for k, name := range genHostNames {
		if k >= genPeek && !g.memory {
			break
		}
		g.m.Imports = append(g.m.Imports, wasm.Import{Module: genHostModule, Name: name, Kind: wasm.FuncKind,
			Type: g.typeIndex(genHostTypes[k])})
	}
}

// Table 0 holds the functions, four places for each of them, the first of its type at the first; its entries keep their
// types. Table 1 holds functions that only give their name, and changes.
const (
	genPlaces   = 4
	genNames    = 8
	genNameFunc = 3 // how many functions give their name; the import "who" is one more
)

// segments writes all but code.
func (g *generator) segments() {
	if g.memory {
		l := wasm.Limits{Min: 1, Max: 3, HasMax: true}
		if g.one(12) && !g.narrow {
			l.Min = 0
		}
		g.m.Memories = []wasm.Limits{l}
		bytes := make([]byte, 40)
		for k := range bytes {
			bytes[k] = byte(g.choice(256))
		}
		g.m.Data = []wasm.Data{{Mode: wasm.Passive, Bytes: bytes}}
		if l.Min > 0 {
			g.m.Data = append(g.m.Data, wasm.Data{Offset: wasm.ConstExpr{Op: wasm.OpI32Const, Bits: 16}, Bytes: bytes})
		}
		g.m.Exports = append(g.m.Exports, wasm.Export{Name: "memory", Kind: wasm.MemoryKind})
	}
	for k, t := range genGlobalTypes {
		init := wasm.ConstExpr{Bits: uint64(k)}
		switch t {
		case wasm.I32:
			init.Op = wasm.OpI32Const
		case wasm.I64:
			init.Op = wasm.OpI64Const
		case wasm.F32:
			init.Op, init.Bits = wasm.OpF32Const, uint64(math.Float32bits(1.5))
		case wasm.F64:
			init.Op, init.Bits = wasm.OpF64Const, math.Float64bits(2.5)
		case wasm.V128:
			init.Op = wasm.OpV128Const
		}
		g.m.Globals = append(g.m.Globals, wasm.Global{Type: wasm.GlobalType{Type: t, Mutable: true}, Init: init})
	}
	g.tables()
}

func (g *generator) tables() {
	ref := func(f uint32) wasm.ConstExpr { return wasm.ConstExpr{Op: wasm.OpRefFunc, Bits: uint64(f)} }
	zero := wasm.ConstExpr{Op: wasm.OpI32Const}
	var all, names []wasm.ConstExpr
	for f := range g.funcs {
		for k := range genPlaces {
			all = append(all, ref(g.index(g.sameType(f, k))))
		}
	}
	for k := range genNameFunc {
		g.m.Funcs = append(g.m.Funcs, g.typeIndex(genHostTypes[genWho]))
		names = append(names, ref(uint32(len(g.m.Imports)+len(g.funcs)+k)))
	}
	names = append(names, ref(genWho))
	g.m.Tables = []wasm.TableType{
		{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: uint32(len(all))}},
		{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: genNames, Max: 2 * genNames, HasMax: true}},
	}
	g.m.Elements = []wasm.Element{
		{Type: wasm.FuncRef, Offset: zero, Init: all},
		{Type: wasm.FuncRef, Table: 1, Offset: zero, Init: names},
		{Type: wasm.FuncRef, Mode: wasm.Passive, Init: names},
	}
}

// sameType gives the n-th function from f on that has f's type and is guarded, or f itself.
func (g *generator) sameType(f, n int) int {
	at := f
	for range n {
		for k := range g.funcs {
			next := (at + 1 + k) % len(g.funcs)
			if g.funcs[next].index == g.funcs[f].index && g.funcs[next].guarded {
				at = next
				break
			}
		}
	}
	return at
}

// nameFuncs writes the functions that give their name.
func (g *generator) nameFuncs() {
	for k := range genNameFunc {
		t := genHostTypes[genWho]
		g.begin(len(g.funcs)+k, t)
		if k == 1 { // one that may be frozen
			x := g.newLocal(wasm.I32)
			g.i32(3)
			g.op(wasm.OpLocalSet, x)
			g.open(wasm.OpLoop, nil, nil)
			g.goOn(x, true)
			g.op(wasm.OpBrIf, 0)
			g.end()
			g.i32(uint32(100 + k))
			g.push(wasm.I32)
		} else {
			g.i32(uint32(100 + k))
			g.push(wasm.I32)
		}
		g.m.Code = append(g.m.Code, g.finish())
	}
}

// callName calls what stands at a place of table 1, whose index is on the stack; the stack is not kept track of.
func (g *generator) callName() {
	x := g.scratchLocal(wasm.I32)
	g.op(wasm.OpLocalTee, x)
	g.op(wasm.OpTableGet, 1)
	g.op(wasm.OpRefIsNull)
	g.op(wasm.OpIf)
	g.out = append(g.out, byte(wasm.I32))
	g.i32(0)
	g.op(wasm.OpElse)
	g.op(wasm.OpLocalGet, x)
	g.op(wasm.OpCallIndirect, g.typeIndex(genHostTypes[genWho]), 1)
	g.op(wasm.OpEnd)
}
