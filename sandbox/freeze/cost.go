package freeze

import "godwit/sandbox/wasm"

// Costs of instructions in fuel, near the number of machine instructions they take.
const (
	costSimple   = 1
	costCall     = 4
	costIndirect = 20 // the callee is not known
	costImport   = 50
	costBulk     = 30 // and something for each 16 bytes, at run time
	costDivide   = 8
	costTable    = 3 // br_table
	// bulkShift turns a length in bytes into fuel.
	bulkShift = 4
	// maxCost bounds the charge of one loop or function, so that fuel cannot overflow.
	maxCost = 1 << 20
	// ownCost is what a call of a function that references lead to may cost before it pays for itself: who calls it so
	// does not know it.
	ownCost = 40
)

// staticCost is what an instruction is charged, without what it calls.
func staticCost(op wasm.Opcode) uint64 {
	switch op {
	case wasm.OpCall:
		return costCall
	case wasm.OpCallIndirect:
		return costIndirect
	case wasm.OpMemoryCopy, wasm.OpMemoryFill, wasm.OpMemoryInit, wasm.OpTableCopy, wasm.OpTableFill, wasm.OpTableInit, wasm.OpMemoryGrow, wasm.OpTableGrow:
		return costBulk
	case wasm.OpBrTable:
		return costTable
	case wasm.OpBlock, wasm.OpLoop, wasm.OpElse, wasm.OpEnd, wasm.OpNop, wasm.OpBr, wasm.OpReturn, wasm.OpUnreachable,
		wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee, wasm.OpDrop, wasm.OpI32Const, wasm.OpI64Const:
		return 0
	}
	if divides(op) {
		return costDivide
	}
	return costSimple
}

// divides reports whether an instruction is a division, a remainder or a square root.
func divides(op wasm.Opcode) bool {
	switch op {
	case 0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, 0x91, 0x95, 0x9f, 0xa3:
		return true
	}
	return false
}

// cost is what an instruction is charged, with what it calls. a is the function that a call names.
func (p *plan) cost(op wasm.Opcode, a uint32) uint64 {
	c := staticCost(op)
	if op != wasm.OpCall {
		return c
	}
	k := int(a) - p.imported
	if k < 0 {
		return c + costImport
	}
	if k < len(p.Funcs) && !p.Funcs[k].EntryPoll && !p.Funcs[k].Pays {
		c += uint64(p.Funcs[k].Cost)
	}
	return c
}

// assessCall finds what a call of a defined function costs, and who pays. Those that it calls have been assessed, or
// poll when they are entered.
func (p *plan) assessCall(g *callGraph, f int) {
	s := newSkeleton()
	var in wasm.Instr
	at := int32(0)
	for r := wasm.NewReader(&p.mod.Code[f]); !r.Done(); at++ {
		if r.Next(&in) != nil {
			return // readCalls has read it all
		}
		i := p.step(in.Op, in.A, in.Block, in.Bits)
		i.at, i.labels = at, in.Labels
		s.add(i)
	}
	c := s.assess()
	fn := &p.Funcs[f]
	fn.Cost = uint32(min(max(c.entry, 1), maxCost))
	fn.Pays = !fn.EntryPoll && fn.Cost > ownCost && g.taken[f+p.imported]
}

// step is how a skeleton takes in an instruction.
func (p *plan) step(op wasm.Opcode, a uint32, block int32, bits uint64) step {
	i := step{op: op, a: a, bits: bits, cost: p.cost(op, a), void: block == wasm.BlockVoid}
	if op == wasm.OpLoop && block >= 0 {
		t, err := p.mod.BlockType(block)
		i.params = err == nil && len(t.Params) > 0
	}
	return i
}

// assess finds what the function charges where.
func (f *function) assess() {
	f.findQuiet()
	s := newSkeleton()
	for at := range f.ins {
		i := &f.ins[at]
		st := f.p.step(i.op, i.a, i.block, i.bits)
		st.at = int32(at)
		if i.op == wasm.OpBrTable {
			st.labels = f.labels[i.els : i.els+int32(i.a)]
		}
		s.add(st)
	}
	c := s.assess()
	for k, cost := range c.turns {
		l := f.loops[s.joints[k].at]
		l.cost, l.atHead, l.dispatches = cost, s.charging(k), s.dispatching(k)
	}
	f.charges, f.jumps = make(map[int32]uint64, len(c.after)), make(map[int32]uint64, len(c.jumps))
	for k, cost := range c.after {
		f.charges[s.joints[k].at] = cost
	}
	for k, cost := range c.jumps {
		f.jumps[s.joints[k].at] = cost
	}
}
