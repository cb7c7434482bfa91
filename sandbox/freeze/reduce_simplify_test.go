package freeze_test

import (
	"bytes"
	"slices"

	"godwit/sandbox/wasm"
)

// made gives an instruction with indices.
func made(op wasm.Opcode, idx ...uint32) piece {
	b := wasm.AppendOp(nil, op)
	for _, i := range idx {
		b = wasm.AppendUnsigned(b, uint64(i))
	}
	p := piece{bytes: b}
	p.in.Op = op
	if len(idx) > 0 {
		p.in.A = idx[0]
	}
	if op == wasm.OpBrTable {
		p.in.Labels = idx[1:]
	}
	return p
}

// zero gives the constant 0 of a type.
func zero(t wasm.ValType) piece {
	p := piece{}
	switch t {
	case wasm.I32:
		p.in.Op, p.bytes = wasm.OpI32Const, []byte{byte(wasm.OpI32Const), 0}
	case wasm.I64:
		p.in.Op, p.bytes = wasm.OpI64Const, []byte{byte(wasm.OpI64Const), 0}
	case wasm.F32:
		p.in.Op, p.bytes = wasm.OpF32Const, append([]byte{byte(wasm.OpF32Const)}, make([]byte, 4)...)
	case wasm.F64:
		p.in.Op, p.bytes = wasm.OpF64Const, append([]byte{byte(wasm.OpF64Const)}, make([]byte, 8)...)
	case wasm.V128:
		p.in.Op, p.bytes = wasm.OpV128Const, append(wasm.AppendOp(nil, wasm.OpV128Const), make([]byte, 16)...)
	default:
		p.in.Op, p.bytes = wasm.OpRefNull, []byte{byte(wasm.OpRefNull), byte(t)}
	}
	return p
}

func zeros(ts []wasm.ValType) []piece {
	var out []piece
	for _, t := range ts {
		out = append(out, zero(t))
	}
	return out
}

// simplify puts something simpler in the place of single instructions: nothing, a constant, operands dropped.
func (r *reducer) simplify(f int) {
	ps := pieces(&r.m.Code[f])
	for at := 0; at < len(ps); at++ {
		for _, instead := range r.simpler(&ps[at]) {
			if bytes.Equal(join(instead), ps[at].bytes) {
				break // it is that simple already
			}
			if rest := slices.Concat(ps[:at], instead, ps[at+1:]); r.body(f, rest) {
				ps = rest
				break
			}
		}
	}
}

// simpler lists what may stand in the place of an instruction.
func (r *reducer) simpler(p *piece) [][]piece {
	drops := func(n int, results []wasm.ValType) []piece {
		return append(slices.Repeat([]piece{made(wasm.OpDrop)}, n), zeros(results)...)
	}
	o, _ := p.in.Op.Info()
	switch p.in.Op {
	case wasm.OpCall, wasm.OpCallIndirect:
		types := r.m.FuncTypeIndices()
		n, t := 0, p.in.A
		if p.in.Op == wasm.OpCall {
			t = types[p.in.A]
		} else {
			n = 1
		}
		return [][]piece{drops(n+len(r.m.Types[t].Params), r.m.Types[t].Results)}
	case wasm.OpLocalTee, wasm.OpBrIf:
		out := [][]piece{{made(wasm.OpDrop)}}
		if p.in.Op == wasm.OpLocalTee {
			out = [][]piece{{}, {made(wasm.OpLocalSet, p.in.A)}}
		}
		return out
	case wasm.OpLocalSet, wasm.OpGlobalSet:
		return [][]piece{{made(wasm.OpDrop)}}
	case wasm.OpLocalGet, wasm.OpGlobalGet:
		var out [][]piece
		for _, t := range []wasm.ValType{wasm.I32, wasm.I64, wasm.F32, wasm.F64, wasm.V128, wasm.FuncRef} {
			out = append(out, []piece{zero(t)})
		}
		return out
	case wasm.OpBrTable:
		last := p.in.Labels[len(p.in.Labels)-1]
		return [][]piece{{made(wasm.OpDrop), made(wasm.OpBr, last)}, {made(wasm.OpBrTable, 0, last)},
			{made(wasm.OpBrTable, 1, p.in.Labels[0], last)}}
	case wasm.OpSelect:
		return [][]piece{drops(2, nil)}
	case wasm.OpI32Const:
		return [][]piece{{zero(wasm.I32)}, {constant32(1)}}
	}
	if o.Fixed && len(o.Results) <= 1 {
		out := [][]piece{drops(len(o.Params), o.Results)}
		if len(o.Params) == 2 && len(o.Results) == 1 && o.Params[0] == o.Results[0] {
			out = append(out, drops(1, nil))
		}
		return out
	}
	return nil
}

func constant32(x int32) piece {
	p := zero(wasm.I32)
	p.bytes = wasm.AppendSigned(wasm.AppendOp(nil, wasm.OpI32Const), int64(x))
	return p
}

// cancel leaves out values together with what drops them.
func (r *reducer) cancel(f int) {
	ps := pieces(&r.m.Code[f])
	for at := len(ps) - 1; at > 0; at-- {
		if at >= len(ps) || ps[at].in.Op != wasm.OpDrop {
			continue
		}
		if k := producer(ps[:at]); k >= 0 {
			if rest := slices.Concat(ps[:k], ps[k+1:at], ps[at+1:]); r.body(f, rest) {
				ps = rest
			}
		}
	}
}

// producer gives the instruction that alone made the operand on top after straight code, or -1.
func producer(ps []piece) int {
	want := 1
	for k := len(ps) - 1; k >= 0; k-- {
		o, _ := ps[k].in.Op.Info()
		in, out := len(o.Params), len(o.Results)
		switch ps[k].in.Op {
		case wasm.OpLocalGet, wasm.OpGlobalGet, wasm.OpRefNull, wasm.OpRefFunc:
			in, out = 0, 1
		case wasm.OpLocalSet, wasm.OpGlobalSet, wasm.OpDrop:
			in, out = 1, 0
		case wasm.OpLocalTee:
			in, out = 1, 1
		case wasm.OpSelect:
			in, out = 3, 1
		default:
			if !o.Fixed {
				return -1
			}
		}
		if want -= out; want <= 0 {
			if in > 0 {
				return -1 // it is made simpler first
			}
			return k
		}
		want += in
	}
	return -1
}

// locals leaves out the last locals.
func (r *reducer) locals(f int) {
	code := &r.m.Code[f]
	for len(code.Locals) > 0 {
		old := code.Locals
		less := slices.Clone(old)
		if last := &less[len(less)-1]; last.Count > 1 {
			last.Count /= 2
		} else {
			less = less[:len(less)-1]
		}
		if !r.attempt(func() { code.Locals = less }, func() { code.Locals = old }) {
			return
		}
	}
}

// segments leaves out data and elements from the end, as far as nothing names them.
func (r *reducer) segments() {
	for len(r.m.Data) > 0 {
		old := r.m.Data
		if !r.attempt(func() { r.m.Data = old[:len(old)-1] }, func() { r.m.Data = old }) {
			break
		}
	}
	for k := range r.m.Elements {
		e := &r.m.Elements[k]
		old := e.Init
		r.attempt(func() { e.Init = nil }, func() { e.Init = old })
	}
}
