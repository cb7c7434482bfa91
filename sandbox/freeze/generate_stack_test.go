package freeze_test

import (
	"slices"

	"godwit/sandbox/wasm"
)

// op writes an instruction with indices; the stack is the caller's affair.
func (g *generator) op(op wasm.Opcode, idx ...uint32) {
	g.out = wasm.AppendOp(g.out, op)
	for _, i := range idx {
		g.out = wasm.AppendUnsigned(g.out, uint64(i))
	}
}

func (g *generator) i32(x uint32) {
	g.op(wasm.OpI32Const)
	g.out = wasm.AppendSigned(g.out, int64(int32(x)))
}

func (g *generator) i64(x int64) {
	g.op(wasm.OpI64Const)
	g.out = wasm.AppendSigned(g.out, x)
}

func (g *generator) top() *genFrame { return &g.ctl[len(g.ctl)-1] }

// own gives the operands of the innermost construct.
func (g *generator) own() []wasm.ValType { return g.stack[g.top().base:] }

func (g *generator) push(ts ...wasm.ValType) { g.stack = append(g.stack, ts...) }

// pop takes operands off the stack, as far as there are any in code that cannot be reached.
func (g *generator) pop(n int) { g.stack = g.stack[:len(g.stack)-min(n, len(g.own()))] }

// want has operands of these types on top of the stack: some that are there already, mostly, then new ones.
func (g *generator) want(ts ...wasm.ValType) {
	have := g.stack[max(g.floor, g.top().base):]
	k := 0
	if !g.one(3) {
		k = min(len(ts), len(have))
	}
	for k > 0 && !slices.Equal(have[len(have)-k:], ts[:k]) {
		k--
	}
	for n, t := range ts[k:] {
		g.share(len(ts)-k-n, func() { g.expr(t) })
	}
}

// open begins a construct whose parameters are on top of the stack.
func (g *generator) open(op wasm.Opcode, params, results []wasm.ValType) {
	g.op(op)
	switch {
	case len(params) == 0 && len(results) == 0:
		g.out = wasm.AppendBlockType(g.out, wasm.BlockVoid)
	case len(params) == 0 && len(results) == 1:
		g.out = wasm.AppendBlockType(g.out, -int32(results[0]))
	default:
		g.out = wasm.AppendBlockType(g.out, int32(g.typeIndex(wasm.FuncType{Params: params, Results: results})))
	}
	fr := genFrame{op: op, label: results, results: results, base: len(g.stack) - len(params), free: op != wasm.OpLoop}
	if op == wasm.OpLoop {
		fr.label = params
	}
	g.ctl = append(g.ctl, fr)
}

// end closes a construct, with its results made what they must be.
func (g *generator) end() {
	g.seal()
	g.op(wasm.OpEnd)
	fr := *g.top()
	g.ctl = g.ctl[:len(g.ctl)-1]
	g.stack = append(g.stack[:fr.base], fr.results...)
}

// otherwise begins the second arm of an if with these parameters.
func (g *generator) otherwise(params []wasm.ValType) {
	g.seal()
	g.op(wasm.OpElse)
	fr := g.top()
	fr.dead = false
	g.stack = append(g.stack[:fr.base], params...)
}

// seal makes the operands of the innermost construct its results.
func (g *generator) seal() {
	results := g.top().results
	if g.top().dead && g.one(2) {
		g.discard(len(g.own()))
		return // whatever is wanted is there
	}
	keep := len(g.own())
	for keep > 0 && (keep > len(results) || !slices.Equal(g.own()[:keep], results[:keep])) {
		keep--
	}
	g.discard(len(g.own()) - keep)
	if g.top().dead && keep == 0 {
		return
	}
	for _, t := range results[keep:] {
		g.expr(t)
	}
}

// discard takes operands off the stack, into locals or nowhere.
func (g *generator) discard(n int) {
	for range n {
		t := g.stack[len(g.stack)-1]
		g.pop(1)
		if g.one(3) {
			g.op(wasm.OpLocalSet, g.local(t))
		} else {
			g.op(wasm.OpDrop)
		}
	}
}

// die notes that what follows cannot be reached.
func (g *generator) die() {
	fr := g.top()
	fr.dead = true
	g.stack = g.stack[:fr.base]
}

// labels lists the depths of constructs that may be branched to at will, and carry these types if want is set.
func (g *generator) labels(carry []wasm.ValType, want bool) []uint32 {
	var out []uint32
	for d := range g.ctl {
		fr := &g.ctl[len(g.ctl)-1-d]
		if fr.free && (!want || slices.Equal(fr.label, carry)) {
			out = append(out, uint32(d))
		}
	}
	return out
}

// label gives the depth of one of them.
func (g *generator) label() uint32 {
	ds := g.labels(nil, false) // the function's own is always there
	return ds[g.choice(len(ds))]
}

func (g *generator) carried(depth uint32) []wasm.ValType { return g.ctl[len(g.ctl)-1-int(depth)].label }
