package wasm

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// firstByte is the offset of the first byte of the only section of withSection.
const firstByte = 10

// TestDecodeSaysWhatAndWhere: each malformed module is refused with the section,
// the offset of the fault from the module's beginning, and the reason.
func TestDecodeSaysWhatAndWhere(t *testing.T) {
	cut := func(id, size byte, body ...byte) []byte {
		return append(append(bytes.Clone(header), id, size), body...)
	}
	twice := func(id byte) []byte { return append(withSection(id, 0), id, 1, 0) }
	const leb, short, many = "number too long or out of range", "unexpected end",
		"count is larger than the bytes that follow"
	for name, c := range map[string]struct {
		b       []byte
		section string
		offset  int
		reason  string
	}{
		"nothing":       {nil, "header", 0, "not a WebAssembly module of version 1"},
		"half a header": {header[:6], "header", 0, "not a WebAssembly module of version 1"},
		"version 2": {[]byte("\x00asm\x02\x00\x00\x00"), "header", 0,
			"not a WebAssembly module of version 1"},
		"a component": {[]byte("\x00asm\x0d\x00\x01\x00"), "header", 0,
			"not a WebAssembly module of version 1"},
		"a section without a size": {append(bytes.Clone(header), secType), "header", 9, short},
		"a section cut short":      {cut(secType, 9, 0), "header", 10, short},
		"a size that never ends": {append(bytes.Clone(header), secType, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "header",
			14, leb},
		"a size above 32 bits": {append(bytes.Clone(header), secType, 0xff, 0xff, 0xff, 0xff, 0x1f), "header", 14,
			leb},
		"a section of another id": {withSection(14, 0), "header", firstByte, "unknown section 14"},
		"two type sections":       {twice(secType), "type", 13, "section is repeated or out of order"},
		"two data counts":         {twice(secDataCount), "data count", 13, "section is repeated or out of order"},
		"code before the data count": {append(withSection(secCode, 0), secDataCount, 1, 0), "data count", 13,
			"section is repeated or out of order"},
		"a byte too many":            {withSection(secType, 0, 0), "type", 11, "section is longer than its contents"},
		"bytes behind the start":     {withSection(secStart, 3, 9), "start", 11, "section is longer than its contents"},
		"an empty type section":      {cut(secType, 0), "type", firstByte, short},
		"a custom without a name":    {cut(secCustom, 0), "custom", firstByte, short},
		"a custom of a cut name":     {withSection(secCustom, 3, 'a'), "custom", 11, short},
		"a custom of Latin 1":        {withSection(secCustom, 1, 0xe4), "custom", 12, "name is not UTF-8"},
		"a name of a surrogate":      {withSection(secCustom, 3, 0xed, 0xa0, 0x80), "custom", 14, "name is not UTF-8"},
		"more types than bytes":      {withSection(secType, 2, 0x60, 0), "type", 11, many},
		"a type of no form":          {withSection(secType, 1, 0x40, 0), "type", 11, "type 0x40 is not known"},
		"a parameter of no type":     {withSection(secType, 1, 0x60, 1, 0x7a, 0), "type", 13, "type 0x7a is not known"},
		"more parameters than bytes": {withSection(secType, 1, 0x60, 3, 0x7f, 0x7f), "type", 13, many},
		"results missing":            {withSection(secType, 1, 0x60, 0), "type", 13, short},
		"imports: cut in the kind":   {withSection(secImport, 1, 1, 'a', 1, 'b'), "import", 15, short},
		"imports: kind 5": {withSection(secImport, 1, 1, 'a', 1, 'b', 5, 0), "import", 16,
			"import of unknown kind 5"},
		"imports: name not UTF-8": {withSection(secImport, 1, 1, 0xff, 1, 'b', 0, 0), "import", 13,
			"name is not UTF-8"},
		"imports: type above 32": {withSection(secImport, 1, 1, 'a', 1, 'b', 0, 0x80, 0x80, 0x80, 0x80, 0x10),
			"import", 21, leb},
		"imports: table of i32": {withSection(secImport, 1, 1, 'a', 1, 'b', 1, 0x7f, 0, 0), "import", 17,
			"i32 is not a reference type"},
		"imports: global of no type": {withSection(secImport, 1, 1, 'a', 1, 'b', 3, 0x11, 0), "import", 16,
			"type 0x11 is not known"},
		"table of i64": {withSection(secTable, 1, 0x7e, 0, 0), "table", 12,
			"i64 is not a reference type"},
		"table without limits": {withSection(secTable, 1, 0x70, 0, 0x80), "table", 14, short},
		"table of form 16": {withSection(secTable, 1, 0x70, 16, 0), "table", 13,
			"limits of unknown form 0x10"},
		"memory of form 255":       {withSection(secMemory, 1, 0xff, 0), "memory", 12, "limits of unknown form 0xff"},
		"memory without a maximum": {withSection(secMemory, 1, 1, 1), "memory", 13, short},
		"global without a value":   {withSection(secGlobal, 1, 0x7f, 0, 0x41, 0), "global", firstByte + 1, many},
		"global of form 4": {withSection(secGlobal, 1, 0x7f, 4, 0x41, 0, 0x0b), "global", 13,
			"global of unknown form 0x04"},
		"global of a call": {withSection(secGlobal, 1, 0x7f, 0, 0x10, 0, 0x0b), "global", 14,
			"call in a constant expression"},
		"global of two values": {withSection(secGlobal, 1, 0x7f, 0, 0x41, 0, 0x0f, 0x0b), "global", 16,
			"return in a constant expression"},
		"global of a null i32": {withSection(secGlobal, 1, 0x70, 0, 0xd0, 0x7f, 0x0b), "global", 15,
			"i32 is not a reference type"},
		"global of no instruction": {withSection(secGlobal, 1, 0x7f, 0, 0x27, 0, 0x0b), "global", 13,
			"opcode(0x27) is not known"},
		"global of i32 of 33 bits": {withSection(secGlobal, 1, 0x7f, 0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x08, 0x0b),
			"global", 19, leb},
		"global of a cut f32": {withSection(secGlobal, 1, 0x7d, 0, 0x43, 1, 2), "global", 14, short},
		"global of a cut v128": {withSection(secGlobal, 1, 0x7b, 0, 0xfd, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			"global", 23, short},
		"export of kind 9": {withSection(secExport, 1, 1, 'e', 9, 0), "export", 15,
			`export "e" of unknown kind 9`},
		"export without an index": {withSection(secExport, 1, 1, 'e', 0), "export", 14, short},
		"start without an index":  {cut(secStart, 0), "start", firstByte, short},
		"elements of form 8": {withSection(secElement, 1, 8, 0), "element", 12,
			"element segment of unknown form 8"},
		"elements of kind 1": {withSection(secElement, 1, 1, 1, 0), "element", 13,
			"element segment of unknown kind 1"},
		"elements of type f32": {withSection(secElement, 1, 5, 0x7d, 0), "element", 13,
			"f32 is not a reference type"},
		"elements without a table":  {withSection(secElement, 1, 6, 0x80), "element", 13, short},
		"elements: more than bytes": {withSection(secElement, 1, 1, 0, 2, 0), "element", 14, many},
		"elements: cut expression": {withSection(secElement, 1, 5, 0x70, 1, 0xd2, 0, 0x20), "element", 17,
			"local.get in a constant expression"},
		"a body longer than code": {withSection(secCode, 1, 4, 0, 0x0b), "code", 12, short},
		"a body of no bytes":      {withSection(secCode, 1, 0, 0, 0), "code", 12, short},
		"a body without code":     {withSection(secCode, 1, 1, 0, 0), "code", 13, short},
		"locals of no type": {withSection(secCode, 1, 4, 1, 1, 0x00, 0x0b), "code", 14,
			"type 0x00 is not known"},
		"locals: more than bytes": {withSection(secCode, 1, 2, 1, 0x0b), "code", 13, many},
		"50,001 locals": {withSection(secCode, 1, 6, 1, 0xd1, 0x86, 0x03, 0x7f, 0x0b), "code", 17,
			"more than 50000 locals"},
		"2^32 locals and one": {withSection(secCode, 1, 10, 2, 1, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f,
			0x0b), "code", 21, "more than 50000 locals"},
		"bodies without functions": {withSection(secCode, 1, 2, 0, 0x0b), "code", 14, "1 bodies for 0 functions"},
		"functions without bodies": {withSection(secFunc, 2, 0, 0), "code", 13, "0 bodies for 2 functions"},
		"data of form 3":           {withSection(secData, 1, 3, 0), "data", 12, "data segment of unknown form 3"},
		"data longer than it is":   {withSection(secData, 1, 1, 2, 'a'), "data", 13, short},
		"data at a call": {withSection(secData, 1, 0, 0x10, 0, 0x0b, 0), "data", 13,
			"call in a constant expression"},
		"data count of no number": {withSection(secDataCount, 0x80), "data count", 11, short},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(c.b)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want %q", err, c.reason)
			}
			want := Error{Section: c.section, Offset: c.offset, Func: -1, Reason: c.reason}
			if *e != want {
				t.Errorf("got %+v\nwant %+v", *e, want)
			}
		})
	}
}

