package freeze

import "godwit/sandbox/wasm"

// The bits of a NaN that arithmetic makes are the machine's choice, the rest of WebAssembly is exact. The
// pass makes them one pattern, but only where they can be seen: a NaN that goes straight into more
// arithmetic or a comparison is not seen. A value is "dirty" from the arithmetic that made it until it is
// canonicalised; what looks at bits (a store, a call, a branch's value, a frame) observes it. Moves keep
// bits exactly, so a value that was only loaded and stored must not be touched.
//
// Locals are judged whole: one that only ever holds arithmetic results (and constants that are no NaN) may
// hold dirty values and is canonicalised where it is observed, which keeps accumulators in loops free;
// any other local is given canonical values only.

// shape says which lanes of a value a NaN would be in.
type shape byte

const (
	noShape shape = iota
	shapeF32
	shapeF64
	shapeF32x4
	shapeF64x2
)

// origin says where an operand's bits come from, for the instruction that produced it.
type origin struct {
	kind  originKind
	shape shape
	local uint32
}

type originKind byte

const (
	exact  originKind = iota // bits that mean something: loads, parameters, calls
	number                   // surely not a NaN
	result                   // arithmetic
	aLocal                   // whatever the local holds
)

// use is an observation or definition that waits for the judgement on locals.
type use struct {
	from  int32  // the producer of the value
	local uint32 // the local that the value was read from, if read
	into  int32  // the local it is put into; -1 if it is observed
}

// flows collects, while a body is read, where values go.
type flows struct {
	origins map[int32]origin // producers that are not exact
	defs    []def
	uses    []use
	dirty   map[uint32]shape // locals that may hold dirty values
}

// def is one value put into a local.
type def struct {
	into uint32
	from int32 // producer, -1 for a parameter's initial value
	origin
}

func (w *flows) isDirty(x uint32) bool { return w.dirty[x] != noShape }

// arithmetic gives the shape of the result of an instruction whose NaN bits are the machine's choice.
func arithmetic(op wasm.Opcode) shape {
	switch {
	case op >= 0x8d && op <= 0x91, op >= 0x92 && op <= 0x97, op == 0xb6: // f32 ceil..sqrt, add..max, demote
		return shapeF32
	case op >= 0x9b && op <= 0x9f, op >= 0xa0 && op <= 0xa5, op == 0xbb: // f64 the same, promote
		return shapeF64
	case op>>8 != 0xfd:
		return noShape
	}
	switch s := op & 0xff; {
	case s == 94, s >= 103 && s <= 106, s == 227, s >= 228 && s <= 233:
		return shapeF32x4
	case s == 95, s == 116, s == 117, s == 122, s == 148, s == 239, s >= 240 && s <= 245:
		return shapeF64x2
	}
	return noShape
}

// blind gives the shape that an instruction reads without seeing a NaN's bits.
func blind(op wasm.Opcode) shape {
	switch {
	case op == 0xb6: // demote
		return shapeF64
	case op == 0xbb: // promote
		return shapeF32
	case op >= 0x5b && op <= 0x60, op == 0xa8, op == 0xa9, op == 0xae, op == 0xaf,
		op == 0xfc00, op == 0xfc01, op == 0xfc04, op == 0xfc05: // compare, truncate
		return shapeF32
	case op >= 0x61 && op <= 0x66, op == 0xaa, op == 0xab, op == 0xb0, op == 0xb1,
		op == 0xfc02, op == 0xfc03, op == 0xfc06, op == 0xfc07:
		return shapeF64
	case op == 0xfd00+94:
		return shapeF64x2
	case op == 0xfd00+95:
		return shapeF32x4
	case op >= 0xfd00+65 && op <= 0xfd00+70, op == 0xfd00+248, op == 0xfd00+249:
		return shapeF32x4
	case op >= 0xfd00+71 && op <= 0xfd00+76, op == 0xfd00+252, op == 0xfd00+253:
		return shapeF64x2
	}
	return arithmetic(op)
}

