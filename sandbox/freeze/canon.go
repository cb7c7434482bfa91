package freeze

import (
	"encoding/binary"

	"godwit/sandbox/wasm"
)

// A float is made canonical by a branch that is never taken but for a NaN: wazero's select of floats goes by way of the
// integer registers (choose.go), and what follows would wait for it. A comparison with itself that a number passes, >=,
// takes one flag on amd64 where == takes two. A vector is made canonical by a mask: behind a branch that joins, wazero
// reads the memory's place again, which costs more than the mask.

// canonicalNaN is what every NaN of a float's type becomes.
const (
	canonicalNaN32 = 0x7fc00000
	canonicalNaN64 = 0x7ff8000000000000
)

const (
	opF32Ge wasm.Opcode = 0x60
	opF64Ge wasm.Opcode = 0x66
)

// canonical makes the value of a shape on the stack canonical.
func (e *emitter) canonical(s shape) {
	switch s {
	case shapeF32, shapeF64:
		x := e.f.local(scratchNaN, s.valType())
		e.localOp(wasm.OpLocalSet, x)
		e.canonLocal(s, x)
		e.localOp(wasm.OpLocalGet, x)
	case shapeF32x4, shapeF64x2:
		x := e.f.local(scratchNaN, wasm.V128)
		e.localOp(wasm.OpLocalTee, x)
		e.nan(s)
		if s == shapeF32x4 {
			e.withItself(x, wasm.OpF32x4Eq)
		} else {
			e.withItself(x, wasm.OpF64x2Eq)
		}
		e.op(wasm.OpV128Bitselect)
	}
}

// canonLocal makes the float in a local canonical.
func (e *emitter) canonLocal(s shape, x uint32) {
	e.open(wasm.OpBlock, wasm.BlockVoid)
	e.isNumber(s, x)
	e.opIndex(wasm.OpBrIf, 0)
	e.nan(s)
	e.localOp(wasm.OpLocalSet, x)
	e.end()
}

// isNumber leaves on the stack whether the float in a local is no NaN.
func (e *emitter) isNumber(s shape, x uint32) {
	if s == shapeF32 {
		e.withItself(x, opF32Ge)
	} else {
		e.withItself(x, opF64Ge)
	}
}

// withItself applies an instruction to the value of a local, twice.
func (e *emitter) withItself(x uint32, op wasm.Opcode) {
	e.localOp(wasm.OpLocalGet, x)
	e.localOp(wasm.OpLocalGet, x)
	e.op(op)
}

// nan writes the canonical NaN of a shape, in each lane.
func (e *emitter) nan(s shape) {
	switch s {
	case shapeF32:
		e.op(wasm.OpF32Const)
		e.out = binary.LittleEndian.AppendUint32(e.out, canonicalNaN32)
	case shapeF64:
		e.op(wasm.OpF64Const)
		e.out = binary.LittleEndian.AppendUint64(e.out, canonicalNaN64)
	case shapeF32x4:
		e.op(wasm.OpV128Const)
		for range 4 {
			e.out = binary.LittleEndian.AppendUint32(e.out, canonicalNaN32)
		}
	case shapeF64x2:
		e.op(wasm.OpV128Const)
		for range 2 {
			e.out = binary.LittleEndian.AppendUint64(e.out, canonicalNaN64)
		}
	}
}

// valType gives the type of values of a shape.
func (s shape) valType() wasm.ValType {
	switch s {
	case shapeF32:
		return wasm.F32
	case shapeF64:
		return wasm.F64
	}
	return wasm.V128
}