// TestLimitsOfDecode: what is at a limit is read, and one more is refused, before
// anything is made for it.
func TestLimitsOfDecode(t *testing.T) {
	params := func(n int) []byte {
		body := AppendUnsigned([]byte{1, 0x60}, uint64(n))
		body = append(append(body, bytes.Repeat([]byte{byte(I32)}, n)...), 0)
		return appendSized(append(bytes.Clone(header), secType), body)
	}
	m, err := Decode(params(MaxParams))
	if err != nil || len(m.Types[0].Params) != MaxParams {
		t.Errorf("%d parameters: %v", MaxParams, err)
	}
	if _, err := Decode(params(MaxParams + 1)); err == nil ||
		!strings.Contains(err.Error(), "1001 parameters or results, more than the limit of 1000") {
		t.Errorf("%d parameters: got %v", MaxParams+1, err)
	}
	most := Encode(&Module{Types: []FuncType{{}}, Funcs: []uint32{0},
		Code: []Code{{Locals: []LocalDecl{{MaxLocals - 1, I64}, {1, F32}}, Body: []byte{0x0b}}}})
	if m, err := Decode(most); err != nil || m.Code[0].Locals[0].Count != MaxLocals-1 {
		t.Errorf("%d locals: %v", MaxLocals, err)
	}
	if _, err := Decode(make([]byte, MaxModule+1)); err == nil ||
		!strings.Contains(err.Error(), "larger than the limit of 268435456") {
		t.Errorf("a large module: got %v", err)
	}
	few := testing.AllocsPerRun(1, func() { // 2^32-1 types in a section of 300 bytes
		body := append([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, make([]byte, 300)...)
		if _, err := Decode(appendSized(append(bytes.Clone(header), secType), body)); err == nil {
			t.Error("2^32-1 types: no error")
		}
	})
	if few > 20 {
		t.Errorf("a false count took %.0f allocations", few)
	}
}

// TestTruncatedModules: a module that is cut anywhere is refused, or is the
// shorter module that the sections until there make; nothing reads beyond the cut.
func TestTruncatedModules(t *testing.T) {
	whole := Encode(specimen())
	ends := map[int]bool{len(header): true} // of sections
	for c := (&cursor{b: whole, pos: len(header)}); !c.done(); ends[c.pos] = true {
		c.byte()
		c.take(int(c.u32()))
	}
	for n := range whole {
		_, err := Decode(slices.Clip(whole[:n]))
		var e *Error
		switch {
		case err == nil && !ends[n]:
			t.Errorf("cut at %d inside a section: no error", n)
		case err != nil && !errors.As(err, &e):
			t.Errorf("cut at %d: an error of type %T", n, err)
		case err != nil && (e.Offset < 0 || e.Offset > n):
			t.Errorf("cut at %d: the fault is at %d, outside", n, e.Offset)
		}
	}
}

// TestChangedModules: one byte changed anywhere gives an error inside the module,
// or a module that is written and read again as it is.
func TestChangedModules(t *testing.T) {
	whole := Encode(specimen())
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		at := rapid.IntRange(len(header), len(b)-1).Draw(t, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		m, err := Decode(b)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(b) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if _, err := Decode(Encode(m)); err != nil {
			t.Fatalf("byte %d: what was read cannot be read again: %v", at, err)
		}
	})
}
