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
	case wasm.OpMemoryCopy, wasm.OpMemoryFill, wasm.OpMemoryInit, wasm.OpTableCopy, wasm.OpTableFill, wasm.OpTableInit,
		wasm.OpMemoryGrow, wasm.OpTableGrow:
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

// costOf is what an instruction is charged, with what it calls. a is the function that a call names.
func (p *plan) costOf(op wasm.Opcode, a uint32) uint64 {
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
	var i step
	at := int32(0)
	for r := wasm.NewReader(&p.mod.Code[f]); !r.Done(); at++ {
		if r.Next(&in) != nil {
			return // readCalls has read it all
		}
		i = step{op: in.Op, at: at, a: in.A, bits: in.Bits, labels: in.Labels}
		p.take(s, &i, in.Block)
	}
	c := s.assess()
	fn := &p.Funcs[f]
	fn.Cost = uint32(min(max(c.entry, 1), maxCost))
	fn.Pays = !fn.EntryPoll && fn.Cost > ownCost && g.taken[f+p.imported]
}

// take has a skeleton take in an instruction: what that lacks but its block type is found here.
func (p *plan) take(s *skeleton, i *step, block int32) {
	i.cost, i.void = p.costOf(i.op, i.a), block == wasm.BlockVoid
	if i.op == wasm.OpLoop && block >= 0 {
		t, err := p.mod.BlockType(block)
		i.params = err == nil && len(t.Params) > 0
	}
	s.add(i)
}

// assess finds what the function charges where.
func (f *function) assess() {
	f.findQuiet()
	s := newSkeleton()
	var st step
	for at := range f.ins {
		i := &f.ins[at]
		st = step{op: i.op, at: int32(at), a: i.a, bits: i.bits}
		if i.op == wasm.OpBrTable {
			st.labels = f.labels[i.els : i.els+int32(i.a)]
		}
		f.p.take(s, &st, i.block)
	}
	c := s.assess()
	f.charges, f.jumps = map[int32]uint64{}, map[int32]uint64{}
	for k := range s.joints {
		j := &s.joints[k]
		if c.after[k] > 0 {
			f.charges[j.at] = c.after[k]
		}
		switch {
		case j.op == wasm.OpLoop:
			l := f.loops[j.at]
			l.cost, l.atHead, l.dispatches = c.own[k], s.charging(int32(k)), s.dispatching(int32(k))
		case j.op == wasm.OpBr && s.jumping(j):
			f.jumps[j.at] = c.own[k]
		}
	}
}
