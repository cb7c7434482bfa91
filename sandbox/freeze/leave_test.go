package freeze_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// leaver goes round a loop ten times, two calls deep, and then calls the host's function to leave.
func leaver() *wasm.Module {
	i32 := wasm.I32
	m := &wasm.Module{
		Types:    []wasm.FuncType{{}, {Params: []wasm.ValType{i32}}},
		Imports:  []wasm.Import{{Module: "env", Name: "leave", Kind: wasm.FuncKind}},
		Funcs:    []uint32{0, 1},
		Memories: []wasm.Limits{{Min: 1}},
		Exports:  []wasm.Export{{Name: "run", Kind: wasm.FuncKind, Index: 1}},
	}
	run := code(wasm.OpI32Const, 10, wasm.OpCall, 2, wasm.OpUnreachable)
	round := code(wasm.OpLoop, 0x40, wasm.OpLocalGet, 0, wasm.OpI32Const, 1, wasm.OpI32Sub, wasm.OpLocalTee, 0, wasm.OpBrIf, 0, wasm.OpEnd, wasm.OpCall, 0)
	m.Code = []wasm.Code{{Body: run}, {Body: round}}
	return m
}

// A guest that leaves ends where it is with the error it left with, at the same fuel whether it was unwound before or
// not, on either engine; a goroutine that ends for no reason is no success.
func TestLeave(t *testing.T) {
	ctx, gone := context.Background(), errors.New("gone")
	prog := instrument(t, wasm.Encode(leaver()))
	for name, engine := range map[string]wazero.RuntimeConfig{"default": wazero.NewRuntimeConfig(), "interpreter": wazero.NewRuntimeConfigInterpreter()} {
		t.Run(name, func(t *testing.T) {
			rt := wazero.NewRuntimeWithConfig(ctx, engine)
			defer rt.Close(ctx)
			leave := runtime.Goexit
			host, err := freeze.NewHost(ctx, rt)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().
				WithGoFunction(api.GoFunc(func(context.Context, []uint64) { leave() }), nil, nil).Export("leave").Instantiate(ctx); err != nil {
				t.Fatal(err)
			}
			c, err := rt.CompileModule(ctx, prog.Wasm)
			if err != nil {
				t.Fatal(err)
			}
			run := func(cfg freeze.Config, with error) (error, freeze.Stats, uint64) {
				m, err := host.Instantiate(ctx, prog, c, cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close(ctx)
				if with != nil {
					leave = func() { m.Leave(with) }
				}
				_, err = m.Call(ctx, "run")
				return err, m.Stats(), m.Fuel()
			}
			if err, _, _ := run(freeze.Config{}, nil); err == nil {
				t.Error("a goroutine that ended is no error")
			}
			err, _, fuel := run(freeze.Config{}, gone)
			if err != gone || fuel == 0 {
				t.Errorf("left with %v after %d", err, fuel)
			}
			err, stats, again := run(freeze.Config{TortureEvery: 1}, gone)
			if err != gone || stats.Unwinds == 0 || again != fuel {
				t.Errorf("unwound %d times: left with %v after %d, want %d", stats.Unwinds, err, again, fuel)
			}
		})
	}
}
