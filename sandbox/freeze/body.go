package freeze

import (
	"fmt"

	"godwit/sandbox/wasm"
)

// ins is an instruction of a function as the pass sees it. Code that cannot be reached is left out.
type ins struct {
	op         wasm.Opcode
	lane       byte
	canon      shape // canonicalise the result, which has this shape
	spill      int16 // results from this one on are kept in temporaries; -1 if none
	block      int32
	a, b       uint32
	start, end uint32       // bytes in the body
	match      int32        // opener and else: index of the end; end: index of the opener
	els        int32        // if: index of its else, or -1; br_table: first of its labels
	height     int32        // operands below the results; block, loop, if: below the parameters
	point      int32        // index in points, or -1
	typ        wasm.ValType // of the result, if there is one
	bits       uint64
}

// value is an operand on the stack: its type, the instruction that produced it (-1: a parameter of
// nothing, which cannot be) and which of its results it is.
type value struct {
	typ  wasm.ValType
	from int32
	nth  int16
}

// construct is a block, loop, if or function being read.
type construct struct {
	opener int32 // index of the block, loop or if; -1 for the function
	base   int32 // height of the stack below its parameters
	typ    wasm.FuncType
	params []value // an if's parameters, for its else
}

// function is the analysis of one function.
type function struct {
	p       *plan
	index   int // counting imports
	typ     wasm.FuncType
	code    *wasm.Code
	locals  []wasm.ValType // parameters, then declared locals
	ins     []ins
	labels  []uint32 // targets of all br_tables, each table's followed by its default
	points  []point
	temps   map[temp]uint32 // temporaries by what they hold, as indices of locals
	tempAt  []wasm.ValType  // types of the locals after the original ones
	loops   map[int32]*loop
	jumps   map[int32]uint64 // what a jump of a dispatching loop charges, by instruction
	charges map[int32]uint64 // what is charged behind which instruction
	exits   []exit           // the pieces of code that leave frames
	groups  map[int32]member // stores of dirty floats
	hasNaNs bool

	// while reading
	stack  []value
	ctl    []construct
	marked int // operands below this height are already spilled
	flows  flows
}

// temp identifies a temporary: the operand of a type at a height of the stack. Scratch locals use
// negative heights.
type temp struct {
	height int32
	typ    wasm.ValType
}

// The scratch locals of a function.
const (
	scratchFuel     = -1
	scratchFrame    = -2
	scratchNaN      = -3
	scratchNext     = -4
	scratchLen      = -5
	scratchFrom     = -6
	scratchCond     = -7
	scratchBits     = -8
	scratchDividend = -9
	scratchDivisor  = -10
	// scratchStores and below are for the places and values of a group of stores.
	scratchStores = -11
	// scratchLocals is room for all of them, some in several types.
	scratchLocals = 20 + 3*maxGroup
)

// loop is what is known of one loop.
type loop struct {
	cost   uint64
	atHead bool // the poll stands at the head, not before each branch back
	// dispatches says that branches back charge and the head only tests.
	dispatches bool
	quiet      bool // there are no calls in it
	live       []uint64
	point      int32
}

// maxBackEdges is how many branches back a loop may have before its poll moves to the head: a poll is
// about 25 bytes of code.
const maxBackEdges = 6

// local gives the local that holds a temporary, made on first use.
func (f *function) local(height int32, t wasm.ValType) uint32 {
	k := temp{height, t}
	x, ok := f.temps[k]
	if !ok {
		x = uint32(len(f.locals) + len(f.tempAt))
		f.temps[k] = x
		f.tempAt = append(f.tempAt, t)
	}
	return x
}

