package freeze_test

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"godwit/sandbox/wasm"
)

// genOps lists the instructions that give a value of each type from operands alone.
var genOps = func() map[wasm.ValType][]wasm.Opcode {
	out := map[wasm.ValType][]wasm.Opcode{}
	for _, codes := range [][2]wasm.Opcode{{0x45, 0xc4}, {0xfc00, 0xfc07}, {0xfd0d, 0xfdff}} {
		for op := codes[0]; op <= codes[1]; op++ {
			if o, ok := op.Info(); ok && o.Fixed && len(o.Results) == 1 && o.Imm != wasm.ImmMem && o.Imm != wasm.ImmMemLane {
				out[o.Results[0]] = append(out[o.Results[0]], op)
			}
		}
	}
	return out
}()

// mayTrap says which of them trap for some operands.
func mayTrap(op wasm.Opcode) bool {
	name := op.String()
	return strings.Contains(name, ".div_") || strings.Contains(name, ".rem_") ||
		strings.Contains(name, ".trunc_f") && !strings.Contains(name, "x")
}

// expr writes an expression of a type. It leaves what is on the stack as it is.
func (g *generator) expr(t wasm.ValType) {
	floor := g.floor
	g.floor = len(g.stack)
	defer func() { g.floor = floor }()
	if g.budget--; g.budget < 0 {
		g.leaf(t)
		return
	}
	switch g.choice(13) {
	case 0, 1, 2:
		g.leaf(t)
	case 3, 4, 5:
		g.operation(t)
	case 6:
		g.load(t)
	case 7:
		g.expr(t)
		x := g.local(t)
		g.op(wasm.OpLocalTee, x)
	case 8:
		g.chooseBetween(t)
	case 9, 12:
		g.callFor(t)
	case 10: // a construct with a value, or more than one
		more := g.outputs(2)
		if g.narrow {
			more = nil
		}
		g.construct(nil, append([]wasm.ValType{t}, more...))
		g.discard(len(more))
	case 11:
		g.want(t, wasm.I32)
		g.op(wasm.OpDrop)
		g.pop(1)
	}
}

// leaf writes the simplest expressions: locals, globals, constants.
func (g *generator) leaf(t wasm.ValType) {
	defer g.push(t)
	if len(g.locals) > 0 && g.choice(4) > 0 {
		from := g.choice(len(g.locals))
		for k := range g.locals {
			if x := (from + k) % len(g.locals); g.locals[x] == t && !g.secrets[uint32(x)] {
				g.op(wasm.OpLocalGet, uint32(x))
				return
			}
		}
	}
	if g.one(4) {
		for k := genFirst; k < len(genGlobalTypes); k++ {
			if genGlobalTypes[k] == t {
				g.op(wasm.OpGlobalGet, uint32(k))
				return
			}
		}
	}
	g.constant(t)
}

