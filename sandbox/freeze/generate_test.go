package freeze_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"
)

// generator writes valid modules that end: functions call only those after them (or themselves, a bounded number of
// times), and loops count down. What it writes is decided by choice, so that both rapid and the fuzzer can drive it.
type generator struct {
	choice  func(n int) int // 0 <= choice(n) < n
	types   []wasm.FuncType
	funcs   []uint32
	out     []byte
	locals  []wasm.ValType
	f       int            // function being written
	labels  []wasm.ValType // what a branch to each open construct carries; 0 for nothing, 1 not to be branched to
	budget  int
	counter uint32 // first of the locals that count loops
	loops   uint32
}

const (
	genGlobals  = 3 // i32, i64, f64
	genCounters = 6
	genMemory   = 1 << 10 // addresses used
	genDepth    = 3       // of recursion
)

var genTypes = []wasm.ValType{wasm.I32, wasm.I64, wasm.F64, wasm.F32, wasm.V128}

func (g *generator) op(op wasm.Opcode, idx ...uint32) {
	g.out = wasm.AppendOp(g.out, op)
	for _, i := range idx {
		g.out = wasm.AppendUnsigned(g.out, uint64(i))
	}
}

func (g *generator) typ() wasm.ValType { return genTypes[g.choice(len(genTypes))] }

func (g *generator) module() []byte {
	n := 2 + g.choice(4)
	for range n {
		t := wasm.FuncType{Params: []wasm.ValType{wasm.I32}}
		for range g.choice(3) {
			t.Params = append(t.Params, g.typ())
		}
		for range g.choice(3) {
			t.Results = append(t.Results, g.typ())
		}
		g.types = append(g.types, t)
		g.funcs = append(g.funcs, uint32(len(g.types)-1))
	}
	m := &wasm.Module{Funcs: g.funcs, Memories: []wasm.Limits{{Min: 1, Max: 2, HasMax: true}},
		Tables: []wasm.TableType{{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: uint32(n)}}}, HasDataCount: true,
		Data: []wasm.Data{{Mode: wasm.Passive, Bytes: []byte("some bytes to copy")}},
		Globals: []wasm.Global{
			{Type: wasm.GlobalType{Type: wasm.I32, Mutable: true}, Init: wasm.ConstExpr{Op: wasm.OpI32Const, Bits: 7}},
			{Type: wasm.GlobalType{Type: wasm.I64, Mutable: true}, Init: wasm.ConstExpr{Op: wasm.OpI64Const, Bits: 9}},
			{Type: wasm.GlobalType{Type: wasm.F64, Mutable: true}, Init: wasm.ConstExpr{Op: wasm.OpF64Const, Bits: math.Float64bits(2.5)}},
		}}
	e := wasm.Element{Type: wasm.FuncRef, Offset: wasm.ConstExpr{Op: wasm.OpI32Const}}
	for f := range n {
		e.Init = append(e.Init, wasm.ConstExpr{Op: wasm.OpRefFunc, Bits: uint64(f)})
	}
	m.Elements = []wasm.Element{e}
	for f := range n {
		m.Code = append(m.Code, g.function(f))
	}
	m.Types = g.types
	m.Exports = []wasm.Export{{Name: "run", Kind: wasm.FuncKind}, {Name: "memory", Kind: wasm.MemoryKind}}
	return wasm.Encode(m)
}

func (g *generator) function(f int) wasm.Code {
	t := g.types[f]
	g.f, g.out, g.labels, g.budget, g.loops = f, nil, nil, 40+g.choice(80), 0
	g.locals = append([]wasm.ValType(nil), t.Params...)
	var decls []wasm.LocalDecl
	for range g.choice(5) {
		decls = append(decls, wasm.LocalDecl{Count: 1, Type: g.typ()})
		g.locals = append(g.locals, decls[len(decls)-1].Type)
	}
	g.counter = uint32(len(g.locals))
	decls = append(decls, wasm.LocalDecl{Count: genCounters, Type: wasm.I32})
	for range 2 + g.choice(5) {
		g.statement(3)
	}
	for _, r := range t.Results {
		g.expr(r, 3)
	}
	g.op(wasm.OpEnd)
	return wasm.Code{Locals: decls, Body: g.out}
}

