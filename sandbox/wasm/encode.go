package wasm

import "encoding/binary"

// AppendUnsigned appends x as unsigned LEB128.
func AppendUnsigned(b []byte, x uint64) []byte { return binary.AppendUvarint(b, x) }

// AppendSigned appends x as signed LEB128.
func AppendSigned(b []byte, x int64) []byte {
	for {
		low := byte(x & 0x7f)
		x >>= 7
		if x == 0 && low&0x40 == 0 || x == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// AppendOp appends an instruction's code with its prefix.
func AppendOp(b []byte, op Opcode) []byte {
	if op < 0x100 {
		return append(b, byte(op))
	}
	return AppendUnsigned(append(b, byte(op>>8)), uint64(op&0xff))
}

// AppendBlockType appends a block type in the form of Instr.Block.
func AppendBlockType(b []byte, bt int32) []byte {
	if bt < 0 {
		return append(b, byte(-bt))
	}
	return AppendSigned(b, int64(bt))
}

func appendName(b []byte, s string) []byte {
	return append(AppendUnsigned(b, uint64(len(s))), s...)
}

func appendVec[T any](b []byte, items []T, one func([]byte, *T) []byte) []byte {
	b = AppendUnsigned(b, uint64(len(items)))
	for i := range items {
		b = one(b, &items[i])
	}
	return b
}

// appendSection appends a section unless it is empty.
func appendSection[T any](b []byte, id byte, items []T, one func([]byte, *T) []byte) []byte {
	if len(items) == 0 {
		return b
	}
	return appendSized(append(b, id), appendVec(nil, items, one))
}

func appendSized(b, body []byte) []byte {
	return append(AppendUnsigned(b, uint64(len(body))), body...)
}

// Encode writes the module. Custom sections come last.
func Encode(m *Module) []byte {
	size := 1 << 12
	for i := range m.Code {
		size += len(m.Code[i].Body) + 16
	}
	b := append(make([]byte, 0, size), header...)
	b = appendSection(b, secType, m.Types, appendFuncType)
	b = appendSection(b, secImport, m.Imports, appendImport)
	b = appendSection(b, secFunc, m.Funcs, appendIndex)
	b = appendSection(b, secTable, m.Tables, appendTable)
	b = appendSection(b, secMemory, m.Memories, appendLimits)
	b = appendSection(b, secGlobal, m.Globals, appendGlobal)
	b = appendSection(b, secExport, m.Exports, appendExport)
	if m.Start != nil {
		b = appendSized(append(b, secStart), AppendUnsigned(nil, uint64(*m.Start)))
	}
	b = appendSection(b, secElement, m.Elements, appendElement)
	if m.HasDataCount {
		b = appendSized(append(b, secDataCount), AppendUnsigned(nil, uint64(len(m.Data))))
	}
	b = appendSection(b, secCode, m.Code, appendCode)
	b = appendSection(b, secData, m.Data, appendData)
	for _, c := range m.Customs {
		b = appendSized(append(b, secCustom), append(appendName(nil, c.Name), c.Data...))
	}
	return b
}

func appendIndex(b []byte, i *uint32) []byte { return AppendUnsigned(b, uint64(*i)) }

func appendTypes(b []byte, ts []ValType) []byte {
	b = AppendUnsigned(b, uint64(len(ts)))
	for _, t := range ts {
		b = append(b, byte(t))
	}
	return b
}

func appendFuncType(b []byte, t *FuncType) []byte {
	return appendTypes(appendTypes(append(b, 0x60), t.Params), t.Results)
}

func appendLimits(b []byte, l *Limits) []byte {
	if l.HasMax {
		return AppendUnsigned(AppendUnsigned(append(b, 1), uint64(l.Min)), uint64(l.Max))
	}
	return AppendUnsigned(append(b, 0), uint64(l.Min))
}

func appendTable(b []byte, t *TableType) []byte {
	return appendLimits(append(b, byte(t.Elem)), &t.Limits)
}

func appendGlobalType(b []byte, g *GlobalType) []byte {
	mut := byte(0)
	if g.Mutable {
		mut = 1
	}
	return append(b, byte(g.Type), mut)
}

func appendGlobal(b []byte, g *Global) []byte {
	return AppendConst(appendGlobalType(b, &g.Type), g.Init)
}

func appendImport(b []byte, i *Import) []byte {
	b = append(appendName(appendName(b, i.Module), i.Name), byte(i.Kind))
	switch i.Kind {
	case TableKind:
		return appendTable(b, &i.Table)
	case MemoryKind:
		return appendLimits(b, &i.Memory)
	case GlobalKind:
		return appendGlobalType(b, &i.Global)
	}
	return AppendUnsigned(b, uint64(i.Type))
}

func appendExport(b []byte, e *Export) []byte {
	return AppendUnsigned(append(appendName(b, e.Name), byte(e.Kind)), uint64(e.Index))
}

// AppendConst appends a constant expression with its end.
func AppendConst(b []byte, e ConstExpr) []byte {
	b = AppendOp(b, e.Op)
	switch e.Op {
	case OpI32Const:
		b = AppendSigned(b, int64(int32(e.Bits)))
	case OpI64Const:
		b = AppendSigned(b, int64(e.Bits))
	case OpF32Const:
		b = binary.LittleEndian.AppendUint32(b, uint32(e.Bits))
	case OpF64Const:
		b = binary.LittleEndian.AppendUint64(b, e.Bits)
	case OpV128Const:
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, e.Bits), e.Hi)
	case OpRefNull:
		b = append(b, byte(e.Bits))
	default:
		b = AppendUnsigned(b, e.Bits)
	}
	return append(b, byte(OpEnd))
}

func appendConst(b []byte, e *ConstExpr) []byte { return AppendConst(b, *e) }

// appendElement writes the shortest of the forms that can hold the segment.
func appendElement(b []byte, e *Element) []byte {
	plain := e.Type == FuncRef
	for i := range e.Init {
		plain = plain && e.Init[i].Op == OpRefFunc
	}
	flag := byte(0)
	switch {
	case e.Mode == Passive:
		flag = 1
	case e.Mode == Declarative:
		flag = 3
	case e.Table != 0 || e.Type != FuncRef:
		flag = 2
	}
	if !plain {
		flag |= 4
	}
	b = append(b, flag)
	if flag&3 == 2 {
		b = AppendUnsigned(b, uint64(e.Table))
	}
	if flag&1 == 0 {
		b = AppendConst(b, e.Offset)
	}
	if flag&3 != 0 {
		if plain {
			b = append(b, 0)
		} else {
			b = append(b, byte(e.Type))
		}
	}
	if plain {
		return appendVec(b, e.Init, func(b []byte, x *ConstExpr) []byte { return AppendUnsigned(b, x.Bits) })
	}
	return appendVec(b, e.Init, appendConst)
}

func appendData(b []byte, d *Data) []byte {
	switch {
	case d.Mode == Passive:
		b = append(b, 1)
	case d.Memory != 0:
		b = AppendConst(AppendUnsigned(append(b, 2), uint64(d.Memory)), d.Offset)
	default:
		b = AppendConst(append(b, 0), d.Offset)
	}
	return appendSized(b, d.Bytes)
}

func appendCode(b []byte, c *Code) []byte {
	locals := appendVec(make([]byte, 0, 16), c.Locals, func(b []byte, d *LocalDecl) []byte {
		return append(AppendUnsigned(b, uint64(d.Count)), byte(d.Type))
	})
	b = AppendUnsigned(b, uint64(len(locals)+len(c.Body)))
	return append(append(b, locals...), c.Body...)
}