// analyse reads function index (counting imports), finds its safe points and what is live there.
func (p *plan) analyse(index int) (*function, error) {
	f := &function{p: p, index: index, temps: map[temp]uint32{}, loops: map[int32]*loop{}}
	f.code = &p.mod.Code[index-p.imported]
	f.typ = p.mod.Types[p.funcTypes[index]]
	f.locals = append(f.locals, f.typ.Params...)
	for _, d := range f.code.Locals {
		for range d.Count {
			f.locals = append(f.locals, d.Type)
		}
	}
	if err := f.read(); err != nil {
		return nil, err
	}
	f.settleNaNs()
	f.assess()
	if p.Funcs[index-p.imported].Unwinds {
		if err := f.findLive(); err != nil {
			return nil, err
		}
		if err := f.layFrames(); err != nil {
			return nil, err
		}
	}
	f.flows = flows{}
	if len(f.locals)+len(f.tempAt)+scratchLocals > wasm.MaxLocals {
		return nil, f.refuse(f.code.Offset, "%d locals and %d operands to save are more than the limit of %d locals",
			len(f.locals), len(f.tempAt), wasm.MaxLocals)
	}
	return f, nil
}

// refuse makes an error that wraps ErrRefused, about the function at an offset.
func (f *function) refuse(offset int, format string, args ...any) error {
	return refuse(f.index, f.p.mod.FuncName(f.index), offset, format, args...)
}

// errInvalid is what reading panics with, inside this package only, on a body that is not valid: the
// module has been validated, so this is a second line of defence, not the judge of modules.
type errInvalid string

func (f *function) read() (err error) {
	var in wasm.Instr
	r := wasm.NewReader(f.code)
	defer func() {
		if e, ok := recover().(errInvalid); ok {
			err = &wasm.Error{Section: "code", Offset: f.code.Offset + int(in.Start), Func: f.index,
				Name:   f.p.mod.FuncName(f.index),
				Reason: fmt.Sprintf("%s: %s", in.Op, string(e))}
		}
	}()
	unwinds := f.p.Funcs[f.index-f.p.imported].Unwinds
	f.ins = make([]ins, 0, len(f.code.Body)/2)
	f.ctl = append(f.ctl, construct{opener: -1, typ: wasm.FuncType{Results: f.typ.Results}})
	if f.p.Funcs[f.index-f.p.imported].EntryPoll {
		f.addPoint(pointEntry, -1, 0)
	}
	dead := 0 // constructs open in code that cannot be reached; 0 if the code can be
	for len(f.ctl) > 0 {
		if r.Done() {
			panic(errInvalid("body ends before its end"))
		}
		if err := r.Next(&in); err != nil {
			if e, ok := err.(*wasm.Error); ok {
				e.Func, e.Name = f.index, f.p.mod.FuncName(f.index)
			}
			return err
		}
		f.checkIndices(&in)
		if dead > 0 {
			switch in.Op {
			case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
				dead++
				continue
			case wasm.OpElse:
				if dead > 1 {
					continue
				}
			case wasm.OpEnd:
				if dead--; dead > 0 {
					continue
				}
			default:
				continue
			}
			dead = 0
			top := &f.ctl[len(f.ctl)-1]
			f.cut(int(top.base)) // whatever was there, the results are to be
			f.push(top.typ.Results, int32(len(f.ins)))
		}
		if f.step(&in, unwinds) {
			dead = 1
		}
	}
	if !r.Done() {
		panic(errInvalid("body goes on after its end"))
	}
	return nil
}

// checkIndices keeps the guest off what the pass adds: its indices must lie within the original counts.
func (f *function) checkIndices(in *wasm.Instr) {
	p := f.p
	within := func(i uint32, n int, what string) {
		if int64(i) >= int64(n) {
			panic(errInvalid(fmt.Sprintf("%s %d of %d", what, i, n)))
		}
	}
	switch in.Op {
	case wasm.OpCall, wasm.OpRefFunc:
		within(in.A, len(p.funcTypes), "function")
	case wasm.OpCallIndirect:
		within(in.A, len(p.mod.Types), "type")
		within(in.B, len(p.tables), "table")
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		within(in.A, len(f.locals), "local")
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		within(in.A, len(p.globals), "global")
	case wasm.OpTableGet, wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableSize, wasm.OpTableFill:
		within(in.A, len(p.tables), "table")
	case wasm.OpTableCopy:
		within(in.A, len(p.tables), "table")
		within(in.B, len(p.tables), "table")
	case wasm.OpTableInit:
		within(in.A, len(p.mod.Elements), "element segment")
		within(in.B, len(p.tables), "table")
	case wasm.OpElemDrop:
		within(in.A, len(p.mod.Elements), "element segment")
	case wasm.OpMemoryInit:
		within(in.A, len(p.mod.Data), "data segment")
		within(in.B, 1, "memory")
	case wasm.OpDataDrop:
		within(in.A, len(p.mod.Data), "data segment")
	}
}

