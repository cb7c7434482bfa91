package wasm

import (
	"fmt"
	"strings"
)

// Opcode is an instruction's code. Codes behind a prefix are the prefix in the upper byte and the
// code in the lower: i32.trunc_sat_f32_s is 0xfc00, v128.load is 0xfd00.
type Opcode uint16

// The codes that a reader of instructions must tell apart.
const (
	OpUnreachable   Opcode = 0x00
	OpNop           Opcode = 0x01
	OpBlock         Opcode = 0x02
	OpLoop          Opcode = 0x03
	OpIf            Opcode = 0x04
	OpElse          Opcode = 0x05
	OpEnd           Opcode = 0x0b
	OpBr            Opcode = 0x0c
	OpBrIf          Opcode = 0x0d
	OpBrTable       Opcode = 0x0e
	OpReturn        Opcode = 0x0f
	OpCall          Opcode = 0x10
	OpCallIndirect  Opcode = 0x11
	OpDrop          Opcode = 0x1a
	OpSelect        Opcode = 0x1b
	OpSelectT       Opcode = 0x1c
	OpLocalGet      Opcode = 0x20
	OpLocalSet      Opcode = 0x21
	OpLocalTee      Opcode = 0x22
	OpGlobalGet     Opcode = 0x23
	OpGlobalSet     Opcode = 0x24
	OpTableGet      Opcode = 0x25
	OpTableSet      Opcode = 0x26
	OpI32Load       Opcode = 0x28
	OpI64Load       Opcode = 0x29
	OpF32Load       Opcode = 0x2a
	OpF64Load       Opcode = 0x2b
	OpI32Store      Opcode = 0x36
	OpI64Store      Opcode = 0x37
	OpF32Store      Opcode = 0x38
	OpF64Store      Opcode = 0x39
	OpI64Store32    Opcode = 0x3e
	OpMemorySize    Opcode = 0x3f
	OpMemoryGrow    Opcode = 0x40
	OpI32Const      Opcode = 0x41
	OpI64Const      Opcode = 0x42
	OpF32Const      Opcode = 0x43
	OpF64Const      Opcode = 0x44
	OpI32Eqz        Opcode = 0x45
	OpI32Eq         Opcode = 0x46
	OpI32GtU        Opcode = 0x4b
	OpI64LtS        Opcode = 0x53
	OpI64GtU        Opcode = 0x56
	OpF32Eq         Opcode = 0x5b
	OpF32Ne         Opcode = 0x5c
	OpF64Eq         Opcode = 0x61
	OpF64Ne         Opcode = 0x62
	OpI32Add        Opcode = 0x6a
	OpI32Sub        Opcode = 0x6b
	OpI64Add        Opcode = 0x7c
	OpI64Sub        Opcode = 0x7d
	OpI64ShrU       Opcode = 0x88
	OpI64ExtendI32U Opcode = 0xad
	OpRefNull       Opcode = 0xd0
	OpRefIsNull     Opcode = 0xd1
	OpRefFunc       Opcode = 0xd2
	OpMemoryInit    Opcode = 0xfc08
	OpDataDrop      Opcode = 0xfc09
	OpMemoryCopy    Opcode = 0xfc0a
	OpMemoryFill    Opcode = 0xfc0b
	OpTableInit     Opcode = 0xfc0c
	OpElemDrop      Opcode = 0xfc0d
	OpTableCopy     Opcode = 0xfc0e
	OpTableGrow     Opcode = 0xfc0f
	OpTableSize     Opcode = 0xfc10
	OpTableFill     Opcode = 0xfc11
	OpV128Load      Opcode = 0xfd00
	OpV128Store     Opcode = 0xfd0b
	OpV128Const     Opcode = 0xfd0c
	OpF32x4Eq       Opcode = 0xfd41
	OpF64x2Eq       Opcode = 0xfd47
	OpV128Bitselect Opcode = 0xfd52
)

// Imm says what follows an opcode.
type Imm uint8

// The forms of immediate operands.
const (
	ImmNone      Imm = iota
	ImmBlock         // block type
	ImmLabel         // label
	ImmTable         // br_table: vector of labels and a default
	ImmIndex         // one index: function, local, global, table, segment
	ImmIndirect      // call_indirect: type, table
	ImmTypes         // select: vector of types
	ImmMem           // alignment, offset
	ImmMemLane       // alignment, offset, lane
	ImmByte          // one zero byte (memory index)
	ImmI32           // signed LEB128
	ImmI64           // signed LEB128
	ImmF32           // 4 bytes
	ImmF64           // 8 bytes
	ImmV128          // 16 bytes
	ImmShuffle       // 16 lanes
	ImmLane          // 1 lane
	ImmRefType       // reference type
	ImmTwo           // two indices: segment and memory or table, or two tables
	ImmTwoZero       // two zero bytes (memory.copy)
	immForbidden     // a feature from outside WebAssembly 2.0
)

// Op describes an instruction.
type Op struct {
	Name string
	Imm  Imm
	// Params and Results are the operand types, deepest first, where they do not depend on the
	// immediate or the context (Fixed). They must not be changed.
	Params, Results []ValType
	Fixed           bool
}

// Info describes op; ok is false if there is no such instruction in WebAssembly 2.0. Name is set for
// known instructions of later versions too.
func (op Opcode) Info() (o *Op, ok bool) {
	o = op.slot()
	if o == nil || o.Name == "" {
		return &noOp, false
	}
	return o, o.Imm != immForbidden
}

// exists reports whether there is such an instruction in WebAssembly 2.0.
func (op Opcode) exists() bool {
	o := op.slot()
	return o != nil && o.Name != "" && o.Imm != immForbidden
}

func (op Opcode) slot() *Op {
	switch {
	case op < 0x100:
		return &plainOps[op]
	case op>>8 == 0xfc:
		return &miscOps[op&0xff]
	case op>>8 == 0xfd:
		return &simdOps[op&0xff]
	}
	return nil
}

// String is the instruction's name in the text format.
func (op Opcode) String() string {
	if o := op.slot(); o != nil && o.Name != "" {
		return o.Name
	}
	return fmt.Sprintf("opcode(0x%02x)", uint16(op))
}

var (
	noOp                       Op
	plainOps, miscOps, simdOps = buildOps()
)

// sigTypes maps the letters of the signatures below to types.
var sigTypes = map[byte]ValType{'i': I32, 'l': I64, 'f': F32, 'd': F64, 'v': V128}

func buildOps() (plain, misc, simd *[256]Op) {
	plain, misc, simd = new([256]Op), new([256]Op), new([256]Op)
	sigs := map[string][]ValType{}
	types := func(s string) []ValType {
		if ts, ok := sigs[s]; ok {
			return ts
		}
		ts := make([]ValType, len(s))
		for i := range ts {
			ts[i] = sigTypes[s[i]]
		}
		sigs[s] = ts
		return ts
	}
	fill := func(to *[256]Op, table []opRange) {
		for _, r := range table {
			for i, name := range strings.Fields(r.names) {
				if name == "-" {
					continue
				}
				o := Op{Name: r.prefix + name, Imm: r.imm}
				if in, out, fixed := strings.Cut(r.sig, ">"); fixed {
					o.Params, o.Results, o.Fixed = types(in), types(out), true
				}
				to[r.first+i] = o
			}
		}
	}
	fill(plain, plainTable)
	fill(misc, miscTable)
	fill(simd, simdTable)
	return plain, misc, simd
}
