package freeze_test

import (
	"math/rand/v2"
	"slices"

	"godwit/sandbox/wasm"
)

// generator writes valid modules that end. It keeps track of the types on the operand stack, so that values lie below
// and between whatever it writes: they cross br_if, go in and out of blocks, and wait under calls. What it writes is
// decided by choice, so that both a seed and the fuzzer's bytes can drive it. Every run ends: a loop counts down
// a local
// or uses up a global of steps, and so does every function that can be called again by those that it calls.
type generator struct {
	choice func(n int) int // 0 <= choice(n) < n; 0 is the simplest
	m      *wasm.Module
	pool   []wasm.ValType // types of values, the usual ones several times; numbers come first
	funcs  []genFunc
	rawNaN bool // results of float arithmetic are left as the engine makes them
	memory bool
	refs   bool
	nans   bool // much arithmetic whose NaNs are seen
	narrow bool // constructs without parameters and of one result at most, and fewer instructions on tables

	// the function being written
	f       int // index in funcs
	out     []byte
	locals  []wasm.ValType
	params  int
	busy    map[uint32]bool // locals that count: not to be set
	ctl     []genFrame
	stack   []wasm.ValType
	floor   int // operands below belong to who asked for an expression
	budget  int
	scratch map[wasm.ValType]uint32
	secrets map[uint32]bool // locals that are read at one place
}

// genFunc is a function to be written. A guarded one takes a step when it is entered, so it may be called by any.
type genFunc struct {
	typ     wasm.FuncType
	index   uint32 // of its type
	guarded bool
}

// genFrame is an open construct.
type genFrame struct {
	op      wasm.Opcode
	label   []wasm.ValType // what a branch to it carries
	results []wasm.ValType
	base    int  // height of the stack below it
	dead    bool // what follows cannot be reached: the stack holds whatever is wanted
	free    bool // may be branched to at will
}

// The globals of generated modules, by index. The first counts steps.
const (
	genSteps     = 0
	genFirst     = 1
	genMaxLocals = 60
)

var genGlobalTypes = []wasm.ValType{wasm.I32, wasm.I32, wasm.I64, wasm.F64, wasm.F32, wasm.V128}

// newGenerator gives a generator that a seed drives.
func newGenerator(seed uint64) *generator {
	r := rand.New(rand.NewPCG(seed, 0))
	return &generator{choice: r.IntN}
}

func (g *generator) one(n int) bool { return g.choice(n) == n-1 } // one time in n, and not for zeros

func (g *generator) typ() wasm.ValType { return g.pool[g.choice(len(g.pool))] }

func (g *generator) types(most int) []wasm.ValType {
	var ts []wasm.ValType
	for range g.choice(most + 1) {
		ts = append(ts, g.typ())
	}
	return ts
}

// inputs gives the types of a construct's parameters.
func (g *generator) inputs(most int) []wasm.ValType {
	if g.narrow {
		return nil
	}
	return g.types(most)
}

// outputs gives the types of a construct's results.
func (g *generator) outputs(most int) []wasm.ValType {
	if g.narrow {
		most = 1
	}
	return g.types(most)
}

// module writes a module.
func (g *generator) module() []byte {
	g.features()
	g.m = &wasm.Module{HasDataCount: true}
	g.imports()
	g.declare()
	g.segments()
	for f := range g.funcs {
		g.m.Code = append(g.m.Code, g.function(f))
	}
	g.nameFuncs()
	g.entry()
	g.dump()
	return wasm.Encode(g.m)
}

// features decides what the module is made of: few kinds of things make clearer failures.
func (g *generator) features() {
	g.pool = []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}
	for _, more := range [][]wasm.ValType{{wasm.I64, wasm.I64}, {wasm.F64}, {wasm.F32}, {wasm.V128}} {
		if g.choice(2) == 1 {
			g.pool = append(g.pool, more...)
		}
	}
	if g.refs = g.one(3) && !g.narrow; g.refs {
		g.pool = append(g.pool, wasm.FuncRef)
		if g.one(2) {
			g.pool = append(g.pool, wasm.ExternRef)
		}
	}
	g.rawNaN = g.one(2)
	g.memory = !g.one(12)
	if g.nans {
		g.pool = append(g.pool, wasm.I64, wasm.F64, wasm.F64, wasm.F32, wasm.F32)
		g.rawNaN, g.memory = true, true
	}
}

// typeIndex gives the index of a type, which it adds if need be.
func (g *generator) typeIndex(t wasm.FuncType) uint32 {
	i := slices.IndexFunc(g.m.Types, t.Equal)
	if i < 0 {
		i = len(g.m.Types)
		g.m.Types = append(g.m.Types, t)
	}
	return uint32(i)
}

// declare decides the types of the functions: few, so that several have the same.
func (g *generator) declare() {
	types := []wasm.FuncType{{Params: []wasm.ValType{wasm.I32, wasm.I64}, Results: []wasm.ValType{wasm.I32}}}
	for range 1 + g.choice(3) {
		types = append(types, wasm.FuncType{Params: g.types(3), Results: g.types(3)})
	}
	for k := range 2 + g.choice(5) {
		t := types[0]
		if k > 0 {
			t = types[g.choice(len(types))]
		}
		i := g.typeIndex(t)
		g.funcs = append(g.funcs, genFunc{t, i, g.choice(4) > 0})
		g.m.Funcs = append(g.m.Funcs, i)
	}
}

