package freeze

import "godwit/sandbox/wasm"

// Some compilers, Go's among them, have no structured control flow to give: a function becomes one loop that
// begins with a br_table on a variable, and every jump, forwards or backwards, sets the variable and goes round:
//
//	loop; block ... block; local.get x; br_table ...; end ... i32.const n; local.set x; br loop ... end
//
// A charge at the head of such a loop would be paid at every jump, for the whole function. But the pass sees where
// each leads, and takes a jump for a branch to there. One forwards is never on a cycle by itself: it is free. One
// backwards is charged what follows where it leads. The head tests the fuel. (To branch to the block itself, without
// the br_table, was slower where it matters.)

// dispatch is such a loop.
type dispatch struct {
	table int32  // the joint of its br_table
	local uint32 // its variable
}

// noteDispatch gives the loop that a br_table is at the head of, or -1: joint table, behind a local.get of x.
func (s *skeleton) noteDispatch(table int32, x uint32) (loop int32) {
	k := table - 1
	for k >= 0 && s.joints[k].op == wasm.OpBlock && s.joints[k].void && s.joints[k].straight {
		k--
	}
	if k < 0 || k == table-1 || s.joints[k].op != wasm.OpLoop || !s.joints[k].void {
		return -1
	}
	if s.dispatches == nil {
		s.dispatches = map[int32]dispatch{}
	}
	s.dispatches[k] = dispatch{table, x}
	return k
}

// noteJump gives the block that a branch of a depth leaves by way of a dispatching loop, if it sets that loop's
// variable.
func (s *skeleton) noteJump(depth uint32, x uint32, value uint64) (block, loop int32) {
	k := len(s.open) - 1 - int(depth)
	if k < 0 || s.open[k] < 0 {
		return -1, -1
	}
	loop = s.open[k]
	d, ok := s.dispatches[loop]
	if !ok || d.local != x {
		return -1, -1
	}
	t := &s.joints[d.table]
	label := s.labels[t.first+int32(min(value, uint64(t.a-1)))]
	if block = d.table - 1 - int32(min(label, uint32(d.table))); block <= loop {
		return -1, -1
	}
	return block, loop
}
