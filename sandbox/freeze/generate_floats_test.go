package freeze_test

import (
	"bytes"

	"godwit/sandbox/wasm"
)

// genFloat is what the generator needs of a type of floats.
type genFloat struct {
	typ, bits             wasm.ValType
	infinity              []byte
	add, sub, div, sqrt   wasm.Opcode
	constant, load, store wasm.Opcode
	toBits, fromBits      wasm.Opcode
	nan                   uint64 // the lowest bits of one
}

var genFloats = []genFloat{
	{wasm.F32, wasm.I32, []byte{0, 0, 0x80, 0x7f}, 0x92, 0x93, 0x95, 0x91, wasm.OpF32Const, wasm.OpF32Load,
		wasm.OpF32Store, 0xbc, 0xbe, 0x7f800000},
	{wasm.F64, wasm.I64, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 0xa0, 0xa1, 0xa3, 0x9f, wasm.OpF64Const, wasm.OpF64Load,
		wasm.OpF64Store, 0xbd, 0xbf, 0x7ff0000000000000},
}

// floats writes code in which NaNs are made, kept, moved and seen.
func (g *generator) floats() {
	if g.nans && g.one(4) {
		g.vectors()
		return
	}
	f := &genFloats[g.choice(len(genFloats))]
	if !g.has([]wasm.ValType{f.typ, f.bits}) {
		return
	}
	if g.choice(2) == 0 {
		g.storeGroup(f)
	} else {
		g.reused(f)
	}
}

// vectors writes a vector of NaNs in a local, and what looks at it as one of other lanes.
func (g *generator) vectors() {
	x := g.local(wasm.V128)
	adds := []wasm.Opcode{0xfde4, 0xfdf0} // of f32x4, f64x2
	infinities := [][]byte{bytes.Repeat(genFloats[0].infinity, 4), bytes.Repeat(genFloats[1].infinity, 2)}
	k := g.choice(len(adds))
	for _, sign := range []byte{0, 0x80} {
		g.op(wasm.OpV128Const)
		v := bytes.Clone(infinities[k])
		v[3+4*k] |= sign // of the first lane
		g.out = append(g.out, v...)
	}
	g.op(adds[k])
	g.op(wasm.OpLocalSet, x)
	g.polling()
	g.op(wasm.OpLocalGet, x)
	if g.choice(2) == 0 {
		g.op(wasm.OpLocalGet, x)
		g.op(adds[g.choice(len(adds))])
	}
	g.op(0xfd1d) // i64x2.extract_lane
	g.out = append(g.out, byte(g.choice(2)))
	g.push(wasm.I64)
	g.show(wasm.I64)
}

// nan writes a value that arithmetic makes, mostly a NaN, whose bits are the machine's choice.
func (g *generator) nan(f *genFloat) {
	t := f.typ
	number := func(b []byte) {
		g.op(f.constant)
		g.out = append(g.out, b...)
	}
	op := f.sub
	switch g.choice(5) {
	case 0:
		number(f.infinity)
		number(f.infinity)
	case 1:
		number(make([]byte, len(f.infinity)))
		number(make([]byte, len(f.infinity)))
		op = f.div
	case 2:
		g.leaf(t)
		g.leaf(t)
		g.pop(2)
		op = []wasm.Opcode{f.add, f.sub, f.div}[g.choice(3)]
	case 3:
		g.leaf(t)
		g.pop(1)
		op = f.sqrt
	case 4:
		number(f.infinity)
		g.leaf(t)
		g.pop(1)
		op = f.add
	}
	g.op(op)
	g.canonical(op, t)
	g.push(t)
}

// exactly writes a NaN whose bits mean something.
func (g *generator) exactly(f *genFloat) {
	if g.memory && g.one(3) {
		g.i32(uint32(g.choice(genMemory)))
		g.op(f.load, 0, 0)
	} else {
		g.payload(f)
	}
	g.push(f.typ)
}

// payload writes a NaN of some bits.
func (g *generator) payload(f *genFloat) {
	x := f.nan | uint64(1+g.choice(1<<20))
	if f.bits == wasm.I32 {
		g.i32(uint32(x) | uint32(g.choice(2))<<31)
	} else {
		g.i64(int64(x | uint64(g.choice(2))<<63))
	}
	g.op(f.fromBits)
}

// float writes a value of one sort or the other.
func (g *generator) float(f *genFloat) {
	switch g.choice(6) {
	case 0:
		g.exactly(f)
	case 1:
		g.leaf(f.typ)
	default:
		g.nan(f)
	}
}

