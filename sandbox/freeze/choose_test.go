package freeze_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"
)

// TestFloatsAreChosenRight: a select between a float that was put away over a call and a constant gives the constant.
// The engine's compiler for amd64 gives something else.
func TestFloatsAreChosenRight(t *testing.T) {
	f64, i64, i32 := wasm.F64, wasm.I64, wasm.I32
	want := math.Float64bits(1e300)
	constant := []any{wasm.OpF64Const}
	for _, b := range binary.LittleEndian.AppendUint64(nil, want) {
		constant = append(constant, int(b))
	}
	run := body(wasm.OpI32Const, 0xc0, 0, wasm.OpF64Load, 3, 0, wasm.OpLocalSet, 0,
		wasm.OpCall, 1, wasm.OpLocalGet, 0, wasm.OpI64Const, 0,
		wasm.OpLocalGet, 0, constant, wasm.OpI32Const, 0, wasm.OpSelect, wasm.OpLocalSet, 1,
		wasm.OpCall, 2, wasm.OpLocalGet, 1, wasm.Opcode(0xbd))
	m := &wasm.Module{
		Types: []wasm.FuncType{{Results: []wasm.ValType{i64}}, {Results: []wasm.ValType{i32}},
			{Params: []wasm.ValType{i32, f64, i64}}},
		Funcs:    []uint32{0, 1, 2},
		Memories: []wasm.Limits{{Min: 1}},
		Code: []wasm.Code{{Locals: []wasm.LocalDecl{{Count: 2, Type: f64}}, Body: run},
			{Body: code(wasm.OpI32Const, 0)}, {Body: code()}},
		Exports: []wasm.Export{{Name: "run", Kind: wasm.FuncKind}},
	}
	got, err := machine(t, m, freeze.Config{}).Call(context.Background(), "run")
	if err != nil || got[0] != want {
		t.Errorf("%x, %v; want %x", got, err, want)
	}
}
