package freeze

import "godwit/sandbox/wasm"

// A host's function is told which instance calls it, and may answer by that: WASI as wazero has it keeps the arguments
// and files of a program with its instance. A resume function stands in an instance of its own. So it calls the guest's
// imports through functions of the guest's instance, and references lead to these too: whoever is called from outside
// sees the same caller before and after a freeze.

// wrapImports adds a function for each import that does nothing but call it.
func (w *mainEnv) wrapImports(out *wasm.Module) {
	for i := range w.p.imported {
		t := w.p.mod.Types[w.p.funcTypes[i]]
		e := &emitter{env: w}
		for x := range t.Params {
			e.localOp(wasm.OpLocalGet, uint32(x))
		}
		e.opIndex(wasm.OpCall, uint32(i))
		w.wraps = append(w.wraps, uint32(w.p.imported+1+len(out.Funcs)))
		w.define(out, t, e)
	}
}

// reference gives the function that references to function i, counted as in the original, and resume functions use.
func (w *mainEnv) reference(i uint32) uint32 {
	if !importsDirectly && int(i) < w.p.imported {
		return w.wraps[i]
	}
	return w.funcIndex(i)
}