func (g *generator) constant(t wasm.ValType) {
	if g.nans && (t == wasm.F32 || t == wasm.F64) && g.choice(2) == 0 {
		g.payload(&genFloats[slices.IndexFunc(genFloats, func(f genFloat) bool { return f.typ == t })])
		return
	}
	n := g.choice(200)
	switch t {
	case wasm.I32:
		g.i32([]uint32{uint32(n), uint32(n) % 4, 0, 1, math.MaxUint32, 1 << 31}[g.choice(6)])
	case wasm.I64:
		g.i64([]int64{int64(n), 0, -1, math.MinInt64, 1 << 40}[g.choice(5)])
	case wasm.F32:
		g.op(wasm.OpF32Const)
		b := math.Float32bits([]float32{float32(n) / 4, 0, float32(math.Inf(1)), -1e30}[g.choice(4)])
		g.out = append(g.out, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	case wasm.F64:
		g.op(wasm.OpF64Const)
		b := math.Float64bits([]float64{float64(n) / 4, 0, math.Inf(-1), 1e300}[g.choice(4)])
		for k := range 8 {
			g.out = append(g.out, byte(b>>(8*k)))
		}
	case wasm.V128:
		g.op(wasm.OpV128Const)
		g.out = append(g.out, bytes.Repeat([]byte{byte(n), 0, byte(n) >> 1, 1}, 4)...)
	case wasm.FuncRef:
		switch g.choice(3) {
		case 0:
			g.op(wasm.OpRefNull)
			g.out = append(g.out, byte(t))
		case 1:
			g.op(wasm.OpRefFunc, g.nameIndex())
		case 2:
			g.i32(uint32(g.choice(genNames)))
			g.op(wasm.OpTableGet, 1)
		}
	default:
		g.op(wasm.OpRefNull)
		g.out = append(g.out, byte(t))
	}
}

// nameIndex gives one of the functions that give their name.
func (g *generator) nameIndex() uint32 {
	if k := g.choice(genNameFunc + 1); k < genNameFunc {
		return g.index(len(g.funcs) + k)
	}
	return genWho
}

// operation writes an instruction that makes a value from operands.
func (g *generator) operation(t wasm.ValType) {
	ops := genOps[t]
	if len(ops) == 0 {
		g.leaf(t)
		return
	}
	op := ops[g.choice(len(ops))]
	if mayTrap(op) && !g.one(8) {
		op = ops[g.choice(4)] // the first ones do not
		if mayTrap(op) {
			g.leaf(t)
			return
		}
	}
	o, _ := op.Info()
	if t != wasm.V128 && !g.has(o.Params) { // keep to the kinds of values that this module has
		op = map[wasm.ValType]wasm.Opcode{wasm.I32: wasm.OpI32Add, wasm.I64: wasm.OpI64Sub, wasm.F32: 0x94, wasm.F64: 0xa0}[t]
		o, _ = op.Info()
	}
	g.want(o.Params...)
	g.pop(len(o.Params))
	g.op(op)
	switch o.Imm {
	case wasm.ImmLane:
		g.out = append(g.out, byte(g.choice(lanes(op))))
	case wasm.ImmShuffle:
		for range 16 {
			g.out = append(g.out, byte(g.choice(32)))
		}
	}
	g.canonical(op, t)
	g.push(t)
}

func (g *generator) has(ts []wasm.ValType) bool {
	for _, t := range ts {
		if !bytes.Contains(valBytes(g.pool), []byte{byte(t)}) {
			return false
		}
	}
	return true
}

func valBytes(ts []wasm.ValType) []byte {
	var out []byte
	for _, t := range ts {
		out = append(out, byte(t))
	}
	return out
}

// lanes says how many lanes an instruction's operand has.
func lanes(op wasm.Opcode) int {
	name := op.String()
	for _, n := range []struct {
		shape string
		lanes int
	}{{"8x16", 16}, {"16x8", 8}, {"32x4", 4}} {
		if strings.Contains(name, n.shape) {
			return n.lanes
		}
	}
	return 2
}

// canonical gives the NaN that an instruction may have made the bits that all engines give it, so that plain runs can
// be compared.
func (g *generator) canonical(op wasm.Opcode, t wasm.ValType) {
	name := op.String()
	if g.rawNaN || strings.Contains(name, "reinterpret") || strings.HasSuffix(name, "splat") ||
		strings.HasSuffix(name, "lane") {
		return
	}
	switch {
	case t == wasm.F32:
		x := g.scratchLocal(t)
		g.op(wasm.OpLocalTee, x)
		g.op(wasm.OpF32Const)
		g.out = append(g.out, 0, 0, 0xc0, 0x7f)
		g.same(x, wasm.OpF32Eq)
		g.op(wasm.OpSelect)
	case t == wasm.F64:
		x := g.scratchLocal(t)
		g.op(wasm.OpLocalTee, x)
		g.op(wasm.OpF64Const)
		g.out = append(g.out, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
		g.same(x, wasm.OpF64Eq)
		g.op(wasm.OpSelect)
	case strings.HasPrefix(name, "f32x4"), strings.HasPrefix(name, "f64x2"): // lanes that are none become 0
		x := g.scratchLocal(t)
		g.op(wasm.OpLocalTee, x)
		if strings.HasPrefix(name, "f32x4") {
			g.same(x, wasm.OpF32x4Eq)
		} else {
			g.same(x, wasm.OpF64x2Eq)
		}
		g.op(0xfd4e) // v128.and
	}
}

func (g *generator) same(x uint32, eq wasm.Opcode) {
	g.op(wasm.OpLocalGet, x)
	g.op(wasm.OpLocalGet, x)
	g.op(eq)
}

// chooseBetween writes a select.
func (g *generator) chooseBetween(t wasm.ValType) {
	g.want(t, t, wasm.I32)
	g.pop(3)
	if t.IsRef() || g.one(3) {
		g.op(wasm.OpSelectT, 1)
		g.out = append(g.out, byte(t))
	} else {
		g.op(wasm.OpSelect)
	}
	g.push(t)
}

// genMemory bounds most addresses.
const genMemory = 1 << 10

// address writes an address, nearly always one that a memory of one page has.
func (g *generator) address() {
	g.want(wasm.I32)
	if !g.one(60) {
		g.i32(genMemory - 1)
		g.op(0x71) // i32.and
	}
}

var genLoads = map[wasm.ValType][]wasm.Opcode{
	wasm.I32: {wasm.OpI32Load, 0x2c, 0x2d, 0x2e, 0x2f}, wasm.I64: {wasm.OpI64Load, 0x30, 0x33, 0x34, 0x35},
	wasm.F32: {wasm.OpF32Load}, wasm.F64: {wasm.OpF64Load}, wasm.V128: {wasm.OpV128Load, 0xfd01, 0xfd07, 0xfd5c},
}

var genStores = map[wasm.ValType][]wasm.Opcode{
	wasm.I32: {wasm.OpI32Store, 0x3a, 0x3b}, wasm.I64: {wasm.OpI64Store, 0x3c, 0x3d, 0x3e},
	wasm.F32: {wasm.OpF32Store}, wasm.F64: {wasm.OpF64Store}, wasm.V128: {wasm.OpV128Store},
}

func (g *generator) load(t wasm.ValType) {
	ops := genLoads[t]
	if len(ops) == 0 || !g.memory {
		g.leaf(t)
		return
	}
	g.address()
	g.pop(1)
	g.op(ops[g.choice(len(ops))], 0, uint32(g.choice(40)))
	g.push(t)
}

func (g *generator) store(t wasm.ValType) {
	ops := genStores[t]
	if len(ops) == 0 || !g.memory {
		g.setLocal(t)
		return
	}
	g.address()
	g.expr(t)
	g.pop(2)
	g.op(ops[g.choice(len(ops))], 0, uint32(g.choice(40)))
}

func (g *generator) setLocal(t wasm.ValType) {
	g.want(t)
	g.pop(1)
	g.op(wasm.OpLocalSet, g.local(t))
}

// callFor writes a call that gives a value of the type, if there is such a function.
func (g *generator) callFor(t wasm.ValType) {
	from := g.choice(len(g.funcs))
	for k := range g.funcs {
		f := (from + k) % len(g.funcs)
		rs := g.funcs[f].typ.Results
		if len(rs) > 0 && rs[0] == t && g.mayCall(f) {
			g.call(f)
			g.discard(len(rs) - 1)
			return
		}
	}
	if t == wasm.I32 && g.one(2) {
		g.hostCall(genWho)
		return
	}
	g.leaf(t)
}
