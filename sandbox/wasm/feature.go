package wasm

import (
	"fmt"
	"slices"
	"strings"
)

// A Feature is an extension of WebAssembly 2.0 that is not supported. It is a name in plain words, in the plural;
// empty for none.
type Feature string

// The features that are known by name.
const (
	Exceptions     Feature = "exceptions"
	TailCalls      Feature = "tail calls"
	Threads        Feature = "threads"
	Memory64       Feature = "64-bit memories"
	SeveralMems    Feature = "several memories"
	PageSizes      Feature = "pages of another size"
	RelaxedSIMD    Feature = "relaxed SIMD instructions"
	WideArithmetic Feature = "wide arithmetic instructions"
	ExtendedConst  Feature = "extended constant expressions"
	TypedRefs      Feature = "typed function references"
	GC             Feature = "garbage-collected types"
	StackSwitching Feature = "switches between stacks"
)

// hints says of each feature how to build a module that does without.
var hints = map[Feature]string{
	Exceptions: "C++: build all of it without -fwasm-exceptions, or with -fno-exceptions; C with setjmp: without it and " +
		"without -mllvm -wasm-enable-sjlj; " +
		"Rust: with panic=abort, the default for wasm32-wasip1",
	TailCalls: "clang: build without -mtail-call; Rust: without -C target-feature=+tail-call",
	Threads: "build for one thread: target wasm32-wasip1 (or wasm32-wasi), not wasm32-wasip1-threads; clang: " +
		"without -pthread and -matomics; Rust: without -C target-feature=+atomics",
	Memory64: "build for a 32-bit target: wasm32-wasip1, not wasm64",
	SeveralMems: "build the module with one memory (clang: without -mmultimemory), or make one of several with " +
		"wasm-opt --multi-memory-lowering",
	PageSizes: "build with the standard page size of 64 KiB",
	RelaxedSIMD: "clang: build with -msimd128 and without -mrelaxed-simd; Rust: with -C target-feature=+simd128, " +
		"without +relaxed-simd",
	WideArithmetic: "clang: build without -mwide-arithmetic; Rust: without -C target-feature=+wide-arithmetic",
	ExtendedConst:  "clang: build with -mno-extended-const; Rust: with -C target-feature=-extended-const",
	TypedRefs:      "build for WebAssembly 2.0, without the function-references proposal",
	GC: "Kotlin and Dart need WebAssembly's garbage collector; build with a toolchain that brings its own, " +
		"like Go (GOOS=wasip1) or TinyGo",
	StackSwitching: "build without the stack-switching proposal",
}

// Hint says what a module's owner can do about the feature; it is "" for none.
func (f Feature) Hint() string { return hints[f] }

// typeFeature gives the feature that a type belongs to, as encoded where a value type, a reference type or the form of
// a type stands.
func typeFeature(b byte) Feature {
	switch b {
	case 0x69, 0x74, 0x68: // exnref, nullexnref, and the exnref of before
		return Exceptions
	case 0x4e, 0x4f, 0x50, 0x5e, 0x5f, // rec, sub final, sub, array, struct
		0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73: // arrayref to anyref, none, noextern, nofunc
		return GC
	case 0x63, 0x64:
		return TypedRefs
	case 0x65: // shared
		return Threads
	case 0x5d: // cont
		return StackSwitching
	}
	return ""
}

// opFeature gives the feature that an instruction without a prefix belongs to.
func opFeature(op byte) Feature {
	switch op {
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		return Exceptions
	case 0x12, 0x13, 0x15:
		return TailCalls
	case 0x14, 0xd4, 0xd5, 0xd6:
		return TypedRefs
	case 0xd3, 0xfb:
		return GC
	case 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6:
		return StackSwitching
	case 0xfe:
		return Threads
	}
	return ""
}

// prefixed gives the feature and the name of an instruction from outside WebAssembly 2.0 that has a prefix.
func prefixed(prefix byte, sub uint32) (Feature, string) {
	f, names, first := opFeature(prefix), []string(nil), uint32(0)
	switch {
	case prefix == 0xfb:
		names = gcNames
	case prefix == 0xfd && sub >= 0x100:
		f, names, first = RelaxedSIMD, relaxedNames, 0x100
	case prefix == 0xfc && sub >= 19 && sub <= 22:
		f, names, first = WideArithmetic, wideNames, 19
	case prefix == 0xfe:
		names = atomicNames
	}
	if at := int64(sub) - int64(first); at >= 0 && at < int64(len(names)) && names[at] != "-" {
		return f, names[at]
	}
	if f == RelaxedSIMD { // nothing else is known there
		f = ""
	}
	return f, fmt.Sprintf("instruction %#02x %d", prefix, sub)
}

var (
	wideNames = strings.Fields("i64.add128 i64.sub128 i64.mul_wide_s i64.mul_wide_u")
	gcNames   = strings.Fields(`struct.new struct.new_default struct.get struct.get_s struct.get_u struct.set
		array.new array.new_default array.new_fixed array.new_data array.new_elem array.get array.get_s array.get_u array.set
		array.len array.fill array.copy array.init_data array.init_elem ref.test ref.test ref.cast ref.cast
		br_on_cast br_on_cast_fail any.convert_extern extern.convert_any ref.i31 i31.get_s i31.get_u`)
	relaxedNames = strings.Fields(`i8x16.relaxed_swizzle i32x4.relaxed_trunc_f32x4_s i32x4.relaxed_trunc_f32x4_u
		i32x4.relaxed_trunc_f64x2_s_zero i32x4.relaxed_trunc_f64x2_u_zero f32x4.relaxed_madd f32x4.relaxed_nmadd
		f64x2.relaxed_madd f64x2.relaxed_nmadd i8x16.relaxed_laneselect i16x8.relaxed_laneselect i32x4.relaxed_laneselect
		i64x2.relaxed_laneselect f32x4.relaxed_min f32x4.relaxed_max f64x2.relaxed_min f64x2.relaxed_max
		i16x8.relaxed_q15mulr_s i16x8.relaxed_dot_i8x16_i7x16_s i32x4.relaxed_dot_i8x16_i7x16_add_s`)
	atomicNames = buildAtomicNames()
)

// buildAtomicNames lists the instructions behind 0xfe: loads, stores, and read-modify-writes in groups of seven sizes.
func buildAtomicNames() []string {
	names := append(strings.Fields("memory.atomic.notify memory.atomic.wait32 memory.atomic.wait64 atomic.fence"),
		slices.Repeat([]string{"-"}, 12)...)
	sizes := strings.Fields("i32. i64. i32.8 i32.16 i64.8 i64.16 i64.32")
	for _, op := range strings.Fields("load store add sub and or xor xchg cmpxchg") {
		for _, s := range sizes {
			typ, bits, _ := strings.Cut(s, ".")
			name := typ + ".atomic."
			if op == "load" || op == "store" {
				name += op + bits
			} else {
				name += "rmw" + bits + "." + op
			}
			if bits != "" && op != "store" {
				name += "_u"
			}
			names = append(names, name)
		}
	}
	return names
}