func (g *generator) i32(x uint32) {
	g.op(wasm.OpI32Const)
	g.out = wasm.AppendSigned(g.out, int64(int32(x)))
}

func (g *generator) block(op wasm.Opcode, bt int32, label wasm.ValType) {
	g.op(op)
	g.out = wasm.AppendBlockType(g.out, bt)
	g.labels = append(g.labels, label)
}

func (g *generator) end() {
	g.op(wasm.OpEnd)
	g.labels = g.labels[:len(g.labels)-1]
}

// newType gives the index of a block type with parameters.
func (g *generator) newType(t wasm.FuncType) int32 {
	g.types = append(g.types, t)
	return int32(len(g.types) - 1)
}

func (g *generator) address() {
	g.expr(wasm.I32, 1)
	g.i32(genMemory - 1)
	g.op(0x71) // i32.and
}

func (g *generator) statement(depth int) {
	if g.budget--; g.budget < 0 || depth == 0 {
		g.op(wasm.OpNop)
		return
	}
	switch g.choice(12) {
	case 0, 1:
		x := uint32(g.choice(len(g.locals)))
		if x == 0 {
			return // the depth of recursion is left alone
		}
		g.expr(g.locals[x], depth)
		g.op(wasm.OpLocalSet, x)
	case 2:
		g.address()
		g.store(g.typ(), depth)
	case 3, 4, 5:
		g.loop(depth)
	case 6:
		g.expr(wasm.I32, depth-1)
		g.block(wasm.OpIf, wasm.BlockVoid, 0)
		g.statement(depth - 1)
		if g.choice(2) == 0 {
			g.op(wasm.OpElse)
			g.statement(depth - 1)
		}
		g.end()
	case 7:
		g.callDrop(depth)
	case 8:
		k := g.choice(genGlobals)
		g.expr(genTypes[k], depth)
		g.op(wasm.OpGlobalSet, uint32(k))
	case 9:
		g.blockTable(depth)
	case 10:
		g.bulk()
	case 11: // leave an enclosing construct
		for d := len(g.labels) - 1; d >= 0; d-- {
			if g.labels[d] == 0 && g.choice(2) == 0 {
				g.expr(wasm.I32, 1)
				g.op(wasm.OpBrIf, uint32(len(g.labels)-1-d))
				return
			}
		}
	}
}

func (g *generator) store(t wasm.ValType, depth int) {
	g.expr(t, depth)
	switch t {
	case wasm.I32:
		g.op(wasm.OpI32Store, 0, 3)
	case wasm.I64:
		g.op(wasm.OpI64Store, 0, 5)
	case wasm.F32:
		g.op(wasm.OpF32Store, 0, 7)
	case wasm.F64:
		g.op(wasm.OpF64Store, 0, 9)
	default:
		g.op(wasm.OpV128Store, 0, 11)
	}
}

// bulk writes a bulk memory, table or segment instruction.
func (g *generator) bulk() {
	switch g.choice(6) {
	case 0:
		g.address()
		g.expr(wasm.I32, 1)
		g.i32(uint32(g.choice(40)))
		g.op(wasm.OpMemoryFill, 0)
	case 1:
		g.address()
		g.address()
		g.i32(uint32(g.choice(40)))
		g.op(wasm.OpMemoryCopy, 0, 0)
	case 2:
		g.address()
		g.i32(uint32(g.choice(10)))
		g.i32(uint32(g.choice(10)))
		g.op(wasm.OpMemoryInit, 0, 0)
	case 3:
		if g.choice(4) == 0 {
			g.op(wasm.OpDataDrop, 0)
		}
	case 4: // entries keep their places' types: functions of one type only are exchanged
		f := uint32(g.choice(len(g.funcs)))
		g.i32(f)
		g.op(wasm.OpRefFunc, f)
		g.op(wasm.OpTableSet, 0)
	case 5:
		g.i32(uint32(g.choice(2)))
		g.op(wasm.OpMemoryGrow, 0)
		g.op(wasm.OpDrop)
	}
}