// storeGroup writes stores one after the other, at places that may overlap or lie beyond the memory, with something
// between them or not.
func (g *generator) storeGroup(f *genFloat) {
	if !g.memory {
		return
	}
	n := 2 + g.choice(4)
	if g.one(8) {
		n = 12 // more than a group holds
	}
	base := uint32(g.choice(64))
	if g.one(30) {
		base = 1<<16 - 12
	}
	for range n {
		if g.one(12) {
			f = &genFloats[0]
			if !g.has([]wasm.ValType{f.typ, f.bits}) {
				f = &genFloats[1]
			}
		}
		g.i32(base + uint32(g.choice(20)))
		g.push(wasm.I32)
		g.float(f)
		if g.one(4) {
			x := g.local(f.typ)
			g.op(wasm.OpLocalTee, x)
		}
		g.op(f.store, 0, uint32(g.choice(3)))
		g.pop(2)
		g.between(f, base)
	}
}

// between writes what stands between two stores.
func (g *generator) between(f *genFloat, base uint32) {
	switch g.choice(12) {
	case 0: // it sees what was stored
		g.i32(base + uint32(g.choice(20)))
		g.op(f.load, 0, 0)
		g.push(f.typ)
		g.show(f.typ)
	case 1:
		g.float(f)
		g.pop(1)
		g.op(wasm.OpLocalSet, g.local(f.typ))
	case 2:
		g.leaf(wasm.I32)
		g.pop(1)
		g.op(wasm.OpGlobalSet, genFirst)
	case 3: // a trap, some time
		g.leaf(wasm.I32)
		g.leaf(wasm.I32)
		if !g.one(10) {
			g.i32(1)
			g.op(0x72) // i32.or
		}
		g.op(0x70) // i32.rem_u
		g.pop(2)
		g.op(wasm.OpLocalSet, g.local(wasm.I32))
	case 4:
		g.polling()
	case 5:
		g.i32(base + uint32(g.choice(20)))
		g.i32(uint32(g.choice(1 << 20)))
		g.op(wasm.OpI32Store, 0, 0)
	}
}

// reused writes a local that holds one thing and then another, on some ways, around loops and through frames.
func (g *generator) reused(f *genFloat) {
	x := g.local(f.typ)
	set := func() {
		g.float(f)
		g.pop(1)
		g.op(wasm.OpLocalSet, x)
	}
	for k := range 1 + g.choice(3) {
		if k > 0 || !g.nans || g.choice(2) == 0 { // or it holds what the caller gave, or what was before
			set()
		}
		switch g.choice(5) {
		case 0:
			g.polling()
		case 1:
			g.condition()
			g.pop(1)
			g.open(wasm.OpIf, nil, nil)
			set()
			g.polling()
			if g.choice(2) == 0 {
				g.otherwise(nil)
				set()
			}
			g.end()
		case 2:
			g.turns(f, x)
		}
		g.see(f, x)
	}
}

// turns writes a loop that makes something of a local's value in each turn, sees it before or after, or not at all.
func (g *generator) turns(f *genFloat, x uint32) {
	n := g.local(wasm.I32)
	g.i32(uint32(1 + g.choice(4)))
	g.op(wasm.OpLocalSet, n)
	g.busy[n] = true
	g.open(wasm.OpLoop, nil, nil)
	if g.one(3) {
		g.see(f, x)
	}
	g.op(wasm.OpLocalGet, x)
	g.leaf(f.typ)
	g.pop(1)
	op := []wasm.Opcode{f.add, f.sub, f.div}[g.choice(3)]
	g.op(op)
	g.canonical(op, f.typ)
	g.op(wasm.OpLocalSet, x)
	if g.one(3) {
		g.exactly(f)
		g.pop(1)
		g.op(wasm.OpLocalSet, g.local(f.typ)) // perhaps the same
	}
	g.goOn(n, true)
	g.op(wasm.OpBrIf, 0)
	g.end()
	delete(g.busy, n)
}

// see writes something that looks at the bits of a local's value.
func (g *generator) see(f *genFloat, x uint32) {
	switch n := g.choice(4); {
	case n == 0 && g.memory:
		g.i32(uint32(g.choice(genMemory)))
		g.op(wasm.OpLocalGet, x)
		g.op(f.store, 0, 0)
	case n == 1:
		g.op(wasm.OpLocalGet, x)
		g.op(f.toBits)
		g.push(f.bits)
		g.show(f.bits)
	case n == 2:
		g.op(wasm.OpLocalGet, x)
		g.push(f.typ)
		g.show(f.typ)
	}
}
