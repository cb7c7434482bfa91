package freeze

import (
	"fmt"

	"godwit/sandbox/wasm"
)

// wazero v1.12.0 compiles integer remainders wrong for arm64: it keeps the quotient in the result's register across the
// exit for a zero divisor, where the register allocator may spill that register before the quotient was stored
// (lowerIRem there). A remainder is then garbage in functions with many live values. The engine therefore gets
// x - x / y * y instead, on all architectures, because a state may move between them.

// The instructions that remainders are written with.
const (
	opI64Eq   wasm.Opcode = 0x51
	opI32Mul  wasm.Opcode = 0x6c
	opI32DivS wasm.Opcode = 0x6d
	opI32DivU wasm.Opcode = 0x6e
	opI32RemS wasm.Opcode = 0x6f
	opI32RemU wasm.Opcode = 0x70
	opI64Sub  wasm.Opcode = 0x7d
	opI64Mul  wasm.Opcode = 0x7e
	opI64DivS wasm.Opcode = 0x7f
	opI64DivU wasm.Opcode = 0x80
	opI64RemS wasm.Opcode = 0x81
	opI64RemU wasm.Opcode = 0x82
)

// remainder describes how to write one of the four remainders.
type remainder struct {
	typ                          wasm.ValType
	signed                       bool
	div, mul, sub, eq, constants wasm.Opcode
}

func remainderOf(op wasm.Opcode) (r remainder, ok bool) {
	switch op {
	case opI32RemS, opI32RemU:
		r = remainder{wasm.I32, op == opI32RemS, opI32DivU, opI32Mul, wasm.OpI32Sub, wasm.OpI32Eq, wasm.OpI32Const}
	case opI64RemS, opI64RemU:
		r = remainder{wasm.I64, op == opI64RemS, opI64DivU, opI64Mul, opI64Sub, opI64Eq, wasm.OpI64Const}
	default:
		return r, false
	}
	if r.signed {
		r.div-- // div_s is the instruction before div_u
	}
	return r, true
}

// write appends the remainder of the two operands on the stack, with the locals x and y of their type to hold them. A
// zero divisor traps in the division, as in the remainder. A signed division by -1 can overflow, where the remainder is
// 0, so 1 takes the place of -1. never says that the divisor is known not to be -1.
func (r *remainder) write(b []byte, x, y uint32, never bool) []byte {
	local := func(op wasm.Opcode, i uint32) { b = wasm.AppendUnsigned(wasm.AppendOp(b, op), uint64(i)) }
	constant := func(v int64) { b = wasm.AppendSigned(wasm.AppendOp(b, r.constants), v) }
	local(wasm.OpLocalSet, y)
	local(wasm.OpLocalSet, x)
	if r.signed && !never {
		constant(1)
		local(wasm.OpLocalGet, y)
		local(wasm.OpLocalGet, y)
		constant(-1)
		b = wasm.AppendOp(b, r.eq)
		b = wasm.AppendOp(b, wasm.OpSelect)
		local(wasm.OpLocalSet, y)
	}
	local(wasm.OpLocalGet, x)
	local(wasm.OpLocalGet, x)
	local(wasm.OpLocalGet, y)
	b = wasm.AppendOp(b, r.div)
	local(wasm.OpLocalGet, y)
	b = wasm.AppendOp(b, r.mul)
	return wasm.AppendOp(b, r.sub)
}

// isMinusOne reports whether a constant of the remainder's type is -1.
func (r *remainder) isMinusOne(bits uint64) bool {
	if r.typ == wasm.I32 {
		return int32(bits) == -1
	}
	return int64(bits) == -1
}

// remainder writes an instruction if it is a remainder, and reports whether it was.
func (e *emitter) remainder(at int32) bool {
	r, ok := remainderOf(e.f.ins[at].op)
	if !ok {
		return false
	}
	never := false
	if at > 0 {
		divisor := &e.f.ins[at-1]
		never = divisor.op == r.constants && !r.isMinusOne(divisor.bits)
	}
	e.out = r.write(e.out, e.f.local(scratchDividend, r.typ), e.f.local(scratchDivisor, r.typ), never)
	return true
}

// WithoutRemainders returns a valid module whose remainders are written as those of Instrument, for a module that cannot
// be frozen. The result is the module itself if it has none.
func WithoutRemainders(original []byte) ([]byte, error) {
	m, err := wasm.Decode(original)
	if err != nil {
		return nil, fmt.Errorf("rewriting remainders: %w", err)
	}
	imported, types, found := m.Imported(wasm.FuncKind), m.FuncTypeIndices(), false
	for i := range m.Code {
		if int(types[imported+i]) >= len(m.Types) {
			return nil, fmt.Errorf("rewriting remainders: function of type %d of %d", types[imported+i], len(m.Types))
		}
		params := len(m.Types[types[imported+i]].Params)
		code, err := withoutRemainders(&m.Code[i], params)
		if err != nil {
			return nil, fmt.Errorf("rewriting remainders: %w", m.InFunc(err, imported+i))
		}
		if code != nil {
			m.Code[i], found = *code, true
		}
	}
	if !found {
		return original, nil
	}
	return wasm.Encode(m), nil
}

// withoutRemainders rewrites one function with so many parameters. It returns nil if the function has no remainder.
func withoutRemainders(c *wasm.Code, params int) (*wasm.Code, error) {
	locals := uint32(params)
	for _, d := range c.Locals {
		locals += d.Count
	}
	var body []byte // nil before the first remainder
	copied := uint32(0)
	var in wasm.Instr
	for r := wasm.NewReader(c); !r.Done(); {
		if err := r.Next(&in); err != nil {
			return nil, err
		}
		w, ok := remainderOf(in.Op)
		if !ok {
			continue
		}
		x := locals
		if w.typ == wasm.I64 {
			x += 2
		}
		body = w.write(append(body, c.Body[copied:in.Start]...), x, x+1, false)
		copied = in.End
	}
	if body == nil {
		return nil, nil
	}
	out := append(c.Locals[:len(c.Locals):len(c.Locals)], wasm.LocalDecl{Count: 2, Type: wasm.I32},
		wasm.LocalDecl{Count: 2, Type: wasm.I64})
	return &wasm.Code{Locals: out, Body: append(body, c.Body[copied:]...)}, nil
}
