package freeze_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The remainders, as the instructions are encoded.
const (
	remS32, remU32 wasm.Opcode = 0x6f, 0x70
	remS64, remU64 wasm.Opcode = 0x81, 0x82
)

// remainderWant is what Go's arithmetic gives; the divisor is not 0.
func remainderWant(op wasm.Opcode, x, y uint64) uint64 {
	switch op {
	case remS32:
		return uint64(uint32(int32(x) % int32(y)))
	case remU32:
		return uint64(uint32(x) % uint32(y))
	case remS64:
		return uint64(int64(x) % int64(y))
	}
	return x % y
}

func remainderType(op wasm.Opcode) wasm.ValType {
	if op == remS32 || op == remU32 {
		return wasm.I32
	}
	return wasm.I64
}

// remainderForms are the ways in which a module with remainders reaches the engine: as Instrument rewrites it, and as one that
// cannot be frozen.
var remainderForms = map[string]func(t testing.TB, b []byte) []byte{
	"instrumented": func(t testing.TB, b []byte) []byte { return instrument(t, b).Wasm },
	"unfreezable": func(t testing.TB, b []byte) []byte {
		out, err := freeze.WithoutRemainders(b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	},
}

// remainderEngines are the compiler, where there is one, and the interpreter.
var remainderEngines = map[string]wazero.RuntimeConfig{
	"default": wazero.NewRuntimeConfig(), "interpreter": wazero.NewRuntimeConfigInterpreter(),
}

// onEngines calls use with an instance of a module in each form on the named engines.
func onEngines(t *testing.T, m *wasm.Module, use func(t *testing.T, mod api.Module), engines ...string) {
	t.Helper()
	b := wasm.Encode(m)
	for form, rewrite := range remainderForms {
		for _, engine := range engines {
			t.Run(form+"/"+engine, func(t *testing.T) {
				cfg := remainderEngines[engine]
				ctx := context.Background()
				rt := wazero.NewRuntimeWithConfig(ctx, cfg)
				defer rt.Close(ctx)
				if _, err := freeze.NewHost(ctx, rt); err != nil {
					t.Fatal(err)
				}
				mod, err := rt.Instantiate(ctx, rewrite(t, b))
				if err != nil {
					t.Fatal(err)
				}
				use(t, mod)
			})
		}
	}
}

// The rewritten remainders equal Go's arithmetic for edge values and random ones, with a variable and with a constant
// divisor, on both engines. A zero divisor traps.
func TestRemaindersEqualArithmetic(t *testing.T) {
	var edges []uint64
	for _, e := range []int64{0, 1, 2, 3, 7, 10, 60, 255, 256, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		for d := int64(-1); d <= 1; d++ {
			edges = append(edges, uint64(e+d), uint64(-e+d))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		edges = append(edges, rng.Uint64(), rng.Uint64()>>rng.IntN(64))
	}
	constants := []int64{-1, 1, 0, 60, math.MinInt32}
	m, names := &wasm.Module{}, map[string]wasm.Opcode{}
	add := func(name string, op wasm.Opcode, divisor []byte) {
		typ := remainderType(op)
		m.Exports = append(m.Exports, wasm.Export{Name: name, Kind: wasm.FuncKind, Index: uint32(len(m.Funcs))})
		m.Funcs = append(m.Funcs, uint32(len(m.Types)))
		m.Types = append(m.Types, wasm.FuncType{Params: []wasm.ValType{typ, typ}, Results: []wasm.ValType{typ}})
		body := append([]byte{byte(wasm.OpLocalGet), 0}, divisor...)
		m.Code = append(m.Code, wasm.Code{Body: append(wasm.AppendOp(body, op), byte(wasm.OpEnd))})
		names[name] = op
	}
	for _, op := range []wasm.Opcode{remS32, remU32, remS64, remU64} {
		add(fmt.Sprintf("%v", op), op, []byte{byte(wasm.OpLocalGet), 1})
		for _, c := range constants {
			k := byte(wasm.OpI64Const)
			if remainderType(op) == wasm.I32 {
				k = byte(wasm.OpI32Const)
			}
			add(fmt.Sprintf("%v %d", op, c), op, wasm.AppendSigned([]byte{k}, c))
		}
	}
	onEngines(t, m, func(t *testing.T, mod api.Module) {
		for name, op := range names {
			f := mod.ExportedFunction(name)
			for _, x := range edges {
				for _, y := range edges {
					divisor := y
					if _, c, constant := strings.Cut(name, " "); constant {
						var k int64
						fmt.Sscan(c, &k)
						divisor = uint64(k)
					}
					arg := [2]uint64{x, y}
					zero := divisor == 0
					if remainderType(op) == wasm.I32 {
						arg, zero = [2]uint64{uint64(uint32(x)), uint64(uint32(y))}, uint32(divisor) == 0
					}
					got, err := f.Call(context.Background(), arg[0], arg[1])
					if zero {
						if err == nil || !strings.Contains(err.Error(), "integer divide by zero") {
							t.Fatalf("%s of %d and 0: got %v, %v, want a trap", name, x, got, err)
						}
						continue
					}
					if want := remainderWant(op, x, divisor); err != nil || got[0] != want {
						t.Fatalf("%s of %d and %d: got %v, %v, want %d", name, x, divisor, got, err, want)
					}
				}
			}
		}
	}, "default", "interpreter")
}

// crowded is a function that takes a remainder while twice as many values are live as it loads from memory, and uses the
// remainder last.
func crowded(op wasm.Opcode, live int) *wasm.Module {
	typ := remainderType(op)
	load, sum, xor, size := wasm.OpI64Load, wasm.OpI64Add, wasm.Opcode(0x85), 8
	if typ == wasm.I32 {
		load, sum, xor, size = wasm.OpI32Load, wasm.Opcode(0x6a), wasm.Opcode(0x73), 4
	}
	var b []byte
	local := func(o wasm.Opcode, i int) { b = wasm.AppendUnsigned(wasm.AppendOp(b, o), uint64(i)) }
	for i := range live {
		b = wasm.AppendSigned(append(b, byte(wasm.OpI32Const)), int64(i*size))
		b = append(wasm.AppendOp(b, load), 2, 0)
		local(wasm.OpLocalSet, i)
	}
	for i := range live { // these need no register for an address, so none is free
		local(wasm.OpLocalGet, i)
		local(wasm.OpLocalGet, (i+1)%live)
		b = wasm.AppendOp(b, xor)
		local(wasm.OpLocalSet, live+i)
	}
	local(wasm.OpLocalGet, 0)
	local(wasm.OpLocalGet, 1)
	b = wasm.AppendOp(b, op)
	local(wasm.OpLocalSet, 2*live)
	local(wasm.OpLocalGet, 0)
	for i := 1; i <= 2*live; i++ {
		local(wasm.OpLocalGet, i)
		b = wasm.AppendOp(b, sum)
	}
	m := oneFunc(wasm.FuncType{Results: []wasm.ValType{typ}}, []wasm.LocalDecl{{Count: uint32(2*live + 1), Type: typ}},
		append(b, byte(wasm.OpEnd)))
	m.Exports = append(m.Exports, wasm.Export{Name: "memory", Kind: wasm.MemoryKind})
	return m
}

// crowdedCheck runs crowded on an instance and compares its result.
func crowdedCheck(t *testing.T, mod api.Module, op wasm.Opcode, live int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(op), uint64(live)))
	var values []uint64
	for range live {
		values = append(values, rng.Uint64()|1)
	}
	want := uint64(0)
	if remainderType(op) == wasm.I32 {
		for i := range values {
			values[i] = uint64(uint32(values[i]))
			binary.LittleEndian.PutUint32(view(t, mod, i*4, 4), uint32(values[i]))
		}
	} else {
		for i := range values {
			binary.LittleEndian.PutUint64(view(t, mod, i*8, 8), values[i])
		}
	}
	for i, v := range values {
		want += v + (v ^ values[(i+1)%live])
	}
	want += remainderWant(op, values[0], values[1])
	if remainderType(op) == wasm.I32 {
		want = uint64(uint32(want))
	}
	if got, err := mod.ExportedFunction("run").Call(context.Background()); err != nil || got[0] != want {
		t.Errorf("%v among %d values: got %v, %v, want %d", op, live, got, err, want)
	}
}

