package wasm

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// spin is a module of one function () -> () that the name section calls so, with the given body.
func spin(body ...byte) []byte {
	m := &Module{Types: []FuncType{{}}, Funcs: []uint32{0}, Code: []Code{{Body: append(body, byte(OpEnd))}}}
	m.Customs = []Custom{{Name: "name", Data: []byte("\x01\x07\x01\x00\x04spin")}}
	return Encode(m)
}

func withSection(id byte, body ...byte) []byte {
	return append(append(bytes.Clone(header), id, byte(len(body))), body...)
}

// TestRefusesByName: each feature from outside WebAssembly 2.0, wherever it can show, has its name, the function and
// instruction, and something that can be done.
func TestRefusesByName(t *testing.T) {
	for _, c := range []struct {
		name    string
		b       []byte
		feature Feature
		what    string
	}{
		{"try", spin(0x06, 0x40, 0x0b), Exceptions, "(try)"},
		{"catch", spin(0x07, 0), Exceptions, "(catch)"},
		{"throw", spin(0x08, 0), Exceptions, "(throw)"},
		{"rethrow", spin(0x09, 0), Exceptions, "(rethrow)"},
		{"throw_ref", spin(0x0a), Exceptions, "(throw_ref)"},
		{"delegate", spin(0x18, 0), Exceptions, "(delegate)"},
		{"catch_all", spin(0x19), Exceptions, "(catch_all)"},
		{"try_table", spin(0x1f, 0x40, 0), Exceptions, "(try_table)"},
		{"tags", withSection(secTag, 1, 0, 0), Exceptions, "(a tag section)"},
		{"imported tag", withSection(secImport, 1, 1, 'a', 1, 'b', 4, 0, 0), Exceptions, "(an imported tag, a.b)"},
		{"exported tag", withSection(secExport, 1, 1, 'b', 4, 0), Exceptions, "(an exported tag)"},
		{"exnref", withSection(secType, 1, 0x60, 1, 0x69, 0), Exceptions, "(type 0x69)"},
		{"block of exnref", spin(0x02, 0x69, 0x0b), Exceptions, "(type 0x69)"},
		{"return_call", spin(0x12, 0), TailCalls, "(return_call)"},
		{"return_call_indirect", spin(0x13, 0, 0), TailCalls, "(return_call_indirect)"},
		{"return_call_ref", spin(0x15, 0), TailCalls, "(return_call_ref)"},
		{"notify", spin(0xfe, 0, 2, 0), Threads, "(memory.atomic.notify)"},
		{"fence", spin(0xfe, 3, 0), Threads, "(atomic.fence)"},
		{"atomic load", spin(0xfe, 0x10, 2, 0), Threads, "(i32.atomic.load)"},
		{"atomic store", spin(0xfe, 0x1d, 2, 0), Threads, "(i64.atomic.store32)"},
		{"atomic add", spin(0xfe, 0x1e, 2, 0), Threads, "(i32.atomic.rmw.add)"},
		{"atomic exchange", spin(0xfe, 0x4e, 2, 0), Threads, "(i64.atomic.rmw32.cmpxchg_u)"},
		{"no atomic instruction yet", spin(0xfe, 0x7f), Threads, "(instruction 0xfe 127)"},
		{"shared memory", withSection(secMemory, 1, 3, 1, 1), Threads, "(a shared memory)"},
		{"imported shared memory", withSection(secImport, 1, 1, 'a', 1, 'b', 2, 3, 1, 1), Threads, "(a shared memory)"},
		{"memory64", withSection(secMemory, 1, 4, 1), Memory64, "(a memory or table of 64-bit size)"},
		{"table64", withSection(secTable, 1, 0x70, 5, 1, 1), Memory64, "(a memory or table of 64-bit size)"},
		{"two memories", withSection(secMemory, 2, 0, 1, 0, 1), SeveralMems, "(2 memories)"},
		{"two imported memories", withSection(secImport, 2, 1, 'a', 1, 'b', 2, 0, 1, 1, 'a', 1, 'c', 2, 0, 1), SeveralMems,
			"(2 memories)"},
		{"second memory", spin(0x3f, 1, 0x1a), SeveralMems, "(a memory index other than 0)"},
		{"load from the second", spin(0x28, 0x42, 1, 0), SeveralMems, "(a memory index other than 0)"},
		{"data of the second", spin(0xfc, 8, 0, 1), SeveralMems, "(a memory index other than 0)"},
		{"page size", withSection(secMemory, 1, 8, 1, 0), PageSizes, "(a memory with its own page size)"},
		{"relaxed", spin(0xfd, 0x80, 0x02), RelaxedSIMD, "(i8x16.relaxed_swizzle)"},
		{"relaxed madd", spin(0xfd, 0x87, 0x02), RelaxedSIMD, "(f64x2.relaxed_madd)"},
		{"the last relaxed", spin(0xfd, 0x93, 0x02), RelaxedSIMD, "(i32x4.relaxed_dot_i8x16_i7x16_add_s)"},
		{"wide", spin(0xfc, 22), WideArithmetic, "(i64.mul_wide_u)"},
		{"added constants", withSection(secGlobal, 1, 0x7f, 0, 0x41, 1, 0x41, 2, 0x6a, 0x0b), ExtendedConst,
			"(more than one instruction)"},
		{"call_ref", spin(0x14, 0), TypedRefs, "(call_ref)"},
		{"typed reference", withSection(secType, 1, 0x60, 1, 0x64, 0, 0), TypedRefs, "(type 0x64)"},
		{"filled table", withSection(secTable, 1, 0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b), TypedRefs,
			"(a table with an initial value)"},
		{"struct.new", spin(0xfb, 0, 0), GC, "(struct.new)"},
		{"i31", spin(0xfb, 28), GC, "(ref.i31)"},
		{"struct type", withSection(secType, 1, 0x5f, 0), GC, "(type 0x5f)"},
		{"struct in a global", withSection(secGlobal, 1, 0x7f, 0, 0xfb, 1, 0, 0x0b), GC, "(struct.new_default)"},
		{"continuation", withSection(secType, 1, 0x5d, 0), StackSwitching, "(type 0x5d)"},
		{"resume", spin(0xe3, 0, 0), StackSwitching, "(opcode(0xe3))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := FindUnsupported(c.b)
			if e == nil || e.Feature != c.feature || e.Reason != string(c.feature)+" are not supported "+c.what {
				t.Fatalf("got %v, want %s %s", e, c.feature, c.what)
			}
			if e.Section == "code" != strings.Contains(e.Error(), "function 0 (spin), offset 0x") {
				t.Errorf("no place: %v", e)
			}
			if c.feature.Hint() == "" {
				t.Error("no hint")
			}
		})
	}
	if e := FindUnsupported(spin(byte(OpNop))); e != nil {
		t.Errorf("a good module: %v", e)
	}
	if Feature("").Hint() != "" {
		t.Error("a hint for nothing")
	}
}

// FuzzFindUnsupported: what is found has a name that has a hint, in any bytes.
func FuzzFindUnsupported(f *testing.F) {
	f.Add(spin(0x06, 0x40, 0x0b))
	f.Add(withSection(secTag, 1, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := FindUnsupported(b)
		if e != nil && e.Feature.Hint() == "" {
			t.Fatalf("no hint: %v", e)
		}
		var any *Error
		if _, err := Decode(b); err != nil && !errors.As(err, &any) {
			t.Fatalf("an error of type %T", err)
		}
	})
}
