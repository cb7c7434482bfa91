package freeze

import (
	"encoding/binary"

	"godwit/sandbox/wasm"
)

// The bits of a NaN that arithmetic makes are the machine's choice, the rest of WebAssembly is exact. The
// pass makes them one pattern, but only where they can be seen: a NaN that goes straight into more
// arithmetic or a comparison is not seen. A value is "dirty" from the arithmetic that made it until it is
// canonicalised; what looks at bits (a store, a call, a branch's value, a frame) observes it. Moves keep
// bits exactly, so a value that was only loaded and stored must not be touched.
//
// What is put into locals is judged by webs (web.go): a web that only ever holds arithmetic results (and constants that
// are no NaN) may hold dirty values and is canonicalised where it is observed, which keeps accumulators in loops free;
// any other is given canonical values only.

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
}

type originKind byte

const (
	exact  originKind = iota // bits that mean something: loads, parameters, calls
	number                   // surely not a NaN
	result                   // arithmetic
	aLocal                   // whatever the local holds
)

// use is an observation of what was read from a local; it waits for the judgement on webs.
type use struct {
	from int32 // the instruction that read the local
	but  shape // a NaN of this shape is not seen
}

// flows collects, while a body is read, where values go.
type flows struct {
	origins map[int32]origin // producers that are not exact
	defs    []def
	uses    []use
	stores  []store
	webs    webs
	dirty   []shape // of webs that may hold dirty values
}

// def is one value put into a local.
type def struct {
	at   int32 // the instruction that puts it there
	from int32 // the producer
	origin
}

// store is a float put into memory.
type store struct{ at, from int32 }

// held gives the shape of the dirty values that the local read or set by an instruction may hold there.
func (w *flows) held(at int32) shape { return w.ofWeb(w.webs.webOf(at)) }

func (w *flows) ofWeb(web int32) shape {
	if web < 0 || len(w.dirty) == 0 {
		return noShape
	}
	return w.dirty[w.webs.find(web)]
}

// atPoint gives the shape of the dirty values that a local may hold at a safe point.
func (w *flows) atPoint(point int, local uint32) shape {
	if k, ok := w.webs.index[local]; ok {
		return w.ofWeb(w.webs.points[point][k])
	}
	return noShape
}

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
		return i.bits&(1<<31-1) <= infinity32
	case i.op == wasm.OpF64Const:
		return i.bits&(1<<63-1) <= infinity64
	case i.op == wasm.OpV128Const:
		return isNumbers(f.code.Body[i.end-16 : i.end])
	}
	return i.op >= 0xb2 && i.op <= 0xb5 || i.op >= 0xb7 && i.op <= 0xba // convert
}

// isNumbers reports whether no lane of a vector is a NaN, whatever lanes it has.
func isNumbers(v []byte) bool {
	for at := 0; at < len(v); at += 8 {
		x := binary.LittleEndian.Uint64(v[at:])
		if x&(1<<63-1) > infinity64 || x&(1<<31-1) > infinity32 || x>>32&(1<<31-1) > infinity32 {
			return false
		}
	}
	return true
}

// The bits of infinity: those of a NaN are above them, but for the sign.
const (
	infinity32 = 0x7f800000
	infinity64 = 0x7ff0000000000000
)

// origin gives an operand's origin; reading a float or vector local is an origin too.
func (f *function) origin(v value) origin {
	if v.from >= 0 && int(v.from) < len(f.ins) {
		if i := &f.ins[v.from]; (i.op == wasm.OpLocalGet || i.op == wasm.OpLocalTee) && isFloat(v.typ) {
			return origin{kind: aLocal, shape: shapeOf(v.typ)}
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
		if i.op == wasm.OpF32Store || i.op == wasm.OpF64Store {
			f.flows.stores = append(f.flows.stores, store{at, v.from})
			continue
		}
		f.observeValue(v)
	}
	if s := arithmetic(i.op); s != noShape && f.p.atOnce {
		i.canon = s
	} else if s != noShape {
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
		f.ins[v.from].canon = o.shape
	} else if o.kind == aLocal {
		f.flows.uses = append(f.flows.uses, use{v.from, s})
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
		f.ins[v.from].canon = o.shape
	case aLocal:
		f.flows.uses = append(f.flows.uses, use{v.from, noShape})
	}
}

// defines takes in that an instruction puts the topmost operand into a local.
func (f *function) defines(at int32) {
	v := f.top(0)
	if isFloat(v.typ) && !f.p.Options.KeepNaNs {
		f.flows.defs = append(f.flows.defs, def{at, v.from, f.origin(v)})
	}
}

// settleNaNs judges the webs and then marks what must canonicalise.
func (f *function) settleNaNs() {
	w := &f.flows
	if f.hasNaNs {
		f.weave()
		w.judge()
		f.markNaNs()
		f.groupStores()
	}
	w.origins, w.defs, w.uses, w.stores = nil, nil, nil, nil
}

// markNaNs marks the producers whose results must be canonicalised.
func (f *function) markNaNs() {
	w := &f.flows
	for _, d := range w.defs {
		into, from := w.held(d.at), noShape
		if d.kind == aLocal {
			from = w.held(d.from)
		}
		switch {
		case into != noShape && (d.kind != aLocal || from == into || from == noShape):
		case d.kind == result:
			f.ins[d.from].canon = d.shape
		case from != noShape:
			f.ins[d.from].canon = from
		}
	}
	for _, u := range w.uses {
		if s := w.held(u.from); s != noShape && s != u.but {
			f.ins[u.from].canon = s
		}
	}
}

// judge finds the webs that may hold dirty values: those into which only arithmetic of one shape, numbers and what
// other such webs hold are put. It starts from all that any arithmetic is put into and takes away.
func (w *flows) judge() {
	w.dirty = make([]shape, len(w.webs.parent))
	root := func(at int32) int32 { return w.webs.find(w.webs.webOf(at)) }
	for round, changed := 0, true; changed && round < judgeRounds; round++ { // what arithmetic can reach
		changed = false
		for _, d := range w.defs {
			s := d.shape
			if d.kind == aLocal {
				s = w.held(d.from)
			}
			if into := root(d.at); (d.kind == result || d.kind == aLocal) && s != noShape && !w.webs.given(into) &&
				w.dirty[into] == noShape {
				w.dirty[into] = s
				changed = true
			}
		}
	}
	for round, changed := 0, true; changed; round++ {
		changed = false
		for _, d := range w.defs {
			into := root(d.at)
			s := w.dirty[into]
			if s != noShape && !(d.kind == number || d.kind == result && d.shape == s ||
				d.kind == aLocal && w.held(d.from) == s) {
				w.dirty[into] = noShape
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
