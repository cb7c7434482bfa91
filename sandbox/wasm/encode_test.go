package wasm

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// specimen is a module with something of everything.
func specimen() *Module {
	start := uint32(1)
	return &Module{
		Types: []FuncType{{Params: []ValType{}, Results: []ValType{}},
			{Params: []ValType{I32, F64}, Results: []ValType{V128, ExternRef}}},
		Imports: []Import{
			{Module: "env", Name: "f", Kind: FuncKind, Type: 1},
			{Module: "env", Name: "t", Kind: TableKind, Table: TableType{FuncRef, Limits{1, 300, true}}},
			{Module: "env", Name: "m", Kind: MemoryKind, Memory: Limits{Min: 200}},
			{Module: "", Name: "ü", Kind: GlobalKind, Global: GlobalType{I64, true}},
		},
		Funcs:  []uint32{0, 1},
		Tables: []TableType{{ExternRef, Limits{Min: 0}}},
		Globals: []Global{{GlobalType{I32, false}, ConstExpr{Op: OpI32Const, Bits: 0xffffffff}},
			{GlobalType{V128, true}, ConstExpr{Op: OpV128Const, Bits: 1, Hi: 2}}},
		Exports: []Export{{"_start", FuncKind, 1}, {"memory", MemoryKind, 0}},
		Start:   &start,
		Elements: []Element{
			{Type: FuncRef, Offset: ConstExpr{Op: OpI32Const, Bits: 7}, Init: []ConstExpr{{Op: OpRefFunc, Bits: 2}}},
			{Mode: Declarative, Type: FuncRef, Init: []ConstExpr{{Op: OpRefNull, Bits: uint64(FuncRef)}}},
		},
		HasDataCount: true,
		Data: []Data{{Offset: ConstExpr{Op: OpGlobalGet, Bits: 0}, Bytes: []byte("data")},
			{Mode: Passive, Bytes: []byte{}}},
		Code:    []Code{{Body: []byte{0x0b}}, {Locals: []LocalDecl{{3, F32}, {0, I64}}, Body: []byte{0x00, 0x0b}}},
		Customs: []Custom{{"name", []byte("\x01\x04\x01\x01\x01f")}, {"", []byte{}}},
	}
}

func drawConst(t *rapid.T) ConstExpr {
	op := rapid.SampledFrom([]Opcode{OpI32Const, OpI64Const, OpF32Const, OpF64Const, OpV128Const, OpRefNull, OpRefFunc,
		OpGlobalGet}).Draw(t, "op")
	e := ConstExpr{Op: op, Bits: rapid.Uint64().Draw(t, "bits")}
	switch op {
	case OpI64Const, OpF64Const:
	case OpV128Const:
		e.Hi = rapid.Uint64().Draw(t, "high")
	case OpRefNull:
		e.Bits = uint64(rapid.SampledFrom([]ValType{FuncRef, ExternRef}).Draw(t, "null"))
	default:
		e.Bits &= 0xffffffff
	}
	return e
}

func drawLimits(t *rapid.T) Limits {
	l := Limits{Min: rapid.Uint32().Draw(t, "min"), HasMax: rapid.Bool().Draw(t, "has max")}
	if l.HasMax {
		l.Max = rapid.Uint32().Draw(t, "max")
	}
	return l
}

var drawType = rapid.SampledFrom([]ValType{I32, I64, F32, F64, V128, FuncRef, ExternRef})

func drawTable(t *rapid.T) TableType {
	return TableType{rapid.SampledFrom([]ValType{FuncRef, ExternRef}).Draw(t, "elements"), drawLimits(t)}
}

func drawGlobalType(t *rapid.T) GlobalType {
	return GlobalType{drawType.Draw(t, "type"), rapid.Bool().Draw(t, "mutable")}
}

func drawImport(t *rapid.T) Import {
	i := Import{Module: rapid.String().Draw(t, "module"), Name: rapid.String().Draw(t, "name")}
	switch i.Kind = rapid.SampledFrom([]ExternKind{FuncKind, TableKind, GlobalKind}).Draw(t, "kind"); i.Kind {
	case FuncKind:
		i.Type = rapid.Uint32().Draw(t, "index")
	case TableKind:
		i.Table = drawTable(t)
	case GlobalKind:
		i.Global = drawGlobalType(t)
	}
	return i
}

