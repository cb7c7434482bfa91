package freeze_test

import "godwit/sandbox/wasm"

// goOn writes the condition under which a counted loop goes round: the local that counts, counted down. If it is asked
// more than once in a turn it must be more than zero, else it may be told from zero alone.
func (g *generator) goOn(x uint32, once bool) {
	switch n := g.choice(3); {
	case n == 0 && once:
		g.op(wasm.OpLocalGet, x)
		g.i32(1)
		g.op(wasm.OpI32Sub)
		g.op(wasm.OpLocalTee, x)
	case n == 1:
		g.op(wasm.OpLocalGet, x)
		g.i32(^uint32(0))
		g.op(wasm.OpI32Add)
		g.op(wasm.OpLocalTee, x)
		g.i32(0)
		g.op(0x4a) // i32.gt_s
	default:
		g.op(wasm.OpLocalGet, x)
		g.op(wasm.OpLocalGet, x)
		g.i32(1)
		g.op(wasm.OpI32Sub)
		g.op(wasm.OpLocalSet, x)
		g.i32(1)
		g.op(0x4a)
	}
}

// countedLoop writes a loop that counts down a local, with or without values that are carried round, and one or more
// branches back.
func (g *generator) countedLoop() {
	params := g.inputs(2)
	if g.choice(2) == 0 {
		params = nil
	}
	g.want(params...)
	x := g.local(wasm.I32)
	turns := 1 + g.choice(4)
	if g.one(12) {
		turns = 30
	}
	g.i32(uint32(turns))
	g.op(wasm.OpLocalSet, x)
	g.busy[x] = true
	results := params
	if g.one(2) {
		results = g.outputs(2)
	}
	g.open(wasm.OpLoop, params, results)
	once := g.choice(2) == 0
	more := 0
	if !once {
		more = g.choice(3)
		if g.one(6) {
			more = 8 // the poll moves to the head
		}
	}
	for range more {
		g.body(1 + g.choice(2))
		if g.top().dead {
			break
		}
		g.backEdge(x, params)
	}
	g.body(1 + g.choice(3))
	if !g.top().dead {
		g.lastEdge(x, params, once)
	}
	g.end()
	delete(g.busy, x)
}

// backEdge writes a branch back to the innermost loop, within something or not.
func (g *generator) backEdge(x uint32, params []wasm.ValType) {
	switch g.choice(3) {
	case 0:
		g.want(params...)
		g.goOn(x, false)
		g.op(wasm.OpBrIf, 0)
	case 1:
		g.goOn(x, false)
		g.open(wasm.OpIf, nil, nil)
		g.body(g.choice(2))
		g.want(params...)
		g.op(wasm.OpBr, 1)
		g.die()
		g.end()
	case 2:
		g.open(wasm.OpBlock, nil, params)
		g.body(g.choice(2))
		g.want(params...)
		g.goOn(x, false)
		g.op(wasm.OpBrIf, 1)
		g.end()
	}
}

// lastEdge writes the branch back at the end of a loop: as a br_if, or through a br_table that leaves a block inside.
func (g *generator) lastEdge(x uint32, params []wasm.ValType, once bool) {
	g.want(params...)
	if g.one(3) {
		g.open(wasm.OpBlock, params, params)
		g.goOn(x, once)
		if g.choice(2) == 0 {
			g.op(wasm.OpI32Eqz)
			g.op(wasm.OpBrTable, 1, 1, 0)
		} else {
			g.op(wasm.OpBrTable, 3, 0, 1, 1, 1)
		}
		g.die()
		g.end()
		return
	}
	g.goOn(x, once)
	g.op(wasm.OpBrIf, 0)
}

// takeStep writes whether there are no more steps, after having taken one.
func (g *generator) takeStep() {
	g.op(wasm.OpGlobalGet, genSteps)
	g.i32(1)
	g.op(wasm.OpI32Sub)
	x := g.scratchLocal(wasm.I32)
	g.op(wasm.OpLocalTee, x)
	g.op(wasm.OpGlobalSet, genSteps)
	g.op(wasm.OpLocalGet, x)
	g.i32(0)
	g.op(0x48) // i32.lt_s
}

// steppedLoop writes a loop that takes a step at its head, so that any branch inside may lead back to it.
func (g *generator) steppedLoop() {
	params, results := g.inputs(2), g.outputs(2)
	if g.choice(2) == 0 {
		params = nil
	}
	g.want(params...)
	g.open(wasm.OpBlock, params, results)
	g.open(wasm.OpLoop, params, results)
	g.pushSteps(1)
	g.top().free = true
	g.body(1 + g.choice(4))
	if !g.top().dead && g.one(2) {
		g.want(params...)
		g.op(wasm.OpBr, 0)
		g.die()
	}
	g.end()
	g.end()
}