// loop writes a loop that goes round a few times, with or without values carried round.
func (g *generator) loop(depth int) {
	if g.loops >= genCounters {
		return
	}
	n := g.counter + g.loops
	g.loops++
	g.i32(uint32(1 + g.choice(4)))
	g.op(wasm.OpLocalSet, n)
	carried := g.choice(3) == 0
	var t wasm.ValType
	if carried {
		t = g.typ()
		g.expr(t, 1)
		g.block(wasm.OpLoop, g.newType(wasm.FuncType{Params: []wasm.ValType{t}, Results: []wasm.ValType{t}}), 1)
	} else {
		g.block(wasm.OpLoop, wasm.BlockVoid, 1)
	}
	for range 1 + g.choice(2) {
		g.statement(depth - 1)
	}
	g.op(wasm.OpLocalGet, n)
	g.i32(1)
	g.op(wasm.OpI32Sub)
	g.op(wasm.OpLocalTee, n)
	if g.choice(2) == 0 && !carried { // through a br_table
		g.op(wasm.OpI32Eqz)
		g.block(wasm.OpBlock, g.newType(wasm.FuncType{Params: []wasm.ValType{wasm.I32}}), 1)
		g.op(wasm.OpBrTable, 1, 1, 0)
		g.end()
	} else {
		g.op(wasm.OpBrIf, 0)
	}
	g.end()
	if carried {
		g.op(wasm.OpDrop)
	}
}

// blockTable writes nested blocks left by br_table.
func (g *generator) blockTable(depth int) {
	n := 1 + g.choice(3)
	for range n {
		g.block(wasm.OpBlock, wasm.BlockVoid, 0)
	}
	g.expr(wasm.I32, 1)
	g.op(wasm.OpBrTable, uint32(n-1))
	for k := range n {
		g.out = wasm.AppendUnsigned(g.out, uint64(k))
	}
	for range n {
		g.end()
		g.statement(depth - 1)
	}
}

// call writes a call and gives the results it leaves, or false.
func (g *generator) call(depth int) ([]wasm.ValType, bool) {
	callee := g.f + g.choice(len(g.funcs)-g.f)
	t := g.types[callee]
	if callee == g.f { // only as deep as the first parameter says
		g.op(wasm.OpLocalGet, 0)
		g.i32(genDepth)
		g.op(0x71) // i32.and
		g.block(wasm.OpIf, wasm.BlockVoid, 0)
		g.op(wasm.OpLocalGet, 0)
		g.i32(genDepth)
		g.op(0x71)
		g.i32(1)
		g.op(wasm.OpI32Sub)
	} else {
		g.i32(uint32(g.choice(3)))
	}
	for _, p := range t.Params[1:] {
		g.expr(p, depth-1)
	}
	if g.choice(2) == 0 {
		g.op(wasm.OpCall, uint32(callee))
	} else {
		g.i32(uint32(callee))
		g.op(wasm.OpCallIndirect, g.funcs[callee], 0)
	}
	if callee == g.f {
		for range t.Results {
			g.op(wasm.OpDrop)
		}
		g.end()
		return nil, true
	}
	return t.Results, true
}

func (g *generator) callDrop(depth int) {
	if depth <= 1 {
		return
	}
	ts, _ := g.call(depth)
	for range ts {
		g.op(wasm.OpDrop)
	}
}

