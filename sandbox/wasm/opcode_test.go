package wasm

import (
	"regexp"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// plainImmediate is a least immediate for each form of instruction whose operands
// do not depend on it.
func plainImmediate(op Opcode) []byte {
	switch o, _ := op.Info(); o.Imm {
	case ImmMem:
		return []byte{0, 0}
	case ImmMemLane:
		return []byte{0, 0, 0}
	case ImmByte, ImmI32, ImmI64, ImmIndex, ImmLane:
		return []byte{0}
	case ImmTwo, ImmTwoZero:
		return []byte{0, 0}
	case ImmF32:
		return make([]byte, 4)
	case ImmF64:
		return make([]byte, 8)
	case ImmV128, ImmShuffle:
		return make([]byte, 16)
	}
	return nil
}

// around is a module of a function of the given type that is one instruction on
// its parameters.
func around(op Opcode, typ FuncType) []byte {
	var body []byte
	for i := range typ.Params {
		body = append(body, byte(OpLocalGet), byte(i))
	}
	body = append(AppendOp(body, op), plainImmediate(op)...)
	return Encode(&Module{
		Types: []FuncType{typ}, Funcs: []uint32{0}, Tables: []TableType{{FuncRef, Limits{Min: 1}}},
		Memories: []Limits{{Min: 1}},
		Elements: []Element{{Mode: Passive, Type: FuncRef}}, Data: []Data{{Mode: Passive}}, HasDataCount: true,
		Code: []Code{{Body: append(body, byte(OpEnd))}},
	})
}

// TestOperandsAgreeWithTheEngine: the engine's validator accepts each instruction
// of fixed operands with just these, and with one result or parameter changed it
// does not.
func TestOperandsAgreeWithTheEngine(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	accepts := func(op Opcode, typ FuncType) bool {
		m, err := r.CompileModule(ctx, around(op, typ))
		if err == nil {
			m.Close(ctx)
		}
		return err == nil
	}
	other := func(ts []ValType) []ValType {
		ts = slices.Clone(ts)
		if i := len(ts) - 1; ts[i] == I32 {
			ts[i] = F64
		} else {
			ts[i] = I32
		}
		return ts
	}
	n := 0
	for _, op := range allOps() {
		o, _ := op.Info()
		if !o.Fixed {
			continue
		}
		n++
		if !accepts(op, FuncType{o.Params, o.Results}) {
			t.Errorf("%v: refused with %v, giving %v", op, o.Params, o.Results)
		}
		if len(o.Params) > 0 && accepts(op, FuncType{other(o.Params), o.Results}) {
			t.Errorf("%v: accepted with %v", op, other(o.Params))
		}
		if len(o.Results) > 0 && accepts(op, FuncType{o.Params, other(o.Results)}) {
			t.Errorf("%v: accepted giving %v", op, other(o.Results))
		}
		if len(o.Results) == 0 && accepts(op, FuncType{o.Params, []ValType{I32}}) {
			t.Errorf("%v: accepted giving a result", op)
		}
	}
	if n < 380 {
		t.Errorf("only %d instructions have fixed operands", n)
	}
}

// TestInstructionsAreThoseOfTheEngine: no code is known here that the engine does
// not know, and none that it knows is missing.
func TestInstructionsAreThoseOfTheEngine(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	none := regexp.MustCompile("invalid instruction|unknown SIMD instruction|invalid opcode|opcode 0x|is disabled")
	known := func(op Opcode) bool { // by the engine
		body := append(AppendOp([]byte{byte(OpUnreachable)}, op), make([]byte, 16)...)
		if op == OpRefNull {
			body[2] = byte(FuncRef)
		}
		_, err := r.CompileModule(ctx, Encode(&Module{Types: []FuncType{{}}, Funcs: []uint32{0},
			Tables:   []TableType{{FuncRef, Limits{}}},
			Memories: []Limits{{}}, Code: []Code{{Body: append(body, byte(OpEnd))}}}))
		return err == nil || !none.MatchString(err.Error())
	}
	for _, prefix := range []Opcode{0, 0xfc00, 0xfd00} {
		for low := range Opcode(0x100) {
			op := prefix | low
			if prefix == 0 && low >= 0xfb && low <= 0xfe { // the prefixes themselves
				continue
			}
			if got, want := op.exists(), known(op); got != want {
				t.Errorf("%v: known %v, to the engine %v", op, got, want)
			}
		}
	}
}

// TestCodesOfInstructions: samples of the specification's index of instructions
// (appendix A.8), one of each range.
func TestCodesOfInstructions(t *testing.T) {
	for op, name := range map[Opcode]string{
		0x00: "unreachable", 0x05: "else", 0x0b: "end", 0x11: "call_indirect", 0x1b: "select", 0x1c: "select",
		0x22: "local.tee", 0x26: "table.set",
		0x2b: "f64.load", 0x2f: "i32.load16_u", 0x35: "i64.load32_u", 0x39: "f64.store", 0x3b: "i32.store16",
		0x3e: "i64.store32",
		0x3f: "memory.size", 0x44: "f64.const", 0x45: "i32.eqz", 0x4f: "i32.ge_u", 0x50: "i64.eqz", 0x5a: "i64.ge_u",
		0x60: "f32.ge", 0x66: "f64.ge",
		0x69: "i32.popcnt", 0x78: "i32.rotr", 0x7b: "i64.popcnt", 0x8a: "i64.rotr", 0x91: "f32.sqrt",
		0x98: "f32.copysign", 0x9f: "f64.sqrt",
		0xa6: "f64.copysign", 0xa7: "i32.wrap_i64", 0xab: "i32.trunc_f64_u", 0xad: "i64.extend_i32_u",
		0xb1: "i64.trunc_f64_u",
		0xb5: "f32.convert_i64_u", 0xb6: "f32.demote_f64", 0xba: "f64.convert_i64_u", 0xbb: "f64.promote_f32",
		0xbf: "f64.reinterpret_i64",
		0xc1: "i32.extend16_s", 0xc4: "i64.extend32_s", 0xd1: "ref.is_null",
		0xfc07: "i64.trunc_sat_f64_u", 0xfc08: "memory.init", 0xfc0d: "elem.drop", 0xfc11: "table.fill",
		0xfd0a: "v128.load64_splat", 0xfd0d: "i8x16.shuffle", 0xfd22: "f64x2.replace_lane", 0xfd40: "i32x4.ge_u",
		0xfd4c: "f64x2.ge",
		0xfd57: "v128.load64_lane", 0xfd5b: "v128.store64_lane", 0xfd5d: "v128.load64_zero", 0xfd62: "i8x16.popcnt",
		0xfd7b: "i8x16.avgr_u",
		0xfd7f: "i32x4.extadd_pairwise_i16x8_u", 0xfd82: "i16x8.q15mulr_sat_s", 0xfd95: "i16x8.mul",
		0xfd9f: "i16x8.extmul_high_i8x16_u",
		0xfdba: "i32x4.dot_i16x8_s", 0xfdce: "i64x2.add", 0xfdd5: "i64x2.mul", 0xfddb: "i64x2.ge_s",
		0xfddf: "i64x2.extmul_high_i32x4_u",
		0xfde3: "f32x4.sqrt", 0xfdeb: "f32x4.pmax", 0xfdf7: "f64x2.pmax", 0xfdff: "f64x2.convert_low_i32x4_u",
	} {
		if o, ok := op.Info(); !ok || o.Name != name || op.String() != name {
			t.Errorf("%#x: got %q, %v, want %q", uint16(op), o.Name, ok, name)
		}
	}
	for op, name := range map[Opcode]string{0x06: "try", 0x0a: "throw_ref", 0x12: "return_call", 0x1f: "try_table",
		0xd6: "br_on_non_null"} {
		if o, ok := op.Info(); ok || o.Name != name {
			t.Errorf("%#x: got %q, %v, want %q as not of 2.0", uint16(op), o.Name, ok, name)
		}
	}
	for op, name := range map[Opcode]string{0x27: "opcode(0x27)", 0xfc12: "opcode(0xfc12)", 0xfd9a: "opcode(0xfd9a)",
		0xfb00: "opcode(0xfb00)"} {
		if o, ok := op.Info(); ok || o.Name != "" || op.String() != name {
			t.Errorf("%#x: got %q, %v, %q, want %q", uint16(op), o.Name, ok, op, name)
		}
	}
}