func drawElement(t *rapid.T) Element {
	e := Element{Mode: SegmentMode(rapid.IntRange(0, 2).Draw(t, "mode")), Type: FuncRef}
	if e.Mode == Active {
		e.Offset, e.Table = drawConst(t), rapid.Uint32Range(0, 2).Draw(t, "table")
	}
	if rapid.Bool().Draw(t, "indices") {
		for _, f := range rapid.SliceOf(rapid.Uint32()).Draw(t, "functions") {
			e.Init = append(e.Init, ConstExpr{Op: OpRefFunc, Bits: uint64(f)})
		}
		return e
	}
	e.Type = rapid.SampledFrom([]ValType{FuncRef, ExternRef}).Draw(t, "type")
	e.Init = drawSome(t, drawConst)
	return e
}

func drawData(t *rapid.T) Data {
	d := Data{Mode: SegmentMode(rapid.IntRange(0, 1).Draw(t, "mode")),
		Bytes: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")}
	if d.Mode == Active {
		d.Memory, d.Offset = rapid.Uint32Range(0, 1).Draw(t, "memory"), drawConst(t)
	}
	return d
}

// drawSome draws up to three; nil where there are none, as Decode gives.
func drawSome[T any](t *rapid.T, one func(*rapid.T) T) []T {
	var out []T
	for range rapid.IntRange(0, 3).Draw(t, "number") {
		out = append(out, one(t))
	}
	return out
}

func drawModule(t *rapid.T) *Module {
	types := func(t *rapid.T) []ValType { return rapid.SliceOfN(drawType, 0, 5).Draw(t, "types") }
	m := &Module{
		Types:        drawSome(t, func(t *rapid.T) FuncType { return FuncType{types(t), types(t)} }),
		Imports:      drawSome(t, drawImport),
		Tables:       drawSome(t, drawTable),
		Globals:      drawSome(t, func(t *rapid.T) Global { return Global{drawGlobalType(t), drawConst(t)} }),
		Elements:     drawSome(t, drawElement),
		HasDataCount: rapid.Bool().Draw(t, "data count"),
		Data:         drawSome(t, drawData),
	}
	m.Exports = drawSome(t, func(t *rapid.T) Export {
		return Export{rapid.String().Draw(t, "export"), ExternKind(rapid.IntRange(0, 3).Draw(t, "kind")),
			rapid.Uint32().Draw(t, "index")}
	})
	if rapid.Bool().Draw(t, "memory") {
		m.Memories = []Limits{drawLimits(t)}
	}
	if rapid.Bool().Draw(t, "start") {
		f := rapid.Uint32().Draw(t, "start function")
		m.Start = &f
	}
	for range rapid.IntRange(0, 3).Draw(t, "functions") {
		m.Funcs = append(m.Funcs, rapid.Uint32().Draw(t, "type of function"))
		m.Code = append(m.Code, Code{
			Locals: drawSome(t, func(t *rapid.T) LocalDecl {
				return LocalDecl{rapid.Uint32Range(0, 1000).Draw(t, "n"), drawType.Draw(t, "type")}
			}),
			Body: rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "body"),
		})
	}
	m.Customs = drawSome(t, func(t *rapid.T) Custom {
		return Custom{rapid.String().Draw(t, "custom"), rapid.SliceOf(rapid.Byte()).Draw(t, "content")}
	})
	return m
}

// TestModulesSurvive: what is written is read as it was, whatever the module.
func TestModulesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawModule(t)
		b := Encode(want)
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Code {
			c := &got.Code[i]
			if !bytes.HasPrefix(b[c.Offset:], c.Body) {
				t.Fatalf("the body of function %d does not begin at %d", i, c.Offset)
			}
		}
		if !reflect.DeepEqual(withoutOffsets(got), want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if !bytes.Equal(Encode(got), b) {
			t.Fatal("written again it is of other bytes")
		}
	})
}

