package freeze_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
)

// code writes a body from opcodes and raw bytes.
func code(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case wasm.Opcode:
			b = wasm.AppendOp(b, p)
		case int:
			b = append(b, byte(p))
		}
	}
	return append(b, byte(wasm.OpEnd))
}

// oneFunc is a module with one exported function "run" of a type.
func oneFunc(t wasm.FuncType, locals []wasm.LocalDecl, body []byte) *wasm.Module {
	return &wasm.Module{Types: []wasm.FuncType{t}, Funcs: []uint32{0}, Code: []wasm.Code{{Locals: locals, Body: body}},
		Memories: []wasm.Limits{{Min: 1}}, Exports: []wasm.Export{{Name: "run", Kind: wasm.FuncKind}}}
}

// spin loops for ever.
func spin() *wasm.Module {
	return oneFunc(wasm.FuncType{}, nil, code(wasm.OpLoop, 0x40, wasm.OpBr, 0, wasm.OpEnd))
}

// deep calls itself as often as its argument says and adds up: the sum of 1..n.
func deep() *wasm.Module {
	return oneFunc(wasm.FuncType{Params: []wasm.ValType{wasm.I64}, Results: []wasm.ValType{wasm.I64}}, nil,
		code(wasm.OpLocalGet, 0, wasm.Opcode(0x50), wasm.OpIf, 0x7e, wasm.OpI64Const, 0, wasm.OpElse,
			wasm.OpLocalGet, 0, wasm.OpLocalGet, 0, wasm.OpI64Const, 1, wasm.OpI64Sub, wasm.OpCall, 0, wasm.OpI64Add,
			wasm.OpEnd))
}

