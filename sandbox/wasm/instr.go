package wasm

import "fmt"

// Instr is one instruction. Which fields mean something depends on the opcode's Imm.
type Instr struct {
	Op         Opcode
	Lane       byte   // ImmMemLane, ImmLane
	Block      int32  // ImmBlock: a type index, or BlockVoid, or minus a ValType
	A, B       uint32 // indices; ImmMem: alignment and offset; ImmRefType: the type in A
	Start, End uint32 // the instruction's bytes within the body
	Bits       uint64 // ImmI32 (as uint32), ImmI64, ImmF32, ImmF64
	// Labels are br_table's targets, the default last; or select's types. They are valid until the next Next.
	Labels []uint32
}

// BlockVoid is the block type without parameters and results.
const BlockVoid int32 = -0x40

// Reader reads the instructions of a body one after another.
type Reader struct {
	c      cursor
	labels []uint32
}

// NewReader gives a reader of a function's body.
func NewReader(code *Code) *Reader {
	return &Reader{c: cursor{b: code.Body, base: code.Offset}}
}

// Done reports whether the body has been read to its last byte.
func (r *Reader) Done() bool { return r.c.done() }

// Next reads an instruction into in. An error is of type *Error, with no function named.
func (r *Reader) Next(in *Instr) error {
	c := &r.c
	start := c.pos
	op := c.opcode()
	in.Op, in.Start = op, uint32(start)
	if c.err == nil {
		r.immediate(op.slot().Imm, in)
	}
	if c.err != nil {
		return &Error{Section: "code", Offset: c.at, Func: -1, Reason: c.err.Error(), Feature: featureOf(c.err)}
	}
	in.End = uint32(c.pos)
	return nil
}

func (r *Reader) immediate(imm Imm, in *Instr) {
	c := &r.c
	switch imm {
	case ImmNone:
	case ImmIndex, ImmLabel:
		in.A = c.u32()
	case ImmBlock:
		in.Block = c.blockType()
	case ImmTable:
		r.labels = r.labels[:0]
		for range c.count(1) {
			r.labels = append(r.labels, c.u32())
		}
		r.labels = append(r.labels, c.u32())
		in.Labels = r.labels
	case ImmMem:
		in.A, in.B = c.alignment(), c.u32()
	case ImmIndirect, ImmTwo:
		in.A, in.B = c.u32(), c.u32()
		if in.Op == OpMemoryInit && in.B != 0 {
			c.fail(errSecondMemory)
		}
	case ImmTypes:
		r.labels = r.labels[:0]
		for range c.count(1) {
			r.labels = append(r.labels, uint32(c.valType()))
		}
		in.Labels = r.labels
	case ImmMemLane:
		in.A, in.B, in.Lane = c.alignment(), c.u32(), c.byte()
	case ImmByte:
		c.zero()
	case ImmTwoZero:
		c.zero()
		c.zero()
	case ImmI32:
		in.Bits = uint64(uint32(c.signed(32)))
	case ImmI64:
		in.Bits = uint64(c.signed(64))
	case ImmF32:
		in.Bits = uint64(c.fixed32())
	case ImmF64:
		in.Bits = c.fixed64()
	case ImmV128, ImmShuffle:
		c.take(16)
	case ImmLane:
		in.Lane = c.byte()
	case ImmRefType:
		in.A = uint32(c.refType())
	}
}

var errSecondMemory = unsupported{SeveralMems, "a memory index other than 0"}

// zero reads the index of a memory.
func (c *cursor) zero() {
	if b := c.byte(); b != 0 {
		c.fail(errSecondMemory)
	}
}

// alignment reads that of a load or store: its bit 6 says that the index of a memory follows.
func (c *cursor) alignment() uint32 {
	a := c.u32()
	if a&0x40 != 0 {
		c.fail(errSecondMemory)
	}
	return a
}

func (c *cursor) blockType() int32 {
	if c.pos < len(c.b) {
		switch b := c.b[c.pos]; ValType(b) {
		case 0x40:
			c.pos++
			return BlockVoid
		case I32, I64, F32, F64, V128, FuncRef, ExternRef:
			c.pos++
			return -int32(b)
		}
	}
	x := c.signed(33)
	if x < 0 {
		c.unknownType(byte(x) & 0x7f) // a block type of one byte is a value type
		return 0
	}
	return int32(min(x, 1<<31-1))
}

// BlockType gives the parameters and results of a block type.
func (m *Module) BlockType(bt int32) (FuncType, error) {
	switch {
	case bt == BlockVoid:
		return FuncType{}, nil
	case bt < 0:
		return oneResult(ValType(-bt)), nil
	case int(bt) < len(m.Types):
		return m.Types[bt], nil
	}
	return FuncType{}, fmt.Errorf("block type %d of %d", bt, len(m.Types))
}

var singleResult = func() (ts [256]FuncType) {
	for i := range ts {
		ts[i].Results = []ValType{ValType(i)}
	}
	return ts
}()

func oneResult(t ValType) FuncType { return singleResult[t] }
