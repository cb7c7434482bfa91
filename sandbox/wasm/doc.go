// Package wasm reads and writes WebAssembly 2.0 binary modules.
//
// It knows the shape of a module, not its meaning: whether a module is valid is asked of an engine.
// What it reads comes from strangers, so every count is checked against the bytes that are left before
// anything is allocated, and every error names the section (and function, if there is one) and the
// offset from the beginning of the module. Instructions and sections from outside WebAssembly 2.0
// (threads, exceptions, tail calls, 64-bit memories, garbage collection, relaxed SIMD) are refused by name.
//
// Source: WebAssembly Core Specification 2.0, chapter 5 (binary format).
package wasm