func (f *function) push(ts []wasm.ValType, from int32) {
	for n, t := range ts {
		f.stack = append(f.stack, value{t, from, int16(n)})
	}
}

// cut drops the operands from height h on.
func (f *function) cut(h int) {
	f.stack = f.stack[:h]
	f.marked = min(f.marked, h)
}

// pop drops n operands.
func (f *function) pop(n int) {
	if len(f.stack)-n < int(f.ctl[len(f.ctl)-1].base) {
		panic(errInvalid("too few operands"))
	}
	f.cut(len(f.stack) - n)
}

// top is the operand k places below the top.
func (f *function) top(k int) value {
	if len(f.stack)-1-k < int(f.ctl[len(f.ctl)-1].base) {
		panic(errInvalid("too few operands"))
	}
	return f.stack[len(f.stack)-1-k]
}

// target is the construct that a branch of a depth leads to.
func (f *function) target(depth uint32) *construct {
	if int64(depth) >= int64(len(f.ctl)) {
		panic(errInvalid("branch out of the function"))
	}
	return &f.ctl[len(f.ctl)-1-int(depth)]
}

// step takes in one instruction. It reports whether the code after it cannot be reached.
func (f *function) step(in *wasm.Instr, unwinds bool) (dead bool) {
	at := int32(len(f.ins))
	dead = f.take(at, in, unwinds)
	if n := len(f.stack); n > 0 && f.stack[n-1].from == at {
		v := f.stack[n-1]
		f.ins[at].typ, f.ins[at].height = v.typ, int32(n-1)-int32(v.nth)
	}
	return dead
}

func (f *function) take(at int32, in *wasm.Instr, unwinds bool) (dead bool) {
	f.ins = append(f.ins, ins{op: in.Op, lane: in.Lane, spill: -1, block: in.Block, a: in.A, b: in.B, start: in.Start,
		end: in.End, match: -1, els: -1, point: -1, bits: in.Bits})
	i := &f.ins[at]
	info, _ := in.Op.Info()
	if info.Fixed {
		f.flow(at, info)
		f.pop(len(info.Params))
		f.push(info.Results, at)
		return false
	}
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		f.open(at)
	case wasm.OpElse:
		c := &f.ctl[len(f.ctl)-1]
		if c.opener < 0 || f.ins[c.opener].op != wasm.OpIf {
			panic(errInvalid("else without if"))
		}
		f.observe(len(c.typ.Results))
		f.ins[c.opener].els = at
		f.cut(int(c.base))
		f.stack = append(f.stack, c.params...)
	case wasm.OpEnd:
		f.close(at)
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable:
		f.branch(at, in)
		return in.Op != wasm.OpBrIf
	case wasm.OpReturn:
		f.observe(len(f.typ.Results))
		return true
	case wasm.OpUnreachable:
		return true
	case wasm.OpCall:
		t := f.p.mod.Types[f.p.funcTypes[in.A]]
		f.call(at, t, 0, unwinds && f.p.unwinds(int(in.A)))
	case wasm.OpCallIndirect:
		f.call(at, f.p.mod.Types[in.A], 1, unwinds && f.p.IndirectUnwinds[in.A])
	case wasm.OpDrop:
		i.bits = uint64(f.top(0).typ)
		f.pop(1)
	case wasm.OpSelect, wasm.OpSelectT:
		f.observe(3)
		t := f.top(1).typ
		f.pop(3)
		f.push([]wasm.ValType{t}, at)
	default:
		f.variable(at, in)
	}
	return false
}

