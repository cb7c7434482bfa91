package wasm

import (
	"bytes"
	"errors"
	"fmt"
)

// Limits on what is read, all at least what engines allow, so that none refuses a module that would run.
const (
	// MaxModule is the size in bytes of the largest module read (256 MiB).
	MaxModule = 256 << 20
	// MaxLocals bounds the locals of one function (the JavaScript API's limit, and wazero's).
	MaxLocals = 50_000
	// MaxParams bounds the parameters, and the results, of a function or block type.
	MaxParams = 1_000
)

// header is the magic number and version 1.
var header = []byte("\x00asm\x01\x00\x00\x00")

// section ids, in the order in which they may appear, and their names.
const (
	secCustom = iota
	secType
	secImport
	secFunc
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag"}

// sectionRank orders sections: the data count comes between elements and code.
var sectionRank = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 10, 6}

// Decode reads a module. The result aliases b. Errors are of type *Error.
// The bodies of functions are delimited but not read; see Reader.
func Decode(b []byte) (*Module, error) {
	if len(b) > MaxModule {
		return nil, &Error{Section: "header", Func: -1,
			Reason: fmt.Sprintf("module of %d bytes is larger than the limit of %d", len(b), MaxModule)}
	}
	if !bytes.HasPrefix(b, header) {
		return nil, &Error{Section: "header", Func: -1, Reason: "not a WebAssembly module of version 1"}
	}
	m := &Module{}
	c := &cursor{b: b, pos: len(header)}
	rank := 0
	for !c.done() {
		id := c.byte()
		body := c.take(int(c.u32()))
		if c.err != nil {
			return nil, &Error{Section: "header", Offset: c.at, Func: -1, Reason: c.err.Error()}
		}
		start := c.pos - len(body)
		if int(id) >= len(sectionNames) {
			return nil, &Error{Section: "header", Offset: start, Func: -1, Reason: fmt.Sprintf("unknown section %d", id)}
		}
		s := &cursor{b: body, base: start}
		if r := sectionRank[id]; id != secCustom {
			if r <= rank && id != secTag {
				s.fail(errors.New("section is repeated or out of order"))
			}
			rank = max(rank, r)
		}
		m.section(int(id), s)
		if s.err == nil && !s.done() {
			s.fail(errors.New("section is longer than its contents"))
		}
		if s.err != nil {
			return nil, &Error{Section: sectionNames[id], Offset: s.at, Func: -1, Reason: s.err.Error(),
				Feature: featureOf(s.err)}
		}
	}
	if len(m.Code) != len(m.Funcs) {
		return nil, &Error{Section: "code", Offset: len(b), Func: -1,
			Reason: fmt.Sprintf("%d bodies for %d functions", len(m.Code), len(m.Funcs))}
	}
	return m, nil
}

// vec reads a vector of entries that take at least min bytes each.
func vec[T any](c *cursor, min int, read func(*cursor) T) []T {
	n := c.count(min)
	if n == 0 {
		return nil
	}
	// Entries in memory may be much larger than in the module: grow with what is really there.
	out := make([]T, 0, min1(n, 4096))
	for range n {
		v := read(c)
		if c.err != nil {
			return nil
		}
		out = append(out, v)
	}
	return out
}

func min1(a, b int) int { return max(1, min(a, b)) }

func (m *Module) section(id int, c *cursor) {
	switch id {
	case secCustom:
		name := c.name()
		m.Customs = append(m.Customs, Custom{Name: name, Data: c.take(len(c.b) - c.pos)})
	case secType:
		m.Types = vec(c, 2, (*cursor).funcType) // other types may take 2, and are to be named
	case secImport:
		m.Imports = vec(c, 4, (*cursor).imp)
		m.checkMemories(c)
	case secFunc:
		m.Funcs = vec(c, 1, (*cursor).u32)
	case secTable:
		m.Tables = vec(c, 3, (*cursor).tableType)
	case secMemory:
		m.Memories = vec(c, 2, (*cursor).limits)
		m.checkMemories(c)
	case secGlobal:
		m.Globals = vec(c, 5, func(c *cursor) Global { return Global{c.globalType(), c.constExpr()} })
	case secExport:
		m.Exports = vec(c, 3, (*cursor).export)
	case secStart:
		f := c.u32()
		m.Start = &f
	case secElement:
		m.Elements = vec(c, 2, (*cursor).element)
	case secCode:
		m.Code = vec(c, 3, (*cursor).code)
	case secData:
		m.Data = vec(c, 2, (*cursor).data)
	case secDataCount:
		c.u32()
		m.HasDataCount = true
	case secTag:
		if c.count(2) > 0 {
			c.fail(unsupported{Exceptions, "a tag section"})
		}
	}
}