// TestSpecimen: of everything something is read as it was written.
func TestSpecimen(t *testing.T) {
	got, err := Decode(Encode(specimen()))
	if err != nil {
		t.Fatal(err)
	}
	want := specimen()
	for i := range got.Code { // no locals are nil or empty
		if len(got.Code[i].Locals) == 0 {
			got.Code[i].Locals = nil
		}
	}
	if !reflect.DeepEqual(withoutOffsets(got), want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestElementForms: the specification's eight forms of an element segment
// (section 5.5.12), and what each is written as: the shortest form that holds it.
func TestElementForms(t *testing.T) {
	at := ConstExpr{Op: OpI32Const, Bits: 5}
	index := []ConstExpr{{Op: OpRefFunc, Bits: 9}}
	null := []ConstExpr{{Op: OpRefNull, Bits: uint64(ExternRef)}}
	for _, c := range []struct {
		name  string
		bytes []byte
		want  Element
		again []byte // nil: the same bytes
	}{
		{"0", []byte{0, 0x41, 5, 0x0b, 1, 9}, Element{Type: FuncRef, Offset: at, Init: index}, nil},
		{"1", []byte{1, 0, 1, 9}, Element{Mode: Passive, Type: FuncRef, Init: index}, nil},
		{"2", []byte{2, 3, 0x41, 5, 0x0b, 0, 1, 9}, Element{Type: FuncRef, Table: 3, Offset: at, Init: index}, nil},
		{"2 for table 0", []byte{2, 0, 0x41, 5, 0x0b, 0, 1, 9}, Element{Type: FuncRef, Offset: at, Init: index},
			[]byte{0, 0x41, 5, 0x0b, 1, 9}},
		{"3", []byte{3, 0, 1, 9}, Element{Mode: Declarative, Type: FuncRef, Init: index}, nil},
		{"4", []byte{4, 0x41, 5, 0x0b, 1, 0xd0, 0x70, 0x0b},
			Element{Type: FuncRef, Offset: at, Init: []ConstExpr{{Op: OpRefNull, Bits: 0x70}}}, nil},
		{"4 of functions only", []byte{4, 0x41, 5, 0x0b, 1, 0xd2, 9, 0x0b},
			Element{Type: FuncRef, Offset: at, Init: index}, []byte{0, 0x41, 5, 0x0b, 1, 9}},
		{"5", []byte{5, 0x6f, 1, 0xd0, 0x6f, 0x0b}, Element{Mode: Passive, Type: ExternRef, Init: null}, nil},
		{"6", []byte{6, 0, 0x41, 5, 0x0b, 0x6f, 1, 0xd0, 0x6f, 0x0b}, Element{Type: ExternRef, Offset: at, Init: null},
			nil},
		{"7", []byte{7, 0x6f, 1, 0xd0, 0x6f, 0x0b}, Element{Mode: Declarative, Type: ExternRef, Init: null}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(withSection(secElement, append([]byte{1}, c.bytes...)...))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(m.Elements[0], c.want) {
				t.Errorf("got %+v, want %+v", m.Elements[0], c.want)
			}
			again := c.again
			if again == nil {
				again = c.bytes
			}
			if got := appendElement(nil, &m.Elements[0]); !bytes.Equal(got, again) {
				t.Errorf("written as % x, want % x", got, again)
			}
		})
	}
}

// TestDataForms: a data segment with an explicit memory 0 is read, and
// written in the shorter form.
func TestDataForms(t *testing.T) {
	m, err := Decode(withSection(secData, 1, 2, 0, 0x41, 5, 0x0b, 2, 'h', 'i'))
	if err != nil {
		t.Fatal(err)
	}
	want := Data{Offset: ConstExpr{Op: OpI32Const, Bits: 5}, Bytes: []byte("hi")}
	if !reflect.DeepEqual(m.Data[0], want) {
		t.Errorf("got %+v, want %+v", m.Data[0], want)
	}
	if got := appendData(nil, &m.Data[0]); !bytes.Equal(got, []byte{0, 0x41, 5, 0x0b, 2, 'h', 'i'}) {
		t.Errorf("written as % x", got)
	}
}
