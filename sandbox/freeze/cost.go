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
	params := map[int32]bool{}
	at := int32(0)
	for r := wasm.NewReader(&p.mod.Code[f]); !r.Done(); at++ {
		if r.Next(&in) != nil {
			return // readCalls has read it all
		}
		if in.Op == wasm.OpLoop && in.Block >= 0 {
			if t, err := p.mod.BlockType(in.Block); err == nil && len(t.Params) > 0 {
				params[at] = true
			}
		}
		s.add(in.Op, at, p.cost(in.Op, in.A), in.A, in.Labels)
	}
	c := s.assess(s.dispatches, func(k int32) bool { return params[s.joints[k].at] || s.joints[k].backs > maxBackEdges })
	fn := &p.Funcs[f]
	fn.Cost = uint32(min(max(c.entry, 1), maxCost))
	fn.Pays = !fn.EntryPoll && fn.Cost > ownCost && g.taken[f+p.imported]
}

// assess finds what the function charges where.
func (f *function) assess() {
	f.threadJumps()
	f.findQuiet()
	for _, l := range f.loops {
		l.atHead = l.atHead || !l.dispatches && l.branches > maxBackEdges
	}
	s := newSkeleton()
	for at := range f.ins {
		i := &f.ins[at]
		var labels []uint32
		if i.op == wasm.OpBrTable {
			labels = f.labels[i.els : i.els+int32(i.a)]
		}
		s.add(i.op, int32(at), f.p.cost(i.op, i.a), i.a, labels)
	}
	loop := func(k int32) *loop { return f.loops[s.joints[k].at] }
	c := s.assess(func(k int32) bool { return loop(k).dispatches }, func(k int32) bool { return loop(k).atHead })
	for k, cost := range c.turns {
		loop(k).cost = cost
	}
	f.charges = make(map[int32]uint64, len(c.after))
	for k, cost := range c.after {
		f.charges[s.joints[k].at] = cost
	}
}