// shapeOf gives the shape of all values of a type; v128 has none of its own.
func shapeOf(t wasm.ValType) shape {
	switch t {
	case wasm.F32:
		return shapeF32
	case wasm.F64:
		return shapeF64
	}
	return noShape
}

// isNumber reports whether the result of an instruction is surely no NaN.
func (f *function) isNumber(i *ins) bool {
	switch {
	case i.op == wasm.OpF32Const:
		return i.bits&0x7fffffff <= 0x7f800000
	case i.op == wasm.OpF64Const:
		return i.bits&(1<<63-1) <= 0x7ff0000000000000
	}
	return i.op >= 0xb2 && i.op <= 0xb5 || i.op >= 0xb7 && i.op <= 0xba // convert
}

// origin gives an operand's origin; reading a float or vector local is an origin too.
func (f *function) origin(v value) origin {
	if v.from >= 0 && int(v.from) < len(f.ins) {
		if i := &f.ins[v.from]; (i.op == wasm.OpLocalGet || i.op == wasm.OpLocalTee) && isFloat(v.typ) {
			return origin{kind: aLocal, shape: shapeOf(v.typ), local: i.a}
		}
	}
	return f.flows.origins[v.from]
}

func isFloat(t wasm.ValType) bool { return t == wasm.F32 || t == wasm.F64 || t == wasm.V128 }

// flow takes in an instruction with fixed types: what it observes and what it makes.
func (f *function) flow(at int32, info *wasm.Op) {
	if f.p.Options.KeepNaNs {
		return
	}
	i := &f.ins[at]
	sees := blind(i.op)
	for k, t := range info.Params {
		if !isFloat(t) {
			continue
		}
		v := f.top(len(info.Params) - 1 - k)
		if sees != noShape {
			// Blind to a NaN of its own shape; a vector of another shape is observed.
			if o := f.origin(v); o.kind != aLocal && (o.kind != result || o.shape == sees) || t != wasm.V128 {
				continue
			}
			f.readAs(v, sees)
			continue
		}
		f.observeValue(v)
	}
	if s := arithmetic(i.op); s != noShape {
		f.hasNaNs = true
		f.setOrigin(at, origin{kind: result, shape: s})
	} else if f.isNumber(i) {
		f.setOrigin(at, origin{kind: number})
	}
}

func (f *function) setOrigin(at int32, o origin) {
	if f.flows.origins == nil {
		f.flows.origins = map[int32]origin{}
	}
	f.flows.origins[at] = o
}

// readAs takes in a vector read by an instruction that is blind to NaNs of one shape.
func (f *function) readAs(v value, s shape) {
	if o := f.origin(v); o.kind == result {
		f.ins[v.from].canon = true
	} else if o.kind == aLocal {
		f.flows.uses = append(f.flows.uses, use{from: v.from, local: o.local, into: -1 - int32(s)})
	}
}

// observe takes in that the bits of the n topmost operands are seen.
func (f *function) observe(n int) {
	for k := range n {
		v := f.top(k)
		f.observeValue(v)
	}
}

func (f *function) observeValue(v value) {
	if !isFloat(v.typ) || f.p.Options.KeepNaNs {
		return
	}
	switch o := f.origin(v); o.kind {
	case result:
		f.ins[v.from].canon = true
	case aLocal:
		f.flows.uses = append(f.flows.uses, use{from: v.from, local: o.local, into: -1})
	}
}

// defines takes in that the topmost operand is put into a local.
func (f *function) defines(x uint32) {
	v := f.top(0)
	if isFloat(v.typ) && !f.p.Options.KeepNaNs {
		f.flows.defs = append(f.flows.defs, def{x, v.from, f.origin(v)})
	}
}

