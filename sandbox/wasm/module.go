package wasm

import "fmt"

// ValType is the type of a value, as encoded in the binary format.
type ValType byte

// The value types of WebAssembly 2.0.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	V128      ValType = 0x7b
	FuncRef   ValType = 0x70
	ExternRef ValType = 0x6f
)

// IsRef reports whether values of type t are references, which cannot be stored in a memory.
func (t ValType) IsRef() bool { return t == FuncRef || t == ExternRef }

// Size is the number of bytes a value of type t takes in memory; 0 for references.
func (t ValType) Size() uint32 {
	switch t {
	case I32, F32:
		return 4
	case I64, F64:
		return 8
	case V128:
		return 16
	}
	return 0
}

// String names the type as the text format does.
func (t ValType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	}
	return fmt.Sprintf("type(0x%02x)", byte(t))
}

// FuncType is the type of a function.
type FuncType struct {
	Params, Results []ValType
}

// Equal reports whether two function types are the same type.
func (t FuncType) Equal(u FuncType) bool {
	return string(bytesOf(t.Params)) == string(bytesOf(u.Params)) &&
		string(bytesOf(t.Results)) == string(bytesOf(u.Results))
}

func bytesOf(ts []ValType) []byte {
	b := make([]byte, len(ts))
	for i, t := range ts {
		b[i] = byte(t)
	}
	return b
}

// Limits bound the size of a memory in pages or of a table in entries.
type Limits struct {
	Min, Max uint32
	HasMax   bool
}

// TableType is the type of a table.
type TableType struct {
	Elem   ValType
	Limits Limits
}

// GlobalType is the type of a global.
type GlobalType struct {
	Type    ValType
	Mutable bool
}

// ExternKind says what an import or export is.
type ExternKind byte

// The kinds of imports and exports.
const (
	FuncKind   ExternKind = 0
	TableKind  ExternKind = 1
	MemoryKind ExternKind = 2
	GlobalKind ExternKind = 3
	tagKind    ExternKind = 4 // of exceptions
)

// Import is one import; the field for its Kind is meaningful, the others are zero.
type Import struct {
	Module, Name string
	Kind         ExternKind
	Type         uint32 // index of a function's type
	Table        TableType
	Memory       Limits
	Global       GlobalType
}

// Export is one export. Index counts imports first.
type Export struct {
	Name  string
	Kind  ExternKind
	Index uint32
}

// ConstExpr is an initialiser: one constant instruction. Bits holds the constant's bits, or the index
// that global.get or ref.func names; Hi the upper half of a v128. For ref.null, Bits is the ValType.
type ConstExpr struct {
	Op       Opcode
	Bits, Hi uint64
}

// Global is a global that the module defines.
type Global struct {
	Type GlobalType
	Init ConstExpr
}

// SegmentMode says when a segment is used.
type SegmentMode byte

// The modes of element and data segments.
const (
	Active      SegmentMode = iota // copied when the module is instantiated
	Passive                        // copied by table.init or memory.init
	Declarative                    // never copied; declares references (element segments only)
)

// Element is an element segment. Table and Offset are meaningful if it is active.
type Element struct {
	Mode   SegmentMode
	Type   ValType
	Table  uint32
	Offset ConstExpr
	Init   []ConstExpr
}

// Data is a data segment. Memory and Offset are meaningful if it is active. Bytes aliases the module's bytes.
type Data struct {
	Mode   SegmentMode
	Memory uint32
	Offset ConstExpr
	Bytes  []byte
}

// LocalDecl declares Count locals of one type.
type LocalDecl struct {
	Count uint32
	Type  ValType
}

// Code is the body of a function that the module defines. Body holds the instructions with the final end
// and aliases the module's bytes; Offset is where it begins in them.
type Code struct {
	Locals []LocalDecl
	Body   []byte
	Offset int
}

// Custom is a custom section. Data aliases the module's bytes.
type Custom struct {
	Name string
	Data []byte
}

// Module is a module. The zero value is the empty module.
type Module struct {
	Types    []FuncType
	Imports  []Import
	Funcs    []uint32 // type index of each function defined
	Tables   []TableType
	Memories []Limits // at most one
	Globals  []Global
	Exports  []Export
	Start    *uint32
	Elements []Element
	// HasDataCount says that the module has a data count section, which memory.init and data.drop need.
	HasDataCount bool
	Data         []Data
	Code         []Code // as many as Funcs
	Customs      []Custom
}

// Imported counts the imports of a kind; they come first in that kind's index space.
func (m *Module) Imported(k ExternKind) int {
	n := 0
	for i := range m.Imports {
		if m.Imports[i].Kind == k {
			n++
		}
	}
	return n
}

// FuncTypeIndices gives the type index of every function, imports first.
func (m *Module) FuncTypeIndices() []uint32 {
	var ts []uint32
	for i := range m.Imports {
		if m.Imports[i].Kind == FuncKind {
			ts = append(ts, m.Imports[i].Type)
		}
	}
	return append(ts, m.Funcs...)
}

// GlobalTypes gives the type of every global, imports first.
func (m *Module) GlobalTypes() []GlobalType {
	var ts []GlobalType
	for i := range m.Imports {
		if m.Imports[i].Kind == GlobalKind {
			ts = append(ts, m.Imports[i].Global)
		}
	}
	for i := range m.Globals {
		ts = append(ts, m.Globals[i].Type)
	}
	return ts
}

// TableTypes gives the type of every table, imports first.
func (m *Module) TableTypes() []TableType {
	var ts []TableType
	for i := range m.Imports {
		if m.Imports[i].Kind == TableKind {
			ts = append(ts, m.Imports[i].Table)
		}
	}
	return append(ts, m.Tables...)
}