// index gives the index of a generated function, imports first.
func (g *generator) index(f int) uint32 { return uint32(len(g.m.Imports) + f) }

func (g *generator) function(f int) wasm.Code {
	fn := g.funcs[f]
	g.begin(f, fn.typ)
	for range g.choice(6) {
		g.newLocal(g.typ())
	}
	if g.one(10) { // many, so that frames are large
		for range 10 + g.choice(genMaxLocals-20) {
			g.newLocal(g.typ())
		}
	}
	g.budget = 20 + g.choice([]int{30, 60, 200}[g.choice(3)])
	if fn.guarded {
		g.takeStep()
		g.open(wasm.OpIf, nil, nil)
		for _, t := range fn.typ.Results {
			g.leaf(t)
		}
		g.op(wasm.OpReturn)
		g.die()
		g.end()
	}
	g.body(2 + g.choice(6))
	return g.finish()
}

// begin starts writing a function.
func (g *generator) begin(f int, t wasm.FuncType) {
	g.f, g.out, g.stack, g.scratch = f, nil, nil, map[wasm.ValType]uint32{}
	g.locals = append([]wasm.ValType(nil), t.Params...)
	g.params = len(t.Params)
	g.busy, g.secrets = map[uint32]bool{}, map[uint32]bool{}
	g.ctl = []genFrame{{op: wasm.OpReturn, label: t.Results, results: t.Results, free: true}}
	g.budget, g.floor = 0, 0
}

func (g *generator) finish() wasm.Code {
	g.seal()
	g.op(wasm.OpEnd)
	var decls []wasm.LocalDecl
	for _, t := range g.locals[g.params:] {
		decls = append(decls, wasm.LocalDecl{Count: 1, Type: t})
	}
	return wasm.Code{Locals: decls, Body: g.out}
}

func (g *generator) newLocal(t wasm.ValType) uint32 {
	g.locals = append(g.locals, t)
	return uint32(len(g.locals) - 1)
}

// local gives a local of a type, mostly one that has had another meaning.
func (g *generator) local(t wasm.ValType) uint32 {
	if len(g.locals) > 0 {
		from := g.choice(len(g.locals))
		for k := range g.locals {
			x := uint32((from + k) % len(g.locals))
			if g.locals[x] == t && !g.busy[x] {
				return x
			}
		}
	}
	return g.newLocal(t)
}

// scratchLocal gives a local that only instructions one after the other use.
func (g *generator) scratchLocal(t wasm.ValType) uint32 {
	x, ok := g.scratch[t]
	if !ok {
		x = g.newLocal(t)
		g.scratch[t] = x
	}
	g.busy[x], g.secrets[x] = true, true // what it holds may be a NaN of any bits
	return x
}

// entry writes the functions that are called from outside: run gives the module its steps and calls the first function.
func (g *generator) entry() {
	t := g.funcs[0].typ
	g.begin(0, t)
	steps := 10 + g.choice(60)
	if g.one(20) {
		steps *= 10 // deep enough for more frames than fit the memory that is borrowed for them
	}
	g.i32(uint32(steps))
	g.op(wasm.OpGlobalSet, genSteps)
	for x := range t.Params {
		g.op(wasm.OpLocalGet, uint32(x))
	}
	g.op(wasm.OpCall, g.index(0))
	g.push(t.Results...)
	g.export("run", t)
}

// export ends a function and exports it.
func (g *generator) export(name string, t wasm.FuncType) {
	g.m.Exports = append(g.m.Exports, wasm.Export{Name: name, Kind: wasm.FuncKind,
		Index: uint32(len(g.m.Imports) + len(g.m.Funcs))})
	g.m.Funcs = append(g.m.Funcs, g.typeIndex(t))
	g.m.Code = append(g.m.Code, g.finish())
}

// dump writes the function that shows what the module holds beside its memory.
func (g *generator) dump() {
	t := wasm.FuncType{Results: []wasm.ValType{wasm.I64}}
	g.begin(0, t)
	sum := g.newLocal(wasm.I64)
	add := func() {
		g.op(wasm.OpLocalGet, sum)
		g.i64(31)
		g.op(0x7e) // i64.mul
		g.op(wasm.OpI64Add)
		g.op(wasm.OpLocalSet, sum)
	}
	for k, t := range genGlobalTypes {
		g.op(wasm.OpGlobalGet, uint32(k))
		switch t {
		case wasm.I32:
			g.op(wasm.OpI64ExtendI32U)
		case wasm.F32:
			g.op(0xbc) // i32.reinterpret_f32
			g.op(wasm.OpI64ExtendI32U)
		case wasm.F64:
			g.op(0xbd) // i64.reinterpret_f64
		case wasm.V128:
			g.op(0xfd1d) // i64x2.extract_lane
			g.out = append(g.out, 1)
			add()
			g.op(wasm.OpGlobalGet, uint32(k))
			g.op(0xfd1d)
			g.out = append(g.out, 0)
		}
		add()
	}
	for k := range uint32(genNames) {
		g.i32(k)
		g.callName()
		g.op(wasm.OpI64ExtendI32U)
		add()
	}
	g.op(wasm.OpTableSize, 1)
	g.op(wasm.OpI64ExtendI32U)
	add()
	g.stack = nil
	g.op(wasm.OpLocalGet, sum)
	g.push(wasm.I64)
	g.export("dump", t)
}
