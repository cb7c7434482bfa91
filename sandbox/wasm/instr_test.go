package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// allOps lists the instructions of WebAssembly 2.0.
func allOps() (ops []Opcode) {
	for _, prefix := range []Opcode{0, 0xfc00, 0xfd00} {
		for low := range Opcode(0x100) {
			if op := prefix | low; op.exists() {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// drawInstr draws an instruction with immediates and writes it.
func drawInstr(t *rapid.T, op Opcode) (in Instr, b []byte) {
	u32 := func(name string) uint32 { return rapid.Uint32().Draw(t, name) }
	in.Op, b = op, AppendOp(nil, op)
	index := func(b []byte, x uint32) []byte { return AppendUnsigned(b, uint64(x)) }
	switch op.slot().Imm {
	case ImmIndex, ImmLabel:
		in.A = u32("index")
		b = index(b, in.A)
	case ImmBlock:
		in.Block = rapid.OneOf(rapid.SampledFrom([]int32{BlockVoid, -0x7f, -0x7e, -0x7d, -0x7c, -0x7b, -0x70, -0x6f}),
			rapid.Int32Min(0)).Draw(t, "block")
		b = AppendBlockType(b, in.Block)
	case ImmTable:
		in.Labels = rapid.SliceOfN(rapid.Uint32(), 1, 9).Draw(t, "labels")
		b = index(b, uint32(len(in.Labels)-1))
		for _, l := range in.Labels {
			b = index(b, l)
		}
	case ImmTypes:
		types := rapid.SliceOfN(drawType, 1, 3).Draw(t, "types")
		in.Labels = make([]uint32, 0, len(types))
		for _, ty := range types {
			in.Labels = append(in.Labels, uint32(ty))
		}
		b = appendTypes(b, types)
	case ImmMem, ImmMemLane:
		in.A, in.B = rapid.Uint32Range(0, 4).Draw(t, "alignment"), u32("offset")
		b = index(index(b, in.A), in.B)
		if op.slot().Imm == ImmMemLane {
			in.Lane = rapid.Byte().Draw(t, "lane")
			b = append(b, in.Lane)
		}
	case ImmIndirect, ImmTwo:
		in.A, in.B = u32("first"), u32("second")
		if op == OpMemoryInit {
			in.B = 0
		}
		b = index(index(b, in.A), in.B)
	case ImmByte:
		b = append(b, 0)
	case ImmTwoZero:
		b = append(b, 0, 0)
	case ImmI32:
		in.Bits = uint64(u32("value"))
		b = AppendSigned(b, int64(int32(in.Bits)))
	case ImmI64:
		in.Bits = rapid.Uint64().Draw(t, "value")
		b = AppendSigned(b, int64(in.Bits))
	case ImmF32:
		in.Bits = uint64(u32("value"))
		b = binary.LittleEndian.AppendUint32(b, uint32(in.Bits))
	case ImmF64:
		in.Bits = rapid.Uint64().Draw(t, "value")
		b = binary.LittleEndian.AppendUint64(b, in.Bits)
	case ImmV128, ImmShuffle:
		b = append(b, rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "sixteen")...)
	case ImmLane:
		in.Lane = rapid.Byte().Draw(t, "lane")
		b = append(b, in.Lane)
	case ImmRefType:
		in.A = uint32(rapid.SampledFrom([]ValType{FuncRef, ExternRef}).Draw(t, "type"))
		b = append(b, byte(in.A))
	}
	return in, b
}

// TestInstructionsSurvive: a body of any instructions is read as it was written,
// each with its place.
func TestInstructionsSurvive(t *testing.T) {
	ops := allOps()
	rapid.Check(t, func(t *rapid.T) {
		var want []Instr
		var body []byte
		for _, op := range rapid.SliceOfN(rapid.SampledFrom(ops), 1, 30).Draw(t, "ops") {
			in, b := drawInstr(t, op)
			in.Start, in.End = uint32(len(body)), uint32(len(body)+len(b))
			body = append(body, b...)
			want = append(want, in)
		}
		r := NewReader(&Code{Body: body, Offset: 7})
		for _, w := range want {
			var in Instr
			if err := r.Next(&in); err != nil {
				t.Fatalf("%v: %v", w.Op, err)
			}
			if in.Labels = slices.Clone(in.Labels); !reflect.DeepEqual(in, w) {
				t.Fatalf("got %+v, want %+v", in, w)
			}
		}
		if !r.Done() {
			t.Fatal("not done at the end")
		}
	})
}

// TestEveryInstructionCutShort: each instruction that loses its last bytes is
// refused at the end of what is there.
func TestEveryInstructionCutShort(t *testing.T) {
	for _, op := range allOps() {
		if op < 0x100 && op.slot().Imm == ImmNone {
			continue // one byte
		}
		b := rapid.Custom(func(t *rapid.T) []byte {
			rapid.Bool().Draw(t, "something") // for those without immediates
			_, b := drawInstr(t, op)
			return b
		}).Example(int(op))
		for n := 1; n < len(b); n++ {
			var in Instr
			err := NewReader(&Code{Body: b[:n], Offset: 50}).Next(&in)
			var e *Error
			if !errors.As(err, &e) || e.Section != "code" || e.Func != -1 || e.Offset > 50+n || e.Offset < 50 {
				t.Fatalf("%v, % x cut at %d: got %v", op, b, n, err)
			}
			if e.Reason != errShort.Error() && e.Reason != errTooMany.Error() {
				t.Errorf("%v, % x cut at %d: got %q", op, b, n, e.Reason)
			}
		}
	}
}

// TestImmediatesRefused: what may not follow an instruction, with the reason and
// the offset in the module.
func TestImmediatesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body   []byte
		at     int
		reason string
	}{
		"a block of no type":        {[]byte{0x02, 0x7a}, 2, "type 0x7a is not known"},
		"a block type of two bytes": {[]byte{0x03, 0xc0, 0x7f}, 3, "type 0x40 is not known"},
		"a block type of 34 bits":   {[]byte{0x04, 0x80, 0x80, 0x80, 0x80, 0x10}, 6, "number too long or out of range"},
		"labels without an end":     {[]byte{0x0e, 5, 0, 0}, 2, "count is larger than the bytes that follow"},
		"labels without a default":  {[]byte{0x0e, 1, 0}, 3, "unexpected end"},
		"select of no type":         {[]byte{0x1c, 1, 0x40}, 2, "type 0x40 is not known"},
		"null of a number":          {[]byte{0xd0, 0x7f}, 2, "i32 is not a reference type"},
		"i32 of 33 bits":            {[]byte{0x41, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6, "number too long or out of range"},
		"i64 of 65 bits": {[]byte{0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 11,
			"number too long or out of range"},
		"growth of memory 1": {[]byte{0x40, 1}, 2,
			"several memories are not supported (a memory index other than 0)"},
		"a copy to memory 1": {[]byte{0xfc, 10, 1, 0}, 3,
			"several memories are not supported (a memory index other than 0)"},
		"a copy from memory 1": {[]byte{0xfc, 10, 0, 1}, 4,
			"several memories are not supported (a memory index other than 0)"},
		"a fill of memory 1": {[]byte{0xfc, 11, 1}, 3,
			"several memories are not supported (a memory index other than 0)"},
		"a prefix alone": {[]byte{0xfd}, 1, "unexpected end"},
		"a prefix with a long code": {[]byte{0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 6,
			"number too long or out of range"},
		"a code beyond its prefix": {[]byte{0xfc, 0x80, 0x02}, 0, "instruction 0xfc 256 is not known"},
		"no instruction":           {[]byte{0xff}, 0, "opcode(0xff) is not known"},
	} {
		var in Instr
		err := NewReader(&Code{Body: c.body, Offset: 1000}).Next(&in)
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason || e.Offset != 1000+c.at {
			t.Errorf("%s: got %v, want %q at %#x", name, err, c.reason, 1000+c.at)
		}
	}
}

// TestLongFormsOfPrefixedCodes: a code behind a prefix may be written with zeros
// behind it (section 5.4.6), and is the same instruction.
func TestLongFormsOfPrefixedCodes(t *testing.T) {
	var in Instr
	r := NewReader(&Code{Body: []byte{0xfc, 0x8a, 0x80, 0x00, 0, 0, 0xfd, 0xcd, 0x00}})
	for _, want := range []Opcode{OpMemoryCopy, 0xfd4d} {
		if err := r.Next(&in); err != nil || in.Op != want {
			t.Errorf("got %v, %v, want %v", in.Op, err, want)
		}
	}
}

// TestBlockTypes: a block's type is void, one result, or one of the module's.
func TestBlockTypes(t *testing.T) {
	m := &Module{Types: []FuncType{{}, {Params: []ValType{I64}, Results: []ValType{F32, F32}}}}
	for bt, want := range map[int32]FuncType{
		BlockVoid: {}, -int32(I32): {Results: []ValType{I32}}, -int32(V128): {Results: []ValType{V128}},
		-int32(ExternRef): {Results: []ValType{ExternRef}}, 0: {}, 1: m.Types[1],
	} {
		if got, err := m.BlockType(bt); err != nil || !got.Equal(want) {
			t.Errorf("block type %d: got %v, %v, want %v", bt, got, err, want)
		}
	}
	for _, bt := range []int32{2, 1<<31 - 1} {
		if _, err := m.BlockType(bt); err == nil || err.Error() != fmt.Sprintf("block type %d of 2", bt) {
			t.Errorf("block type %d: got %v", bt, err)
		}
	}
}
