package freeze

import "godwit/sandbox/wasm"

// wazero v1.12.0 compiles a select of floats or vectors wrong for amd64: it has the register with the second operand
// written, but not read, by the conditional move (instr.go there: xmmCMov is defKindOp2 and useKindOp1), so that
// the first
// operand, where it comes back from the stack, may be put into the same register. The second operand is then lost,
// whatever the condition says. The fuzzer found it in the resume function of a module whose whole run was right. So
// floats are chosen between as the integers of their bits, and vectors by a mask.

// choose writes a select of values of a type, which are on the stack with the condition. It reports whether it had to.
func (e *emitter) choose(t wasm.ValType) bool {
	switch t {
	case wasm.F32:
		e.chooseBits(wasm.I32, opI32ReinterpretF32, opF32ReinterpretI32)
	case wasm.F64:
		e.chooseBits(wasm.I64, opI64ReinterpretF64, opF64ReinterpretI64)
	case wasm.V128:
		e.op(wasm.OpI32Eqz)
		e.i32(1)
		e.op(wasm.OpI32Sub) // all ones, or zero where the condition is
		e.op(opI32x4Splat)
		e.op(wasm.OpV128Bitselect)
	default:
		return false
	}
	return true
}

// The instructions that choosing needs.
const (
	opI32ReinterpretF32 wasm.Opcode = 0xbc
	opI64ReinterpretF64 wasm.Opcode = 0xbd
	opF32ReinterpretI32 wasm.Opcode = 0xbe
	opF64ReinterpretI64 wasm.Opcode = 0xbf
	opI32x4Splat        wasm.Opcode = 0xfd00 + 17
)

func (e *emitter) chooseBits(bits wasm.ValType, to, from wasm.Opcode) {
	cond, second := e.f.local(scratchCond, wasm.I32), e.f.local(scratchBits, bits)
	e.localOp(wasm.OpLocalSet, cond)
	e.op(to)
	e.localOp(wasm.OpLocalSet, second)
	e.op(to)
	e.localOp(wasm.OpLocalGet, second)
	e.localOp(wasm.OpLocalGet, cond)
	e.op(wasm.OpSelect)
	e.op(from)
}
