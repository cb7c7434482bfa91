package freeze_test

import "godwit/sandbox/wasm"

// body writes statements into the innermost construct.
func (g *generator) body(n int) {
	for k := range n {
		if g.top().dead && g.one(2) {
			return
		}
		g.share(n-k, g.statement)
	}
}

// share writes something with its part of the budget, so that what comes first does not use up all of it.
func (g *generator) share(parts int, write func()) {
	all := g.budget
	g.budget = all / parts
	mine := g.budget
	write()
	g.budget = all - (mine - g.budget)
}

// statement writes something that may change all: operands stay behind, or are used up.
func (g *generator) statement() {
	if g.budget--; g.budget < 0 {
		return
	}
	if g.nans && g.choice(2) == 0 {
		g.floats()
		return
	}
	switch g.choice(31) {
	case 0, 1, 2:
		g.setLocal(g.typ())
	case 3, 4:
		g.expr(g.typ()) // an operand for what follows
	case 5:
		g.store(g.typ())
	case 6, 7:
		g.someConstruct()
	case 8, 9:
		g.countedLoop()
	case 10:
		g.steppedLoop()
	case 11, 12:
		g.branchIf()
	case 13:
		g.leave()
	case 14, 15:
		if f := g.choice(len(g.funcs)); g.mayCall(f) {
			g.call(f)
		}
	case 16:
		g.hostCall(g.choice(genPoke + 1))
	case 17:
		g.bulk()
	case 18:
		g.table()
	case 19:
		g.interpreter()
	case 20:
		g.dispatcher()
	case 21:
		g.setGlobal()
	case 22:
		g.operation(g.typ())
	case 23:
		g.straight(1 + g.choice(30))
	case 24, 25, 26:
		g.crossing()
	case 27, 28, 29, 30:
		g.floats()
	}
}

// straight writes code without calls and constructs, as much as it is told.
func (g *generator) straight(n int) {
	for range n {
		t := g.typ()
		switch g.choice(4) {
		case 0:
			g.leaf(t)
			g.leaf(t)
			g.operation(t)
			g.setLocal(t)
		case 1:
			g.leaf(t)
			g.op(wasm.OpLocalSet, g.local(t))
			g.pop(1)
		case 2:
			g.operation(t)
			g.pop(1)
			g.op(wasm.OpDrop)
		case 3:
			g.op(wasm.OpNop)
		}
	}
}

func (g *generator) setGlobal() {
	k := genFirst + g.choice(len(genGlobalTypes)-genFirst)
	g.want(genGlobalTypes[k])
	g.pop(1)
	g.op(wasm.OpGlobalSet, uint32(k))
}

// condition writes a value to be tested, often one that is kept in a local at the same time.
func (g *generator) condition() {
	g.want(wasm.I32)
	if g.one(3) {
		g.op(wasm.OpLocalTee, g.local(wasm.I32))
	}
	if g.one(3) {
		g.op(wasm.OpI32Eqz)
	}
}

// someConstruct writes a block or if that takes what lies on the stack and leaves something else.
func (g *generator) someConstruct() {
	have := g.stack[max(g.floor, g.top().base):]
	var params []wasm.ValType
	if !g.narrow {
		params = append(params, have[len(have)-g.choice(min(len(have), 3)+1):]...)
	}
	g.construct(params, g.outputs(3))
}

// construct writes a block or if with parameters that are on the stack, and these results.
func (g *generator) construct(params, results []wasm.ValType) {
	if g.choice(2) == 0 {
		g.open(wasm.OpBlock, params, results)
		g.body(1 + g.choice(3))
		g.polling()
		g.body(g.choice(2))
		g.end()
		return
	}
	g.expr(wasm.I32)
	g.pop(1)
	if g.one(3) {
		g.op(wasm.OpLocalTee, g.local(wasm.I32))
	}
	g.open(wasm.OpIf, params, results)
	g.polling()
	g.share(2, func() { g.body(1 + g.choice(3)) })
	if len(params) == 0 && len(results) == 0 && g.one(2) {
		g.end()
		return
	}
	g.otherwise(params)
	g.polling()
	g.body(1 + g.choice(3))
	g.end()
}

// branchIf writes a br_if, whose values stay on the stack if it is not taken.
func (g *generator) branchIf() {
	d := g.label()
	g.want(g.carried(d)...)
	g.expr(wasm.I32)
	g.pop(1)
	if g.one(3) {
		g.op(wasm.OpLocalTee, g.local(wasm.I32))
	}
	g.op(wasm.OpBrIf, d)
}

// leave ends the construct with a jump, mostly within an if, and perhaps writes code that is never reached.
func (g *generator) leave() {
	inside := !g.one(4)
	if inside {
		g.condition()
		g.pop(1)
		g.open(wasm.OpIf, nil, nil)
		g.body(g.choice(2))
	}
	switch g.choice(8) {
	case 0, 1, 2:
		d := g.label()
		g.want(g.carried(d)...)
		g.op(wasm.OpBr, d)
	case 3, 4, 5:
		g.branchTable()
	case 6:
		g.want(g.ctl[0].label...)
		g.op(wasm.OpReturn)
	case 7:
		if !g.one(4) {
			g.want(g.ctl[0].label...)
			g.op(wasm.OpBr, uint32(len(g.ctl)-1))
		} else {
			g.op(wasm.OpUnreachable)
		}
	}
	g.die()
	if g.one(2) {
		g.deadCode()
	}
	if inside {
		g.end()
	}
}

// branchTable writes a br_table with the values that its labels carry.
func (g *generator) branchTable() {
	carry := g.carried(g.label())
	ds := g.labels(carry, true)
	g.want(carry...)
	g.expr(wasm.I32)
	if g.choice(2) == 0 {
		g.i32(uint32(1 + g.choice(7)))
		g.op(0x71) // i32.and
	}
	n := g.choice(6)
	if g.one(8) {
		n = 20
	}
	g.op(wasm.OpBrTable, uint32(n))
	for range n + 1 {
		g.out = wasm.AppendUnsigned(g.out, uint64(ds[g.choice(len(ds))]))
	}
}

// deadCode writes code after a jump, where every operand that is wanted is on the stack.
func (g *generator) deadCode() {
	for range 1 + g.choice(4) {
		switch g.choice(8) {
		case 0:
			g.op(wasm.OpDrop)
			g.pop(1)
		case 1:
			g.op(wasm.OpLocalSet, g.local(g.deadType()))
			g.pop(1)
		case 2:
			g.op(wasm.OpUnreachable)
			g.die()
		case 3:
			g.open(wasm.OpBlock, nil, nil)
			g.op(wasm.OpBr, 0)
			g.die()
			g.end()
		case 4:
			g.open(wasm.OpLoop, nil, nil)
			g.op(wasm.OpBr, 0) // for ever, if it were reached
			g.die()
			g.end()
		case 5:
			g.discard(len(g.own()))
			g.op(wasm.OpReturn)
			g.die()
		case 6:
			g.statement()
		case 7:
			g.op(wasm.OpNop)
		}
	}
}

// deadType gives the type of the operand on top, or any.
func (g *generator) deadType() wasm.ValType {
	if own := g.own(); len(own) > 0 {
		return own[len(own)-1]
	}
	return g.typ()
}
