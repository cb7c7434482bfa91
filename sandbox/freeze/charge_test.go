package freeze_test

import (
	"context"
	"slices"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"
)

// work is code of n units: it adds to local 1.
func work(n int) []any {
	var out []any
	for range n {
		out = append(out, wasm.OpLocalGet, 1, wasm.OpI32Const, 1, wasm.OpI32Add, wasm.OpLocalSet, 1)
	}
	return out
}

// body strings parts of code together.
func body(parts ...any) []byte {
	var flat []any
	for _, p := range parts {
		if inner, ok := p.([]any); ok {
			flat = append(flat, inner...)
		} else {
			flat = append(flat, p)
		}
	}
	return code(flat...)
}

// again goes back to the loop at a depth if local 0, counted down, is not zero.
func again(depth int) []any {
	return []any{wasm.OpLocalGet, 0, wasm.OpI32Const, 1, wasm.OpI32Sub, wasm.OpLocalTee, 0, wasm.OpBrIf, depth}
}

// TestFuelIsWhatWasDone: whichever way a function takes, it is charged for that one, within a factor, and not for those
// that it might have taken.
func TestFuelIsWhatWasDone(t *testing.T) {
	const turns = 1000
	short, long := work(5), work(400)
	ifThird := []any{wasm.OpLocalGet, 2, wasm.OpIf, 0x40}
	dispatch := func(then ...any) []any { // two arms behind a variable, as Go writes functions
		all := []any{wasm.OpLoop, 0x40, wasm.OpBlock, 0x40, wasm.OpBlock, 0x40, wasm.OpLocalGet, 3, wasm.OpBrTable, 1, 0, 1,
			wasm.OpEnd}
		for _, p := range then {
			if inner, ok := p.([]any); ok {
				all = append(all, inner...)
			} else {
				all = append(all, p)
			}
		}
		return append(all, wasm.OpReturn, wasm.OpEnd, wasm.OpEnd)
	}
	jump := []any{wasm.OpLocalGet, 0, wasm.OpI32Const, 1, wasm.OpI32Sub, wasm.OpLocalTee, 0, wasm.OpIf, 0x40,
		wasm.OpI32Const, 0, wasm.OpLocalSet, 3, wasm.OpBr, 2, wasm.OpEnd}
	for _, c := range []struct {
		name   string
		third  uint64 // local 2: whether the long way is taken
		code   []byte
		each   float64 // what a turn does
		spread float64
	}{
		{"slow path not taken", 0, body(wasm.OpLoop, 0x40, short, ifThird, long, wasm.OpEnd, again(0), wasm.OpEnd), 8, 3},
		{"slow path taken", 1, body(wasm.OpLoop, 0x40, short, ifThird, long, wasm.OpEnd, again(0), wasm.OpEnd), 408, 2},
		{"switch, small arm", 0, body(wasm.OpLoop, 0x40, wasm.OpBlock, 0x40, wasm.OpBlock, 0x40, wasm.OpLocalGet, 2,
			wasm.OpBrTable, 1, 0, 1, wasm.OpEnd,
			short, again(1), wasm.OpReturn, wasm.OpEnd, long, again(0), wasm.OpEnd), 10, 3},
		{"switch, large arm", 1, body(wasm.OpLoop, 0x40, wasm.OpBlock, 0x40, wasm.OpBlock, 0x40, wasm.OpLocalGet, 2,
			wasm.OpBrTable, 1, 0, 1, wasm.OpEnd,
			short, again(1), wasm.OpReturn, wasm.OpEnd, long, again(0), wasm.OpEnd), 405, 2},
		{"long code behind a loop", 0, body(wasm.OpLoop, 0x40, short, again(0), wasm.OpEnd, long), 7, 3},
		{"else arm", 0, body(wasm.OpLoop, 0x40, ifThird, short, wasm.OpElse, long, wasm.OpEnd, again(0), wasm.OpEnd), 403, 2},
		{"loop in a loop", 0, body(wasm.OpLoop, 0x40, long, wasm.OpLoop, 0x40, short, ifThird, wasm.OpBr, 1, wasm.OpEnd,
			wasm.OpEnd, again(0), wasm.OpEnd), 410, 2},
		{"dispatch: slow path not taken", 0, body(dispatch(short, ifThird, long, wasm.OpEnd, jump)), 9, 3},
		{"dispatch: slow path taken", 1, body(dispatch(short, ifThird, long, wasm.OpEnd, jump)), 409, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			i32 := wasm.I32
			f := oneFunc(wasm.FuncType{Params: []wasm.ValType{i32, i32, i32}}, []wasm.LocalDecl{{Count: 1, Type: i32}}, c.code)
			got := fuelOf(t, f, turns, 0, c.third) / turns
			if got < c.each/c.spread || got > c.each*c.spread+10 { // the poll is charged too
				t.Errorf("%.1f units a turn, want about %.1f", got, c.each)
			}
		})
	}
}

// fuelOf runs a module's function and gives what it was charged.
func fuelOf(t *testing.T, m *wasm.Module, args ...uint64) float64 {
	t.Helper()
	g := machine(t, m, freeze.Config{})
	if _, err := g.Call(context.Background(), "run", args...); err != nil {
		t.Fatal(err)
	}
	return float64(g.Fuel())
}

// TestCallsPayForLargeFunctions: what a function costs is charged whether it is called by its name or through a table.
func TestCallsPayForLargeFunctions(t *testing.T) {
	const turns, size = 1000, 300
	i32 := []wasm.ValType{wasm.I32, wasm.I32}
	types := []wasm.FuncType{{Params: i32}}
	args := []any{wasm.OpI32Const, 0, wasm.OpI32Const, 0}
	for name, call := range map[string][]any{
		"by name":         append(slices.Clone(args), wasm.OpCall, 1),
		"through a table": append(slices.Clone(args), wasm.OpI32Const, 0, wasm.OpCallIndirect, 0, 0),
	} {
		m := &wasm.Module{Types: types, Funcs: []uint32{0, 0}, Memories: []wasm.Limits{{Min: 1}},
			Code:   []wasm.Code{{Body: body(wasm.OpLoop, 0x40, call, again(0), wasm.OpEnd)}, {Body: body(work(size))}},
			Tables: []wasm.TableType{{Elem: wasm.FuncRef, Limits: wasm.Limits{Min: 1}}},
			Elements: []wasm.Element{{Type: wasm.FuncRef, Offset: wasm.ConstExpr{Op: wasm.OpI32Const},
				Init: []wasm.ConstExpr{{Op: wasm.OpRefFunc, Bits: 1}}}},
			Exports: []wasm.Export{{Name: "run", Kind: wasm.FuncKind}}}
		if got := fuelOf(t, m, turns, 0) / turns; got < size || got > size*1.2 {
			t.Errorf("%s: %.1f units a call, want about %d", name, got, size)
		}
	}
}
