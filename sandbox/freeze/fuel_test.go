package freeze_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"
)

// Fuel is to be what a program did. Here each instruction of a module counts itself, and what the pass charges for the
// same run must lie near that.

// countName is the export of the global that counts.
const countName = "count"

// weight is what an instruction takes, near the number of machine instructions.
func weight(m *wasm.Module, in *wasm.Instr) int64 {
	name := in.Op.String()
	switch in.Op {
	case wasm.OpCall:
		if int(in.A) < m.Imported(wasm.FuncKind) {
			return 54
		}
		return 4
	case wasm.OpCallIndirect:
		return 20
	case wasm.OpBrTable:
		return 3
	case wasm.OpLoop:
		return 5 // the poll of a turn
	case wasm.OpBlock, wasm.OpElse, wasm.OpEnd, wasm.OpNop, wasm.OpBr, wasm.OpReturn, wasm.OpUnreachable,
		wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee, wasm.OpDrop, wasm.OpI32Const, wasm.OpI64Const:
		return 0
	case wasm.OpMemoryGrow, wasm.OpTableGrow:
		return 30
	}
	switch {
	case in.Op >= wasm.OpMemoryInit && in.Op <= wasm.OpTableFill && in.Op != wasm.OpDataDrop &&
		in.Op != wasm.OpElemDrop && in.Op != wasm.OpTableSize:
		return 30
	case strings.Contains(name, ".div") || strings.Contains(name, ".rem") || strings.Contains(name, ".sqrt"):
		return 8
	}
	return 1
}

// counting gives a module in which every instruction counts itself.
func counting(b []byte) ([]byte, error) {
	m, err := wasm.Decode(b)
	if err != nil {
		return nil, err
	}
	count := uint32(len(m.GlobalTypes()))
	m.Globals = append(m.Globals, wasm.Global{Type: wasm.GlobalType{Type: wasm.I64, Mutable: true},
		Init: wasm.ConstExpr{Op: wasm.OpI64Const}})
	m.Exports = append(m.Exports, wasm.Export{Name: countName, Kind: wasm.GlobalKind, Index: count})
	for f := range m.Code {
		var out []piece
		ps := pieces(&m.Code[f])
		if ps == nil {
			return nil, errors.New("a body cannot be read")
		}
		for _, p := range ps {
			var add []piece
			if w := weight(m, &p.in); w > 0 {
				n := zero(wasm.I64)
				n.bytes = wasm.AppendSigned([]byte{byte(wasm.OpI64Const)}, w)
				add = []piece{made(wasm.OpGlobalGet, count), n, made(wasm.OpI64Add), made(wasm.OpGlobalSet, count)}
			}
			if p.in.Op == wasm.OpLoop {
				out = append(append(out, p), add...)
			} else {
				out = append(append(out, add...), p)
			}
		}
		m.Code[f].Body = join(out)
	}
	return wasm.Encode(m), nil
}

// fuelAndCount runs a module and gives what was charged and what was counted; zeros if it is not compared.
func fuelAndCount(ctx context.Context, d *differ) (fuel, count uint64, err error) {
	if d.e, err = newEngines(ctx); err != nil {
		return 0, 0, err
	}
	defer d.e.close(ctx)
	if err := d.prepare(ctx); err != nil {
		return 0, 0, err
	}
	whole := d.whole(ctx, interpreter, freeze.Config{MaxFuel: differFuel})
	if strings.Contains(whole.calls[0].why, freeze.ErrKilled.Error()) || whole.calls[0].why != "" {
		return 0, 0, nil
	}
	b, err := counting(d.module)
	if err != nil {
		return 0, 0, err
	}
	mod, err := d.e.plain[interpreter].Instantiate(ctx, b)
	if err != nil {
		return 0, 0, err
	}
	defer mod.Close(ctx)
	ctx = context.WithValue(ctx, stageKey{}, &stage{main: mod})
	if _, err := mod.ExportedFunction("run").Call(ctx, d.args[0]...); err != nil {
		return 0, 0, err
	}
	return whole.fuel[0], mod.ExportedGlobal(countName).Get(), nil
}

const (
	fuelSeeds = 150
	leastFuel = 500 // what a run must be charged to be judged: polls and entries are much of a shorter one
	// fuelFactor bounds how far from the count nine in ten lie, fuelMost how far any. The dearest are dispatching loops:
	// a jump there pays for the arms that it jumps over.
	fuelFactor = 2
	fuelMost   = 16
)

func TestFuelOfGeneratedModules(t *testing.T) {
	var factors []float64
	for seed := uint64(1); seed <= fuelSeeds; seed++ {
		d := newDiffer(newGenerator(seed))
		fuel, count, err := fuelAndCount(context.Background(), d)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if max(fuel, count) < leastFuel {
			continue
		}
		factor := float64(max(fuel, count)) / float64(min(fuel, count))
		if factors = append(factors, factor); factor > fuelMost {
			t.Errorf("seed %d: charged %d for what counts %d", seed, fuel, count)
		}
	}
	slices.Sort(factors)
	n := len(factors)
	t.Logf("%d modules: factor %.2f in the middle, %.2f for 9 in 10, %.2f at most", n, factors[n/2], factors[n*9/10],
		factors[n-1])
	if factors[n*9/10] > fuelFactor {
		t.Errorf("the fuel of 1 in 10 is further than a factor of %d from what was done", fuelFactor)
	}
}