func view(t *testing.T, mod api.Module, at, n int) []byte {
	t.Helper()
	b, ok := mod.Memory().Read(uint32(at), uint32(n))
	if !ok {
		t.Fatal("the memory is too small")
	}
	return b
}

// A remainder is right however many values are live beside it. The engine's compiler for arm64 gives something else
// from 13 loaded values on, which scripts/test-arch shows.
func TestRemaindersAmongManyValues(t *testing.T) {
	for _, op := range []wasm.Opcode{remS32, remU32, remS64, remU64} {
		for live := 13; live <= 30; live++ { // arm64 has 26 registers for values, and there are two per loaded value
			onEngines(t, crowded(op, live), func(t *testing.T, mod api.Module) { crowdedCheck(t, mod, op, live) }, "default")
		}
	}
}

// BenchmarkRemainders runs loops of nothing but remainders, as the engine would compile them and as they are rewritten,
// side by side. It reports nanoseconds of processor time for each, and the ratio.
func BenchmarkRemainders(b *testing.B) {
	ctx := context.Background()
	for _, op := range []wasm.Opcode{remS32, remU32, remS64, remU64} {
		for name, divisor := range map[string][]byte{"variable": {byte(wasm.OpLocalGet), 1}, "constant": nil} {
			typ := remainderType(op)
			k, sum, test := byte(wasm.OpI64Const), wasm.OpI64Add, wasm.Opcode(0x52)
			if typ == wasm.I32 {
				k, sum, test = byte(wasm.OpI32Const), wasm.Opcode(0x6a), wasm.Opcode(0x47)
			}
			if divisor == nil {
				divisor = []byte{k, 60}
			}
			const turns = 100_000
			// do { sum += (turns + sum) % divisor } while (--turns != 0)
			body := []byte{byte(wasm.OpLoop), 0x40, byte(wasm.OpLocalGet), 2, byte(wasm.OpLocalGet), 0}
			body = wasm.AppendOp(append(body, byte(wasm.OpLocalGet), 2), sum)
			body = wasm.AppendOp(append(body, divisor...), op)
			body = wasm.AppendOp(body, sum)
			body = append(body, byte(wasm.OpLocalSet), 2, byte(wasm.OpLocalGet), 0, k, 0x7f) // -1
			body = wasm.AppendOp(body, sum)
			body = append(body, byte(wasm.OpLocalTee), 0, k, 0)
			body = wasm.AppendOp(body, test)
			body = append(body, byte(wasm.OpBrIf), 0, byte(wasm.OpEnd), byte(wasm.OpLocalGet), 2, byte(wasm.OpEnd))
			raw := wasm.Encode(oneFunc(wasm.FuncType{Params: []wasm.ValType{typ, typ}, Results: []wasm.ValType{typ}},
				[]wasm.LocalDecl{{Count: 1, Type: typ}}, body))
			rewritten, err := freeze.WithoutRemainders(raw)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%v/%s", op, name), func(b *testing.B) {
				rt := wazero.NewRuntime(ctx)
				defer rt.Close(ctx)
				var run [2]api.Function
				for i, module := range [][]byte{raw, rewritten} {
					mod, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
					if err != nil {
						b.Fatal(err)
					}
					run[i] = mod.ExportedFunction("run")
				}
				var spent [2]time.Duration
				for b.Loop() {
					for i, f := range run {
						began := processTime()
						if _, err := f.Call(ctx, turns, 60); err != nil {
							b.Fatal(err)
						}
						spent[i] += processTime() - began
					}
				}
				each := float64(b.N) * turns
				b.ReportMetric(float64(spent[0].Nanoseconds())/each, "engine-ns")
				b.ReportMetric(float64(spent[1].Nanoseconds())/each, "rewritten-ns")
				b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
			})
		}
	}
}