// pushSteps leaves the construct at a depth when there are no more steps.
func (g *generator) pushSteps(depth uint32) {
	ts := g.carried(depth)
	for _, t := range ts {
		g.leaf(t)
	}
	g.takeStep()
	g.op(wasm.OpBrIf, depth)
	if g.choice(2) == 0 {
		g.discard(len(ts))
	}
}

// arm writes an arm of a switch: most are small, some large, some with a slow path.
func (g *generator) arm() {
	switch g.choice(6) {
	case 0:
		g.polling()
	case 1, 2:
		g.straight(1 + g.choice(3))
	case 3:
		g.straight(30 + g.choice(60))
	case 4:
		g.condition()
		g.pop(1)
		g.open(wasm.OpIf, nil, nil)
		g.body(2)
		g.end()
	case 5:
		g.statement()
	}
}

// interpreter writes a switch in a loop, as interpreters have: a br_table among blocks, with the values that are
// carried round on the stack, and arms that go round, fall into the next or leave.
func (g *generator) interpreter() {
	carry := g.inputs(2)
	if g.choice(2) == 0 {
		carry = nil
	}
	n := 1 + g.choice(5)
	if g.one(5) {
		n = 10 + g.choice(10)
	}
	pc := g.local(wasm.I32)
	kept := g.remember()
	g.want(carry...)
	g.open(wasm.OpBlock, carry, carry)
	g.open(wasm.OpLoop, carry, carry)
	g.takeStep()
	g.op(wasm.OpBrIf, 1)
	g.top().free = true
	for range n + 1 {
		g.open(wasm.OpBlock, carry, carry)
	}
	g.opcode(pc)
	g.op(wasm.OpBrTable, uint32(n))
	for k := range n {
		if g.one(6) {
			k = g.choice(n + 1)
		}
		g.out = wasm.AppendUnsigned(g.out, uint64(k))
	}
	g.out = wasm.AppendUnsigned(g.out, uint64(n))
	g.die()
	for k := range n + 1 {
		g.end()
		if k == n || g.choice(n+1) == 0 {
			kept = g.recall(kept)
		}
		g.arm()
		if g.top().dead {
			continue
		}
		if way := g.choice(8); way < 6 {
			g.want(carry...)
			d := uint32(0)
			for g.ctl[len(g.ctl)-1-int(d)].op != wasm.OpLoop {
				d++
			}
			if way == 5 {
				d++ // out
			}
			g.op(wasm.OpBr, d)
			g.die()
		}
	}
	g.end()
	g.end()
	g.recall(kept)
}

// opcode fetches the next opcode of an interpreter.
func (g *generator) opcode(pc uint32) {
	if !g.memory || g.one(4) {
		g.expr(wasm.I32)
		g.pop(1)
		return
	}
	g.op(wasm.OpLocalGet, pc)
	g.i32(31)
	g.op(0x71)
	g.op(0x2d, 0, 8) // i32.load8_u
	g.op(wasm.OpLocalGet, pc)
	g.i32(1)
	g.op(wasm.OpI32Add)
	g.op(wasm.OpLocalSet, pc)
	g.i32(15)
	g.op(0x71)
}

// dispatcher writes a loop as Go's compiler does: it begins with a br_table on a local, and every jump sets the local
// and goes round.
func (g *generator) dispatcher() {
	n := 2 + g.choice(6)
	x := g.local(wasm.I32)
	kept := g.remember()
	g.i32(0)
	g.op(wasm.OpLocalSet, x)
	g.open(wasm.OpBlock, nil, nil)
	g.open(wasm.OpLoop, nil, nil)
	g.top().free = true
	loop := len(g.ctl) - 1
	for range n {
		g.open(wasm.OpBlock, nil, nil)
	}
	g.op(wasm.OpLocalGet, x)
	g.op(wasm.OpBrTable, uint32(n-1))
	for k := range n {
		g.out = wasm.AppendUnsigned(g.out, uint64(k))
	}
	g.die()
	for range n {
		g.end()
		g.takeStep()
		g.op(wasm.OpBrIf, uint32(len(g.ctl)-loop)) // out of the loop, by the block around it
		if g.choice(2) == 0 {
			kept = g.recall(kept)
		}
		g.arm()
		if g.top().dead {
			continue
		}
		if g.choice(2) == 0 {
			g.condition()
			g.pop(1)
			g.open(wasm.OpIf, nil, nil)
			g.jump(x, n, loop)
			g.end()
		}
		if g.choice(3) > 0 {
			g.jump(x, n, loop)
		}
	}
	g.end()
	g.end()
	g.recall(kept)
}

// jump writes a jump of a dispatching loop, mostly to a known place.
func (g *generator) jump(x uint32, n, loop int) {
	if g.one(5) {
		g.expr(wasm.I32)
		g.pop(1)
		g.i32(3)
		g.op(0x71)
	} else {
		g.i32(uint32(g.choice(n + 1)))
	}
	g.op(wasm.OpLocalSet, x)
	g.op(wasm.OpBr, uint32(len(g.ctl)-1-loop))
	g.die()
}
