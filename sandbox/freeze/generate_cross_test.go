package freeze_test

import "godwit/sandbox/wasm"

// crossing writes values that wait on the stack while others are made by calls and loops, and shows them all.
func (g *generator) crossing() {
	var ts []wasm.ValType
	n := 2 + g.choice(3)
	for k := range n {
		t := g.typ()
		g.share(n-k, func() { g.source(t) })
		ts = append(ts, t)
	}
	for k := range ts {
		g.show(ts[n-1-k])
	}
}

// source writes a value that something is done for.
func (g *generator) source(t wasm.ValType) {
	floor := g.floor
	g.floor = len(g.stack)
	defer func() { g.floor = floor }()
	switch g.choice(5) {
	case 0, 1:
		g.callFor(t)
	case 2:
		g.construct(nil, []wasm.ValType{t})
	case 3:
		g.turning(t)
	case 4:
		g.expr(t)
	}
}

// turning writes a loop whose result is a value.
func (g *generator) turning(t wasm.ValType) {
	x := g.local(wasm.I32)
	g.i32(uint32(1 + g.choice(3)))
	g.op(wasm.OpLocalSet, x)
	g.busy[x] = true
	g.open(wasm.OpLoop, nil, []wasm.ValType{t})
	g.body(g.choice(3))
	if !g.top().dead {
		g.goOn(x, true)
		g.op(wasm.OpBrIf, 0)
	}
	g.end()
	delete(g.busy, x)
}

// show moves the value on top to where it is seen, if it is a number.
func (g *generator) show(t wasm.ValType) {
	g.pop(1)
	for k := genFirst; k < len(genGlobalTypes); k++ {
		if genGlobalTypes[k] == t && g.choice(3) > 0 {
			if t == wasm.I32 {
				g.op(wasm.OpGlobalGet, uint32(k))
				g.op(0x73) // i32.xor
			}
			g.op(wasm.OpGlobalSet, uint32(k))
			return
		}
	}
	g.op(wasm.OpLocalSet, g.local(t))
}

// remember sets a few locals that are only read at one place each: what is live there must be live on every way there,
// and on no other.
func (g *generator) remember() []uint32 {
	var out []uint32
	for range g.choice(4) {
		t := g.typ()
		if !t.IsRef() {
			g.expr(t)
			x := g.newLocal(t)
			g.op(wasm.OpLocalSet, x)
			g.pop(1)
			g.busy[x], g.secrets[x] = true, true
			out = append(out, x)
		}
	}
	return out
}

// recall reads the first of what was remembered.
func (g *generator) recall(xs []uint32) []uint32 {
	if len(xs) == 0 {
		return nil
	}
	g.op(wasm.OpLocalGet, xs[0])
	g.push(g.locals[xs[0]])
	g.show(g.locals[xs[0]])
	return xs[1:]
}

// polling writes, one time in a few, something during which the guest can be frozen, however little may be written: a
// loop that only counts, or a call.
func (g *generator) polling() {
	if g.top().dead || g.choice(3) < 2 {
		return
	}
	if f := g.choice(len(g.funcs)); g.mayCall(f) && g.choice(2) == 0 {
		all := g.budget
		g.budget = 0
		g.call(f)
		g.discard(len(g.funcs[f].typ.Results))
		g.budget = all
		return
	}
	x := g.local(wasm.I32)
	g.i32(2)
	g.op(wasm.OpLocalSet, x)
	g.open(wasm.OpLoop, nil, nil)
	g.goOn(x, true)
	g.op(wasm.OpBrIf, 0)
	g.end()
}
