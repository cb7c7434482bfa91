package freeze

import "godwit/sandbox/wasm"

// Some compilers, Go's among them, have no structured control flow to give: a function becomes one loop that
// begins with a br_table on a variable, and every jump, forwards or backwards, sets the variable and goes round:
//
//	loop; block ... block; local.get x; br_table ...; end ... i32.const n; local.set x; br loop ... end
//
// A charge at the head of such a loop would be paid at every jump, for the whole function. But the pass sees where
// each leads. A jump forwards is never on a cycle by itself: it is free. A jump backwards is charged what lies between.
// The head tests the fuel. (To branch to the block itself, without the br_table, was slower where it matters.)

// jump is a br to a dispatching loop that sets the loop's variable.
type jump struct {
	cost uint64 // backwards: of the code that is jumped over; forwards: 0
}

// dispatch is a loop that begins with a br_table on a local.
type dispatch struct {
	loop, table int32
	local       uint32
}

// findDispatch recognises a dispatching loop at an instruction.
func (f *function) findDispatch(at int32) (dispatch, bool) {
	k := at + 1
	for int(k) < len(f.ins) && f.ins[k].op == wasm.OpBlock && f.ins[k].block == wasm.BlockVoid {
		k++
	}
	if k == at+1 || int(k)+1 >= len(f.ins) || f.ins[at].block != wasm.BlockVoid ||
		f.ins[k].op != wasm.OpLocalGet || f.ins[k+1].op != wasm.OpBrTable {
		return dispatch{}, false
	}
	return dispatch{at, k + 1, f.ins[k].a}, true
}

// leads gives the block that the br_table leaves for a value; false if it is not one of those at the loop's head.
func (f *function) leads(d dispatch, value uint32) (block int32, ok bool) {
	t := &f.ins[d.table]
	depth := f.labels[t.els+int32(min(value, t.a-1))]
	block = d.table - 2 - int32(min(depth, uint32(d.table)))
	return block, block > d.loop
}

// threadJumps finds the jumps of dispatching loops.
func (f *function) threadJumps() {
	var found map[int32]dispatch
	for at := range f.loops {
		if d, ok := f.findDispatch(at); ok {
			if found == nil {
				found = map[int32]dispatch{}
			}
			found[at] = d
			f.loops[at].dispatches = !f.loops[at].atHead
		}
	}
	if found == nil {
		return
	}
	f.jumps = map[int32]jump{}
	costs := make([]uint64, len(f.ins)+1)
	var open []int32
	for at := range f.ins {
		i := &f.ins[at]
		costs[at+1] = costs[at] + f.p.cost(i.op, i.a)
		switch i.op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			open = append(open, int32(at))
		case wasm.OpEnd:
			open = open[:max(0, len(open)-1)]
		case wasm.OpBr:
			if int(i.a) >= len(open) {
				continue
			}
			loop := open[len(open)-1-int(i.a)]
			if d, ok := found[loop]; ok {
				f.threadJump(d, int32(at), costs)
			}
		}
	}
}

func (f *function) threadJump(d dispatch, at int32, costs []uint64) {
	set, value := &f.ins[at-1], &f.ins[max(0, at-2)]
	if set.op != wasm.OpLocalSet || set.a != d.local || value.op != wasm.OpI32Const {
		return
	}
	block, ok := f.leads(d, uint32(value.bits))
	if !ok {
		return
	}
	if end := f.ins[block].match; end > at {
		f.jumps[at] = jump{}
	} else {
		f.jumps[at] = jump{min(1+costs[at]-costs[end], maxCost)}
	}
}