func (m *Module) checkMemories(c *cursor) {
	if n := m.Imported(MemoryKind) + len(m.Memories); n > 1 {
		c.fail(unsupported{SeveralMems, fmt.Sprintf("%d memories", n)})
	}
}

func (c *cursor) valType() ValType {
	switch t := ValType(c.byte()); t {
	case I32, I64, F32, F64, V128, FuncRef, ExternRef:
		return t
	default:
		if c.err == nil {
			c.pos--
			c.unknownType(byte(t))
		}
		return 0
	}
}

// unknownType fails at a type that does not exist in WebAssembly 2.0.
func (c *cursor) unknownType(b byte) {
	if f := typeFeature(b); f != "" {
		c.fail(unsupported{f, fmt.Sprintf("type 0x%02x", b)})
		return
	}
	c.fail(fmt.Errorf("type 0x%02x is not known", b))
}

func (c *cursor) valTypes() []ValType {
	n := c.count(1)
	if n > MaxParams {
		c.fail(fmt.Errorf("%d parameters or results, more than the limit of %d", n, MaxParams))
		return nil
	}
	ts := make([]ValType, n)
	for i := range ts {
		ts[i] = c.valType()
	}
	return ts
}

func (c *cursor) funcType() FuncType {
	if b := c.byte(); b != 0x60 && c.err == nil {
		c.pos--
		c.unknownType(b)
	}
	return FuncType{c.valTypes(), c.valTypes()}
}

func (c *cursor) limits() (l Limits) {
	switch flag := c.byte(); {
	case c.err != nil:
	case flag <= 1:
		l.Min, l.HasMax = c.u32(), flag == 1
		if l.HasMax {
			l.Max = c.u32()
		}
	case flag > 15:
		c.fail(fmt.Errorf("limits of unknown form %#02x", flag))
	case flag&2 != 0:
		c.fail(unsupported{Threads, "a shared memory"})
	case flag&4 != 0:
		c.fail(unsupported{Memory64, "a memory or table of 64-bit size"})
	default:
		c.fail(unsupported{PageSizes, "a memory with its own page size"})
	}
	return l
}

func (c *cursor) refType() ValType {
	t := c.valType()
	if c.err == nil && !t.IsRef() {
		c.fail(fmt.Errorf("%s is not a reference type", t))
	}
	return t
}

func (c *cursor) tableType() TableType {
	if c.pos < len(c.b) && c.b[c.pos] == 0x40 {
		c.fail(unsupported{TypedRefs, "a table with an initial value"})
	}
	return TableType{c.refType(), c.limits()}
}

func (c *cursor) globalType() GlobalType {
	t := c.valType()
	b := c.byte()
	if b > 3 {
		c.fail(fmt.Errorf("global of unknown form %#02x", b))
	} else if b > 1 {
		c.fail(unsupported{Threads, "a shared global"})
	}
	return GlobalType{t, b == 1}
}

func (c *cursor) imp() Import {
	i := Import{Module: c.name(), Name: c.name(), Kind: ExternKind(c.byte())}
	switch i.Kind {
	case FuncKind:
		i.Type = c.u32()
	case TableKind:
		i.Table = c.tableType()
	case MemoryKind:
		i.Memory = c.limits()
	case GlobalKind:
		i.Global = c.globalType()
	case tagKind:
		c.fail(unsupported{Exceptions, fmt.Sprintf("an imported tag, %s.%s", clip(i.Module), clip(i.Name))})
	default:
		c.fail(fmt.Errorf("import of unknown kind %d", i.Kind))
	}
	return i
}

func (c *cursor) export() Export {
	e := Export{Name: c.name(), Kind: ExternKind(c.byte()), Index: c.u32()}
	if e.Kind == tagKind {
		c.fail(unsupported{Exceptions, "an exported tag"})
	}
	if e.Kind > GlobalKind {
		c.fail(fmt.Errorf("export %q of unknown kind %d", e.Name, e.Kind))
	}
	return e
}