// settleNaNs judges the locals and then marks the producers that must canonicalise.
func (f *function) settleNaNs() {
	w := &f.flows
	if !f.hasNaNs {
		w.origins, w.defs, w.uses = nil, nil, nil
		return
	}
	w.judge(len(f.typ.Params))
	for _, d := range w.defs {
		into := w.dirty[d.into]
		switch {
		case into != noShape && (d.kind != aLocal || w.dirty[d.local] == into || w.dirty[d.local] == noShape):
		case d.kind == result:
			f.ins[d.from].canon = true
		case d.kind == aLocal && w.dirty[d.local] != noShape:
			f.ins[d.from].canon = true
		}
	}
	for _, u := range w.uses {
		if s := w.dirty[u.local]; s != noShape && u.into != -1-int32(s) {
			f.ins[u.from].canon = true
		}
	}
	for at := range f.ins {
		if i := &f.ins[at]; i.canon && (i.op == wasm.OpLocalGet || i.op == wasm.OpLocalTee) {
			i.canon = w.dirty[i.a] != noShape
		}
	}
}

// judge finds the locals that may hold dirty values: those into which only arithmetic of one shape, numbers
// and other such locals are put. It starts from all that any arithmetic is put into and takes away.
func (w *flows) judge(params int) {
	w.dirty = map[uint32]shape{}
	for round, changed := 0, true; changed && round < judgeRounds; round++ { // what arithmetic can reach
		changed = false
		for _, d := range w.defs {
			s := d.shape
			if d.kind == aLocal {
				s = w.dirty[d.local]
			}
			if (d.kind == result || d.kind == aLocal) && s != noShape && int(d.into) >= params && w.dirty[d.into] == noShape {
				w.dirty[d.into] = s
				changed = true
			}
		}
	}
	for round, changed := 0, true; changed; round++ {
		changed = false
		for _, d := range w.defs {
			s, have := w.dirty[d.into]
			if !have {
				continue
			}
			ok := d.kind == number || d.kind == result && d.shape == s || d.kind == aLocal && w.dirty[d.local] == s
			if !ok {
				delete(w.dirty, d.into)
				changed = true
			}
		}
		if round == judgeRounds {
			clear(w.dirty) // correct, if slower for the guest
			return
		}
	}
}

// judgeRounds bounds the passes over a function's definitions; copies of copies beyond it are not followed.
const judgeRounds = 20

// canon makes the value on the stack, of the shape that op's result has, canonical.
func (e *emitter) canon(s shape) {
	var t wasm.ValType
	switch s {
	case shapeF32:
		t = wasm.F32
	case shapeF64:
		t = wasm.F64
	case shapeF32x4, shapeF64x2:
		t = wasm.V128
	default:
		return
	}
	x := e.f.local(scratchNaN, t)
	e.localOp(wasm.OpLocalTee, x)
	switch s {
	case shapeF32:
		e.op(wasm.OpF32Const)
		e.out = append(e.out, 0, 0, 0xc0, 0x7f)
	case shapeF64:
		e.op(wasm.OpF64Const)
		e.out = append(e.out, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
	case shapeF32x4:
		e.op(wasm.OpV128Const)
		for range 4 {
			e.out = append(e.out, 0, 0, 0xc0, 0x7f)
		}
	case shapeF64x2:
		e.op(wasm.OpV128Const)
		for range 2 {
			e.out = append(e.out, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
		}
	}
	e.localOp(wasm.OpLocalGet, x)
	e.localOp(wasm.OpLocalGet, x)
	switch s {
	case shapeF32:
		e.op(wasm.OpF32Eq)
	case shapeF64:
		e.op(wasm.OpF64Eq)
	case shapeF32x4:
		e.op(wasm.OpF32x4Eq)
	case shapeF64x2:
		e.op(wasm.OpF64x2Eq)
	}
	if t == wasm.V128 {
		e.op(wasm.OpV128Bitselect)
	} else {
		e.choose(t)
	}
}