// expr writes an expression of a type.
func (g *generator) expr(t wasm.ValType, depth int) {
	if g.budget--; g.budget < 0 || depth <= 0 {
		g.leaf(t)
		return
	}
	switch g.choice(9) {
	case 0, 1:
		g.leaf(t)
	case 2, 3:
		g.expr(t, depth-1)
		g.expr(t, depth-1)
		g.op(map[wasm.ValType][]wasm.Opcode{
			wasm.I32: {0x6a, 0x6b, 0x6c, 0x73}, wasm.I64: {0x7c, 0x7d, 0x7e, 0x85},
			wasm.F32: {0x92, 0x93, 0x94, 0x95}, wasm.F64: {0xa0, 0xa1, 0xa2, 0xa3},
			wasm.V128: {0xfde4, 0xfdf0, 0xfd51, 0xfdae},
		}[t][g.choice(4)])
	case 4: // operands below a call
		g.expr(t, depth-1)
		g.callDrop(depth)
	case 5:
		g.expr(wasm.I32, depth-1)
		g.block(wasm.OpIf, -int32(t), t)
		g.expr(t, depth-1)
		g.op(wasm.OpElse)
		g.expr(t, depth-1)
		g.end()
	case 6: // a block with a parameter, left by a branch or not
		u := g.typ()
		g.expr(t, depth-1)
		g.expr(u, depth-1)
		g.block(wasm.OpBlock, g.newType(wasm.FuncType{Params: []wasm.ValType{t, u}, Results: []wasm.ValType{t}}), t)
		g.op(wasm.OpDrop)
		g.statement(depth - 1)
		g.expr(wasm.I32, 1)
		g.op(wasm.OpBrIf, 0)
		g.end()
	case 7:
		g.expr(t, depth-1)
		g.expr(t, depth-1)
		g.expr(wasm.I32, depth-1)
		g.op(wasm.OpSelect)
	case 8:
		g.load(t)
	}
}

func (g *generator) load(t wasm.ValType) {
	g.address()
	switch t {
	case wasm.I32:
		g.op(wasm.OpI32Load, 0, 1)
	case wasm.I64:
		g.op(wasm.OpI64Load, 0, 2)
	case wasm.F32:
		g.op(wasm.OpF32Load, 0, 4)
	case wasm.F64:
		g.op(wasm.OpF64Load, 0, 6)
	default:
		g.op(wasm.OpV128Load, 0, 8)
	}
}

func (g *generator) leaf(t wasm.ValType) {
	for k := range g.locals {
		x := (k + g.choice(len(g.locals))) % len(g.locals)
		if g.locals[x] == t {
			g.op(wasm.OpLocalGet, uint32(x))
			return
		}
	}
	n := uint64(g.choice(200))
	switch t {
	case wasm.I32:
		g.i32(uint32(n))
	case wasm.I64:
		g.op(wasm.OpGlobalGet, 1)
	case wasm.F32:
		g.op(wasm.OpF32Const)
		g.out = append(g.out, 0, 0, byte(n), 0x40)
	case wasm.F64:
		g.op(wasm.OpGlobalGet, 2)
	default:
		g.op(wasm.OpV128Const)
		g.out = append(g.out, bytes.Repeat([]byte{byte(n)}, 16)...)
	}
}