func (f *function) open(at int32) {
	i := &f.ins[at]
	t, err := f.p.mod.BlockType(i.block)
	if err != nil {
		panic(errInvalid(err.Error()))
	}
	if i.op == wasm.OpIf {
		f.pop(1)
	}
	n := len(t.Params)
	f.observe(n)
	base := len(f.stack) - n
	if base < int(f.ctl[len(f.ctl)-1].base) {
		panic(errInvalid("too few operands"))
	}
	i.height = int32(base)
	c := construct{opener: at, base: int32(base), typ: t}
	switch i.op {
	case wasm.OpIf:
		c.params = append(c.params, f.stack[base:]...)
	case wasm.OpLoop:
		f.cut(base)
		f.push(t.Params, at)
		if n > 0 {
			i.spill = 0 // a branch back brings new values: they are put into temporaries at the head
		}
		f.addPoint(pointLoop, at, len(f.stack))
		f.loop(at).point = i.point
		i = &f.ins[at]
	}
	f.ctl = append(f.ctl, c)
}

func (f *function) loop(at int32) *loop {
	l := f.loops[at]
	if l == nil {
		l = &loop{}
		f.loops[at] = l
	}
	return l
}

func (f *function) close(at int32) {
	c := f.ctl[len(f.ctl)-1]
	f.observe(len(c.typ.Results))
	f.ins[at].match = c.opener
	if c.opener >= 0 {
		f.ins[c.opener].match = at
		if e := f.ins[c.opener].els; e >= 0 {
			f.ins[e].match = at
		}
	}
	f.cut(int(c.base))
	f.ctl = f.ctl[:len(f.ctl)-1]
	f.push(c.typ.Results, at)
}

// arity is how many values a branch to c carries.
func (f *function) arity(c *construct) int {
	if c.opener >= 0 && f.ins[c.opener].op == wasm.OpLoop {
		return len(c.typ.Params)
	}
	return len(c.typ.Results)
}

func (f *function) branch(at int32, in *wasm.Instr) {
	if in.Op != wasm.OpBr {
		f.pop(1)
	}
	if in.Op != wasm.OpBrTable {
		c := f.target(in.A)
		f.observe(f.arity(c))
		return
	}
	f.ins[at].els, f.ins[at].a = int32(len(f.labels)), uint32(len(in.Labels))
	for _, l := range in.Labels {
		c := f.target(l)
		f.observe(f.arity(c))
	}
	f.labels = append(f.labels, in.Labels...)
}

// call takes in a call that pops extra operands above its arguments.
func (f *function) call(at int32, t wasm.FuncType, extra int, unwinds bool) {
	f.pop(extra)
	f.observe(len(t.Params))
	f.pop(len(t.Params))
	if unwinds {
		f.addPoint(pointCall, at, len(f.stack))
	}
	f.push(t.Results, at)
}

// variable takes in instructions whose types depend on the variable, table or segment they name.
func (f *function) variable(at int32, in *wasm.Instr) {
	in1 := func(t wasm.ValType) []wasm.ValType { return []wasm.ValType{t} }
	switch in.Op {
	case wasm.OpLocalGet:
		f.stack = append(f.stack, value{f.locals[in.A], at, 0})
	case wasm.OpLocalSet:
		f.defines(at)
		f.pop(1)
	case wasm.OpLocalTee:
		f.defines(at)
		f.pop(1)
		f.stack = append(f.stack, value{f.locals[in.A], at, 0})
	case wasm.OpGlobalGet:
		f.stack = append(f.stack, value{f.p.globals[in.A].Type, at, 0})
	case wasm.OpGlobalSet:
		f.observe(1)
		f.pop(1)
	case wasm.OpTableGet:
		f.pop(1)
		f.push(in1(f.p.tables[in.A].Elem), at)
	case wasm.OpTableSet:
		f.pop(2)
	case wasm.OpTableGrow:
		f.pop(2)
		f.push(in1(wasm.I32), at)
	case wasm.OpTableSize:
		f.push(in1(wasm.I32), at)
	case wasm.OpTableFill:
		f.pop(3)
	case wasm.OpRefNull:
		f.push(in1(wasm.ValType(in.A)), at)
	case wasm.OpRefIsNull:
		f.pop(1)
		f.push(in1(wasm.I32), at)
	case wasm.OpRefFunc:
		f.push(in1(wasm.FuncRef), at)
	default:
		panic(errInvalid("not expected here"))
	}
}