func (c *cursor) constExpr() (e ConstExpr) {
	e.Op = c.opcode()
	switch e.Op {
	case OpI32Const:
		e.Bits = uint64(uint32(c.signed(32)))
	case OpI64Const:
		e.Bits = uint64(c.signed(64))
	case OpF32Const:
		e.Bits = uint64(c.fixed32())
	case OpF64Const:
		e.Bits = c.fixed64()
	case OpV128Const:
		e.Bits, e.Hi = c.fixed64(), c.fixed64()
	case OpRefNull:
		e.Bits = uint64(c.refType())
	case OpRefFunc, OpGlobalGet:
		e.Bits = uint64(c.u32())
	default:
		c.notConstant(e.Op)
	}
	if op := c.opcode(); op != OpEnd && c.err == nil {
		c.notConstant(op)
	}
	return e
}

// notConstant fails at an instruction that is none of a constant expression, or not its only one.
func (c *cursor) notConstant(op Opcode) {
	switch op {
	case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e, OpI32Const, OpI64Const, OpGlobalGet: // add, sub and mul of both types
		c.fail(unsupported{ExtendedConst, "more than one instruction"})
	default:
		c.fail(fmt.Errorf("%s in a constant expression", op))
	}
}

func (c *cursor) funcRefs() []ConstExpr {
	return vec(c, 1, func(c *cursor) ConstExpr { return ConstExpr{Op: OpRefFunc, Bits: uint64(c.u32())} })
}

// element reads a segment in one of its eight forms: bit 0 says passive or declarative, bit 1 an
// explicit table or declarative, bit 2 expressions in place of function indices.
func (c *cursor) element() (e Element) {
	flag := c.u32()
	if flag > 7 {
		c.fail(fmt.Errorf("element segment of unknown form %d", flag))
		return e
	}
	e.Type = FuncRef
	switch {
	case flag&1 == 0:
		if flag&2 != 0 {
			e.Table = c.u32()
		}
		e.Offset = c.constExpr()
	case flag&2 == 0:
		e.Mode = Passive
	default:
		e.Mode = Declarative
	}
	if flag&3 != 0 {
		if flag&4 != 0 {
			e.Type = c.refType()
		} else if k := c.byte(); k != 0 {
			c.fail(fmt.Errorf("element segment of unknown kind %d", k))
		}
	}
	if flag&4 != 0 {
		e.Init = vec(c, 3, (*cursor).constExpr)
	} else {
		e.Init = c.funcRefs()
	}
	return e
}

func (c *cursor) data() (d Data) {
	switch flag := c.u32(); flag {
	case 0:
		d.Offset = c.constExpr()
	case 1:
		d.Mode = Passive
	case 2:
		d.Memory = c.u32()
		d.Offset = c.constExpr()
	default:
		c.fail(fmt.Errorf("data segment of unknown form %d", flag))
	}
	d.Bytes = c.take(int(c.u32()))
	return d
}

func (c *cursor) code() Code {
	body := c.take(int(c.u32()))
	in := &cursor{b: body, base: c.base + c.pos - len(body)}
	var k Code
	total := uint64(0)
	k.Locals = vec(in, 2, func(in *cursor) LocalDecl {
		d := LocalDecl{in.u32(), in.valType()}
		if total += uint64(d.Count); total > MaxLocals {
			in.fail(fmt.Errorf("more than %d locals", MaxLocals))
		}
		return d
	})
	k.Offset = in.base + in.pos
	k.Body = in.take(len(in.b) - in.pos)
	if in.err == nil && len(k.Body) == 0 {
		in.fail(errShort)
	}
	if in.err != nil && c.err == nil {
		c.err, c.at = in.err, in.at
	}
	return k
}

// opcode reads an instruction's code. It fails at one that does not exist in WebAssembly 2.0.
func (c *cursor) opcode() Opcode {
	start := c.pos
	b := c.byte()
	op := Opcode(b)
	switch b {
	case 0xfb, 0xfc, 0xfd, 0xfe:
		sub := c.u32()
		if c.err != nil {
			return 0
		}
		if op = op<<8 | Opcode(sub); sub > 0xff || !op.exists() {
			c.pos = start
			c.unknownOp(prefixed(b, sub))
			return 0
		}
	default:
		if c.err == nil && !op.exists() {
			c.pos = start
			c.unknownOp(opFeature(b), op.String())
			return 0
		}
	}
	return op
}

func (c *cursor) unknownOp(f Feature, name string) {
	if f != "" {
		c.fail(unsupported{f, name})
		return
	}
	c.fail(fmt.Errorf("%s is not known", name))
}
