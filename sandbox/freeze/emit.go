package freeze

import (
	"encoding/binary"

	"godwit/sandbox/wasm"
)

// env maps what a function names to the indices of the module that it is written into.
type env interface {
	funcIndex(i uint32) uint32
	typeIndex(i uint32) uint32
	tableIndex(i uint32) uint32
	globalIndex(i uint32) uint32
	// newType gives the index of a type that the original may not have.
	newType(t wasm.FuncType) uint32
	own(g ownGlobal) uint32
	helper(h helper) uint32
	ownTable(t ownTable) uint32
	// initData says how to write memory.init of a segment: inline, or by calling a helper.
	initData(segment uint32) (helper uint32, byCall bool)
	// dropped gives the global with the length that is left of a data or element segment.
	dropped(k dropKey) uint32
}

// ownGlobal is a global that the pass adds.
type ownGlobal int

const (
	globalState ownGlobal = iota // 1 while unwinding
	globalSP                     // where the next frame goes
	globalEnd                    // spill when the stack pointer is above
	globalFuel                   // what is left of the grant; a poll that makes it negative yields
	globalRefs                   // references on the stack of function references
	globalExts                   // the same for external references
	ownGlobals
)

var ownGlobalNames = [ownGlobals]string{"state", "sp", "end", "fuel", "refsp", "extsp"}

func (g ownGlobal) typ() wasm.ValType {
	if g == globalFuel {
		return wasm.I64
	}
	return wasm.I32
}

// helper is a function that the pass adds, or the import.
type helper int

const (
	helperYield   helper = iota
	helperFrame          // (point, size): ends a frame
	helperPushRef        // (funcref)
	helperPopRef         // () funcref
	helperPushExt        // (externref)
	helperPopExt         // () externref
	helperGrow           // (n) i32: grows the table of resume functions
	helperRef            // (i) funcref: the i-th function that references can lead to
	helpers
)

var helperNames = [helpers]string{"yield", "frame", "pushref", "popref", "pushext", "popext", "grow", "ref"}

// ownTable is a table that the pass adds.
type ownTable int

const (
	tableResume ownTable = iota // resume functions, by slot
	tableFuncs                  // functions that references can lead to, then passive segments
	tableRefs                   // function references in frames
	tableExts                   // external references in frames
	ownTables
)

var ownTableNames = [ownTables]string{"resume", "funcs", "refs", "exts"}

// dropKey names a data or element segment.
type dropKey struct {
	elem    bool
	segment uint32
}

// emitter writes one function.
type emitter struct {
	f   *function
	env env
	out []byte
	// labels holds, for each construct of the original that is open, the depth at which it stands in what
	// is written; depth is how many constructs are open there.
	labels  []int32
	openers []int32 // and the instruction that opened it, -1 for the function
	depth   int32
	quiet   int     // how many of the open constructs are quiet loops
	resumed int     // how many of the open constructs, from the outside, hold the rest of what was left
	waiting []int32 // stores of an open group
	err     error
}

func (e *emitter) op(op wasm.Opcode) { e.out = wasm.AppendOp(e.out, op) }

func (e *emitter) opIndex(op wasm.Opcode, i uint32) {
	e.op(op)
	e.out = wasm.AppendUnsigned(e.out, uint64(i))
}

func (e *emitter) localOp(op wasm.Opcode, x uint32) { e.opIndex(op, x) }

func (e *emitter) i32(x uint32) {
	e.op(wasm.OpI32Const)
	e.out = wasm.AppendSigned(e.out, int64(int32(x)))
}

func (e *emitter) i64(x uint64) {
	e.op(wasm.OpI64Const)
	e.out = wasm.AppendSigned(e.out, int64(x))
}

func (e *emitter) getOwn(g ownGlobal) { e.opIndex(wasm.OpGlobalGet, e.env.own(g)) }
func (e *emitter) setOwn(g ownGlobal) { e.opIndex(wasm.OpGlobalSet, e.env.own(g)) }
func (e *emitter) call(h helper)      { e.opIndex(wasm.OpCall, e.env.helper(h)) }

func (e *emitter) open(op wasm.Opcode, bt int32) {
	e.op(op)
	e.out = wasm.AppendBlockType(e.out, bt)
	e.depth++
}

func (e *emitter) end() {
	e.op(wasm.OpEnd)
	e.depth--
}

// results gives the block type () -> ts.
func (e *emitter) results(ts []wasm.ValType) int32 {
	switch len(ts) {
	case 0:
		return wasm.BlockVoid
	case 1:
		return -int32(ts[0])
	}
	return int32(e.env.newType(wasm.FuncType{Results: ts}))
}

// branch gives the depth to write for a branch of an original depth.
func (e *emitter) branch(depth uint32) uint32 {
	return uint32(e.depth - 1 - e.labels[len(e.labels)-1-int(depth)])
}

func (e *emitter) access(op wasm.Opcode, align, offset uint32) {
	e.op(op)
	e.out = wasm.AppendUnsigned(wasm.AppendUnsigned(e.out, uint64(align)), uint64(offset))
}

// zero writes a value of a type that will not be used.
func (e *emitter) zero(t wasm.ValType) {
	switch t {
	case wasm.I32:
		e.i32(0)
	case wasm.I64:
		e.i64(0)
	case wasm.F32:
		e.op(wasm.OpF32Const)
		e.out = append(e.out, 0, 0, 0, 0)
	case wasm.F64:
		e.op(wasm.OpF64Const)
		e.out = binary.LittleEndian.AppendUint64(e.out, 0)
	case wasm.V128:
		e.op(wasm.OpV128Const)
		e.out = append(e.out, make([]byte, 16)...)
	default:
		e.op(wasm.OpRefNull)
		e.out = append(e.out, byte(t))
	}
}

// memOps gives the load and store of a type and the exponent of its alignment.
func memOps(t wasm.ValType) (load, store wasm.Opcode, align uint32) {
	switch t {
	case wasm.I32:
		return wasm.OpI32Load, wasm.OpI32Store, 2
	case wasm.I64:
		return wasm.OpI64Load, wasm.OpI64Store, 3
	case wasm.F32:
		return wasm.OpF32Load, wasm.OpF32Store, 2
	case wasm.F64:
		return wasm.OpF64Load, wasm.OpF64Store, 3
	}
	return wasm.OpV128Load, wasm.OpV128Store, 0
}

// operands pushes the operands from height lo up to hi from their temporaries.
func (e *emitter) operands(below []wasm.ValType, lo, hi int) {
	for h := lo; h < hi; h++ {
		e.localOp(wasm.OpLocalGet, e.f.local(int32(h), below[h]))
	}
}