func machine(t testing.TB, m *wasm.Module, cfg freeze.Config) *freeze.Machine {
	t.Helper()
	ctx := context.Background()
	b := wasm.Encode(m)
	if err := freeze.Validate(ctx, b); err != nil {
		t.Fatal(err)
	}
	prog := instrument(t, b)
	rt, host := guestRuntime(t)
	c, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	out, err := host.Instantiate(ctx, prog, c, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnstoppableGuestsStop(t *testing.T) {
	ctx := context.Background()
	started := spin()
	started.Start = new(uint32)
	recursion := oneFunc(wasm.FuncType{}, nil, code(wasm.OpCall, 0, wasm.OpCall, 0))
	many := spin()
	many.Code[0].Locals = []wasm.LocalDecl{{Count: 49_000, Type: wasm.I64}}
	var nested []any
	for range 2000 {
		nested = append(nested, wasm.OpLoop, 0x40)
	}
	nested = append(nested, wasm.OpBr, 0)
	for range 2000 {
		nested = append(nested, wasm.OpEnd)
	}
	table := []any{wasm.OpLoop, 0x40, wasm.OpI32Const, 0, wasm.OpBrTable, 0xd0, 0x86, 0x03} // 50,000 targets
	for range 50_001 {
		table = append(table, 0)
	}
	for _, c := range []struct {
		name string
		m    *wasm.Module
	}{
		{"loop", spin()},
		{"start function", started},
		{"recursion", recursion},
		{"many locals", many},
		{"nested loops", oneFunc(wasm.FuncType{}, nil, code(nested...))},
		{"br_table", oneFunc(wasm.FuncType{}, nil, code(append(table, wasm.OpEnd)...))},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t, c.m, freeze.Config{MaxFuel: 1_000_000})
			err := m.Start(ctx)
			if err == nil {
				_, err = m.Call(ctx, "run")
			}
			if !errors.Is(err, freeze.ErrKilled) && !strings.Contains(err.Error(), "stack overflow") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestGuestsThatUseOurNamesAreRefused(t *testing.T) {
	imports := spin()
	imports.Imports = []wasm.Import{{Module: freeze.HostModule, Name: "yield", Kind: wasm.FuncKind}}
	imports.Exports[0].Index = 1
	exports := spin()
	exports.Exports = append(exports.Exports, wasm.Export{Name: "__ck_state", Kind: wasm.FuncKind})
	beyond := oneFunc(wasm.FuncType{}, nil, code(wasm.OpI32Const, 0, wasm.OpGlobalSet, 0)) // has no global 0
	for _, m := range []*wasm.Module{imports, exports} {
		if _, err := freeze.Instrument(wasm.Encode(m), freeze.Options{}); !errors.Is(err, freeze.ErrRefused) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := freeze.Instrument(wasm.Encode(beyond), freeze.Options{}); err == nil {
		t.Error("a global of the pass could be reached")
	}
}

func TestDeepStacksAreHandedOverInPieces(t *testing.T) {
	ctx := context.Background()
	const depth = 20_000 // frames of 16 bytes and more: several times the borrowed region
	prog := instrument(t, wasm.Encode(deep()))
	var state *freeze.State
	for hop := range 3 {
		rt, host := guestRuntime(t)
		c, err := rt.CompileModule(ctx, prog.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		var m *freeze.Machine
		var got []uint64
		if hop == 0 {
			if m, err = host.Instantiate(ctx, prog, c, freeze.Config{}); err != nil {
				t.Fatal(err)
			}
			m.FreezeAt(depth * 5)
			got, err = m.Call(ctx, "run", depth)
		} else {
			if m, err = host.Restore(ctx, prog, c, freeze.Config{}, state, nil); err != nil {
				t.Fatal(err)
			}
			if hop == 1 {
				m.FreezeAt(m.Fuel() + 100)
			}
			got, err = m.Resume(ctx)
		}
		if errors.Is(err, freeze.ErrFrozen) {
			if state, err = m.State(ctx); err != nil {
				t.Fatal(err)
			}
			if hop == 0 && len(state.Frames) < 2*65536 {
				t.Fatalf("only %d bytes of frames", len(state.Frames))
			}
			continue
		}
		if err != nil || got[0] != depth*(depth+1)/2 {
			t.Fatalf("%v %v", got, err)
		}
		return
	}
	t.Fatal("it did not end")
}

// TestThrottle: whatever a slice of the guest's time took, it sleeps as much longer as its share says, and a share of
// all or nothing does not make it sleep.
func TestThrottle(t *testing.T) {
	ctx := context.Background()
	for share, want := range map[float64]float64{0: 0, 1: 0, 0.5: 1, 0.25: 3, 0.9: 1.0 / 9} {
		m := machine(t, spin(), freeze.Config{MaxFuel: 1_000_000})
		var clock time.Time
		var ran, slept time.Duration
		slices, asleep := 0, 0
		m.SetClock(func() time.Time { // each slice takes longer than the one before, so that the guest is asked often
			slices++
			step := time.Duration(slices) * time.Millisecond
			clock, ran = clock.Add(step), ran+step
			return clock
		}, func(_ context.Context, d time.Duration) { clock, slept, asleep = clock.Add(d), slept+d, asleep+1 })
		m.Throttle(share)
		if _, err := m.Call(ctx, "run"); !errors.Is(err, freeze.ErrKilled) {
			t.Fatal(err)
		}
		// The clock is read when a slice begins and when it ends; from an end to the next beginning is no slice.
		inSlices := time.Duration(0)
		for k := 2; k <= slices; k += 2 {
			inSlices += time.Duration(k) * time.Millisecond
		}
		if got := slept.Seconds() / inSlices.Seconds(); got < want*0.97 || got > want*1.03+1e-9 || want > 0 && asleep < 10 {
			t.Errorf("share %v: slept %d times, %v for %v of %v, want %v of it", share, asleep, slept, inSlices, ran, want)
		}
	}
}

// TestThrottledGuestObeys: a guest that sleeps for long, since its last slice took long, is stopped all the same.
func TestThrottledGuestObeys(t *testing.T) {
	m := machine(t, spin(), freeze.Config{})
	var clock time.Time
	naps := 0
	m.SetClock(func() time.Time { clock = clock.Add(time.Minute); return clock },
		func(_ context.Context, d time.Duration) {
			if naps++; naps == 5 {
				m.Freeze()
			}
			if d > time.Second || naps > 6 {
				t.Fatalf("nap %d of %v", naps, d)
			}
		})
	m.Throttle(0.05)
	if _, err := m.Call(context.Background(), "run"); !errors.Is(err, freeze.ErrFrozen) || naps != 5 {
		t.Errorf("%v after %d naps", err, naps)
	}
}

// TestDeepStacksAreNoFaultOnTheInterpreter: what it cannot hold is the host's failure, whether a program gets there or
// comes from a machine that could; what the compiler cannot hold is the program's.
func TestDeepStacksAreNoFaultOnTheInterpreter(t *testing.T) {
	ctx := context.Background()
	prog := instrument(t, wasm.Encode(deep()))
	on := func(cfg wazero.RuntimeConfig) (*freeze.Host, wazero.CompiledModule) {
		rt := wazero.NewRuntimeWithConfig(ctx, cfg)
		t.Cleanup(func() { rt.Close(ctx) })
		host, err := freeze.NewHost(ctx, rt)
		if err != nil {
			t.Fatal(err)
		}
		c, err := rt.CompileModule(ctx, prog.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		return host, c
	}
	interpreter, slow := on(wazero.NewRuntimeConfigInterpreter())
	if n, err := interpreter.MaxFrames(ctx); err != nil || n < 1000 || n > 2000 {
		t.Fatalf("the interpreter holds %d frames, %v", n, err)
	}
	m, err := interpreter.Instantiate(ctx, prog, slow, freeze.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Call(ctx, "run", 1_900); err != nil || got[0] != 1_900*1_901/2 {
		t.Errorf("1,900 frames: %v %v", got, err)
	}
	if _, err := m.Call(ctx, "run", 5_000); !errors.Is(err, freeze.ErrTooDeep) {
		t.Errorf("5,000 frames: %v", err)
	}
	if got, err := m.Call(ctx, "run", 10); err != nil || got[0] != 55 {
		t.Errorf("afterwards: %v %v", got, err)
	}

	compiler, fast := on(wazero.NewRuntimeConfig())
	if n, err := compiler.MaxFrames(ctx); err != nil || n != 0 {
		t.Skipf("no compiler here: %d frames, %v", n, err)
	}
	if m, err = compiler.Instantiate(ctx, prog, fast, freeze.Config{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Call(ctx, "run", 1<<40); err == nil || errors.Is(err, freeze.ErrTooDeep) {
		t.Errorf("endless recursion on the compiler: %v", err)
	}
	for depth, want := range map[uint64]error{1_500: nil, 5_000: freeze.ErrTooDeep} {
		if m, err = compiler.Instantiate(ctx, prog, fast, freeze.Config{}); err != nil {
			t.Fatal(err)
		}
		m.FreezeAt(depth * 5)
		if _, err := m.Call(ctx, "run", 2*depth); !errors.Is(err, freeze.ErrFrozen) {
			t.Fatal(err)
		}
		s, err := m.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = interpreter.Restore(ctx, prog, slow, freeze.Config{}, s, nil); !errors.Is(err, want) {
			t.Errorf("a checkpoint near %d frames: %v, want %v", depth, err, want)
		}
	}
}

func TestOrdersFromOutside(t *testing.T) {
	// The bubble sees to it that the guest's goroutine and this one only go on when the other waits.
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
		defer rt.Close(ctx)
		host, err := freeze.NewHost(ctx, rt)
		if err != nil {
			t.Fatal(err)
		}
		prog := instrument(t, wasm.Encode(spin()))
		c, err := rt.CompileModule(ctx, prog.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		m, err := host.Instantiate(ctx, prog, c, freeze.Config{})
		if err != nil {
			t.Fatal(err)
		}
		m.Pause()
		done := make(chan error)
		go func() { _, err := m.Call(ctx, "run"); done <- err }()
		synctest.Wait() // it returns only because the paused guest waits
		used := m.Fuel()
		var seen uint64
		m.Checkpoint(func(ctx context.Context, m *freeze.Machine) error {
			s, err := m.State(ctx)
			if err == nil {
				seen = s.Fuel
			}
			m.Freeze()
			return err
		})
		m.Continue()
		if err := <-done; !errors.Is(err, freeze.ErrFrozen) {
			t.Fatal(err)
		}
		if seen != used || m.Fuel() < used {
			t.Fatalf("paused at %d, checkpoint at %d, frozen at %d", used, seen, m.Fuel())
		}
		go func() { _, err := m.Resume(ctx); done <- err }()
		m.Kill("enough")
		if err := <-done; !errors.Is(err, freeze.ErrKilled) || !strings.Contains(err.Error(), "enough") {
			t.Fatal(err)
		}
	})
}

// TestFreezeIsNotForgotten: an order to freeze stands until it is carried out, be it given before the guest runs, while
// it is frozen, or while it is being put together again.
func TestFreezeIsNotForgotten(t *testing.T) {
	ctx := context.Background()
	m := machine(t, deep(), freeze.Config{})
	m.Freeze()
	if _, err := m.Call(ctx, "run", 100_000); !errors.Is(err, freeze.ErrFrozen) {
		t.Fatalf("ordered before the call: %v", err)
	}
	for range 3 {
		m.Freeze()
		if _, err := m.Resume(ctx); !errors.Is(err, freeze.ErrFrozen) {
			t.Fatalf("ordered while it is frozen: %v", err)
		}
	}
	asked := 0
	m.Checkpoint(func(context.Context, *freeze.Machine) error {
		if asked++; asked == 1 {
			m.WhenGoesOn(func(time.Duration) { m.Freeze() })
		}
		return nil
	})
	if _, err := m.Resume(ctx); !errors.Is(err, freeze.ErrFrozen) || asked != 1 {
		t.Fatalf("ordered as it goes on: %v, %d checkpoints", err, asked)
	}
	got, err := m.Resume(ctx)
	if err != nil || got[0] != 100_000*100_001/2 {
		t.Fatalf("without an order: %v %v", got, err)
	}
}

// TestAskedWhilePutTogether: checkpoints and the end are not kept waiting by resume functions being made.
func TestAskedWhilePutTogether(t *testing.T) {
	ctx := context.Background()
	m := machine(t, deep(), freeze.Config{})
	var at []uint64
	again := func(ctx context.Context, m *freeze.Machine) error { at = append(at, m.Fuel()); return nil }
	m.Checkpoint(func(ctx context.Context, m *freeze.Machine) error { m.Checkpoint(again); return again(ctx, m) })
	got, err := m.Call(ctx, "run", 100_000)
	if err != nil || got[0] != 100_000*100_001/2 {
		t.Fatalf("%v %v", got, err)
	}
	if len(at) != 2 || at[0] != at[1] || m.Stats().Unwinds != 1 {
		t.Errorf("checkpoints at fuel %d, the stack was taken apart %d times; want two at one place", at, m.Stats().Unwinds)
	}
	m.Checkpoint(func(_ context.Context, m *freeze.Machine) error { m.Kill("enough"); return nil })
	if _, err = m.Call(ctx, "run", 100_000); !errors.Is(err, freeze.ErrKilled) || errors.Is(err, freeze.ErrFrozen) {
		t.Errorf("killed in a checkpoint: %v", err)
	}
}

func TestFuelDoesNotDependOnGrants(t *testing.T) {
	var states [][]byte
	for _, torture := range []int{0, 1, 7} {
		m := machine(t, deep(), freeze.Config{TortureEvery: torture})
		if _, err := m.Call(context.Background(), "run", 300); err != nil {
			t.Fatal(err)
		}
		s, err := m.State(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		man, err := (&freeze.Recorder{}).Record(s, m.Memory(), nil, false, func(freeze.Hash, []byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		h, _ := man.Hash()
		states = append(states, h[:])
	}
	if !slices.Equal(states[0], states[1]) || !slices.Equal(states[0], states[2]) {
		t.Fatal("the final states differ")
	}
}