// checkGenerated compares plain, instrumented and tortured runs of a module, and counts the unwinds.
func checkGenerated(t interface{ Fatalf(string, ...any) }, rt wazero.Runtime, host *freeze.Host, b []byte) (unwinds int) {
	ctx := context.Background()
	plain, err := rt.Instantiate(ctx, b)
	if err != nil {
		t.Fatalf("the generated module is not valid: %v", err)
	}
	defer plain.Close(ctx)
	f := plain.ExportedFunction("run")
	args := []uint64{5}
	for _, p := range f.Definition().ParamTypes()[1:] {
		if args = append(args, 0); p == 0x7b {
			args = append(args, 0)
		}
	}
	want, errP := f.Call(ctx, args...)
	memory, _ := plain.Memory().Read(0, plain.Memory().Size())
	for _, o := range []freeze.Options{{KeepNaNs: true}, {}} {
		prog, err := freeze.Instrument(b, o)
		if err != nil {
			t.Fatalf("%v", err)
		}
		c, err := rt.CompileModule(ctx, prog.Wasm)
		if err != nil {
			t.Fatalf("instrumented module: %v", err)
		}
		defer c.Close(ctx)
		fuel := uint64(0)
		for _, torture := range []int{0, 1} {
			m, err := host.Instantiate(ctx, prog, c, freeze.Config{TortureEvery: torture, TortureMost: 500})
			if err != nil {
				t.Fatalf("%v", err)
			}
			defer m.Close(ctx)
			got, errF := m.Call(ctx, "run", args...)
			if !o.KeepNaNs && torture == 0 { // what follows must agree with canonical NaNs, the first runs had none
				want, errP, memory = got, errF, bytes.Clone(m.Memory())
			}
			if reason(errP) != reason(errF) {
				t.Fatalf("plain: %v; instrumented, torture %d: %v", errP, torture, errF)
			}
			if errP == nil && !sameResults(want, got, f.Definition().ResultTypes()) {
				t.Fatalf("plain: %x; instrumented, torture %d: %x", want, torture, got)
			}
			if torture == 0 {
				fuel = m.Fuel()
			}
			if !bytes.Equal(memory, m.Memory()) {
				t.Fatalf("memory differs, torture %d, options %+v", torture, o)
			}
			if fuel != m.Fuel() {
				t.Fatalf("fuel %d, tortured %d", fuel, m.Fuel())
			}
			unwinds += m.Stats().Unwinds
		}
		if errP != nil {
			continue
		}
		m, got := hopGenerated(t, host, prog, c, args, fuel)
		defer m.Close(ctx)
		if !sameResults(want, got, f.Definition().ResultTypes()) || !bytes.Equal(memory, m.Memory()) || m.Fuel() != fuel {
			t.Fatalf("after hops: %x, want %x; same memory: %t; fuel %d, want %d", got, want, bytes.Equal(memory, m.Memory()), m.Fuel(), fuel)
		}
	}
	return unwinds
}

// hopGenerated runs a module to its end through five instances.
func hopGenerated(t interface{ Fatalf(string, ...any) }, host *freeze.Host, prog *freeze.Program, c wazero.CompiledModule, args []uint64, fuel uint64) (*freeze.Machine, []uint64) {
	ctx := context.Background()
	m, err := host.Instantiate(ctx, prog, c, freeze.Config{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	m.FreezeAt(max(1, fuel/5))
	got, err := m.Call(ctx, "run", args...)
	for hop := uint64(2); errors.Is(err, freeze.ErrFrozen); hop++ {
		state, err2 := m.State(ctx)
		if err2 != nil {
			t.Fatalf("%v", err2)
		}
		memory := bytes.Clone(m.Memory())
		m.Close(ctx)
		if m, err = host.Restore(ctx, prog, c, freeze.Config{}, state, func(put func(uint64, []byte) error) error { return put(0, memory) }); err != nil {
			t.Fatalf("%v", err)
		}
		if hop < 5 {
			m.FreezeAt(max(state.Fuel+1, fuel*hop/5))
		}
		got, err = m.Resume(ctx)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m, got
}

func genRuntime(t testing.TB) (wazero.Runtime, *freeze.Host) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	host, err := freeze.NewHost(ctx, rt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close(ctx) })
	return rt, host
}

func TestGeneratedModulesSurvive(t *testing.T) {
	unwinds, most := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := &generator{choice: func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "c") }}
		w, host := genRuntime(t)
		defer w.Close(context.Background())
		n := checkGenerated(rt, w, host, g.module())
		unwinds, most = unwinds+n, max(most, n)
	})
	t.Logf("%d unwinds, at most %d in one module", unwinds, most)
	if unwinds == 0 {
		t.Error("no module was unwound")
	}
}

func FuzzGenerated(f *testing.F) {
	f.Add([]byte("a seed that is long enough to make something of: 0123456789"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &generator{choice: func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}}
		rt, host := genRuntime(t)
		checkGenerated(t, rt, host, g.module())
	})
}
