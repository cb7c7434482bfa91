package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"godwit/sandbox/wasm"
)

const (
	// speedTurns is how often the benchmark's loop turns: long enough for its
	// own preparation not to matter, short enough not to be felt.
	speedTurns = 30_000_000
	// referenceTime is the processor time that the benchmark takes on the
	// reference core, which it thereby defines: one thread of a virtual machine
	// on an AMD EPYC, where the quickest of three runs took 109 to 191 ms, ten
	// times measured, 160 in the middle.
	referenceTime = 160 * time.Millisecond
	// speedRuns is how many runs are made; the quickest counts, as what slowed
	// the others was not this core.
	speedRuns = 3

	speedLimit  = time.Minute // on a core a hundred times slower
	speedMemory = 64 << 20
)

// Speed measures how fast this machine runs tasks on one core, relative to the
// reference core, by a benchmark of integers, floating point and memory that
// runs as any task does. It takes about a second of processor time, at the
// priority of tasks: on a busy machine it waits, but the figure, being processor
// time, stays right.
func (p *Pool) Speed(ctx context.Context) (float64, error) {
	module := speedModule(speedTurns)
	dir, err := os.MkdirTemp(p.cfg.ScratchDir, "speed")
	if err != nil {
		return 0, fmt.Errorf("sandbox: measuring speed: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "speed.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		return 0, fmt.Errorf("sandbox: measuring speed: %w", err)
	}
	digest := sha256.Sum256(module)
	best := time.Duration(math.MaxInt64)
	for range speedRuns {
		r, err := p.Run(ctx, Task{
			Name: "speed/0", Module: hex.EncodeToString(digest[:]), ModulePath: path,
			Limits: Limits{Memory: speedMemory, Wall: speedLimit},
		})
		if err != nil {
			return 0, fmt.Errorf("sandbox: measuring speed: %w", err)
		}
		if r.Message != "" || r.CPU <= 0 {
			return 0, errors.New("sandbox: measuring speed: " + r.Outcome.String() + " " + r.Message)
		}
		best = min(best, r.CPU)
	}
	return float64(referenceTime) / float64(best), nil
}

// speedModule is the benchmark: speedCode, with a mebibyte of memory.
func speedModule(turns int64) []byte {
	const pages = 17 // a mebibyte, and the last word's end
	return wasm.Encode(&wasm.Module{
		Types:    []wasm.FuncType{{}},
		Funcs:    []uint32{0},
		Memories: []wasm.Limits{{Min: pages}},
		Exports:  []wasm.Export{{Name: "_start", Kind: wasm.FuncKind}, {Name: "memory", Kind: wasm.MemoryKind}},
		Code: []wasm.Code{{Body: speedCode(turns), Locals: []wasm.LocalDecl{
			{Count: 2, Type: wasm.I64}, {Count: 1, Type: wasm.F64}, {Count: 1, Type: wasm.I32},
		}}},
	})
}

// speedCode is what the benchmark does, so many times. Each turn steps a linear congruential generator,
// changes a word somewhere in a mebibyte, and steps a sum in floating point.
func speedCode(times int64) []byte {
	const (
		turns, x, f, at = 0, 1, 2, 3 // locals
		i64Mul, i64Xor  = wasm.Opcode(0x7e), wasm.Opcode(0x85)
		f64Add, f64Mul  = wasm.Opcode(0xa0), wasm.Opcode(0xa2)
		i32And, i32Wrap = wasm.Opcode(0x71), wasm.Opcode(0xa7)
		f64FromI32      = wasm.Opcode(0xb8)
		wholeWords      = 1<<20 - 8
	)
	var b []byte
	op := func(o wasm.Opcode) { b = wasm.AppendOp(b, o) }
	local := func(o wasm.Opcode, i uint32) { op(o); b = wasm.AppendUnsigned(b, uint64(i)) }
	i64 := func(v int64) { op(wasm.OpI64Const); b = wasm.AppendSigned(b, v) }
	i32 := func(v int32) { op(wasm.OpI32Const); b = wasm.AppendSigned(b, int64(v)) }
	f64 := func(v float64) { op(wasm.OpF64Const); b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	word := func(o wasm.Opcode) { op(o); b = append(b, 3, 0) } // aligned, at offset 0

	i64(times)
	local(wasm.OpLocalSet, turns)
	op(wasm.OpLoop)
	b = append(b, 0x40) // without a result
	local(wasm.OpLocalGet, x)
	i64(6364136223846793005) // Knuth, The Art of Computer Programming, 3.3.4
	op(i64Mul)
	i64(1442695040888963407)
	op(wasm.OpI64Add)
	local(wasm.OpLocalTee, x)
	i64(40)
	op(wasm.OpI64ShrU)
	op(i32Wrap)
	i32(wholeWords)
	op(i32And)
	local(wasm.OpLocalTee, at)
	local(wasm.OpLocalGet, at)
	word(wasm.OpI64Load)
	local(wasm.OpLocalGet, x)
	op(i64Xor)
	word(wasm.OpI64Store)
	local(wasm.OpLocalGet, f)
	f64(0.999)
	op(f64Mul)
	local(wasm.OpLocalGet, at)
	op(f64FromI32)
	op(f64Add)
	local(wasm.OpLocalSet, f)
	local(wasm.OpLocalGet, turns)
	i64(-1)
	op(wasm.OpI64Add)
	local(wasm.OpLocalTee, turns)
	i64(0)
	op(wasm.OpI64GtU)
	local(wasm.OpBrIf, 0)
	op(wasm.OpEnd)
	i32(0)
	local(wasm.OpLocalGet, f)
	word(wasm.OpF64Store)
	op(wasm.OpEnd)
	return b
}
