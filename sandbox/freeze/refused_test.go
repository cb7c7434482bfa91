package freeze_test

import (
	"errors"
	"strings"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"
)

// TestTailCallsAreRefusedByName checks that a module with a tail call, which replaces the frame that a freeze
// would save,
// is refused with its name, wherever it stands.
func TestTailCallsAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		name string
		op   wasm.Opcode
		idx  []uint32
	}{{"return_call", 0x12, []uint32{0}}, {"return_call_indirect", 0x13, []uint32{0, 0}}} {
		for seed := uint64(1); seed < 20; seed++ {
			g := newGenerator(seed)
			g.module()
			f := g.choice(len(g.m.Code))
			code := &g.m.Code[f]
			g.out = nil
			g.op(c.op, c.idx...)
			code.Body = append(append(g.out, byte(wasm.OpUnreachable)), code.Body...)
			_, err := freeze.Instrument(wasm.Encode(g.m), freeze.Options{})
			var e *wasm.Error
			if !errors.Is(err, freeze.ErrRefused) || !errors.As(err, &e) || e.Feature != wasm.TailCalls ||
				!strings.Contains(err.Error(), "tail calls are not supported ("+c.name+")") {
				t.Fatalf("seed %d: %v, want a refusal of %s", seed, err, c.name)
			}
			if want := len(g.m.Imports) + f; e.Func != want {
				t.Fatalf("seed %d: function %d, want %d: %v", seed, e.Func, want, err)
			}
		}
	}
}
