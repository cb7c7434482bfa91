package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCheckModule(t *testing.T) {
	whole := printer.bytes()
	badSignature := printer.bytes()
	// The type of fd_write: its first parameter becomes an i64.
	i := strings.Index(string(badSignature), "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f")
	badSignature[i+2] = 0x7e
	cases := []struct {
		name string
		wasm []byte
		kind ModuleErrorKind
		says string
	}{
		{"empty", nil, NotWasm, "not WebAssembly"},
		{"a script", []byte("#!/bin/sh\n"), NotWasm, "not WebAssembly"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), NotWasm, "component"},
		{"version 9", []byte("\x00asm\x09\x00\x00\x00"), NotWasm, "version 9"},
		{"header cut", whole[:6], Truncated, "truncated at byte 6"},
		{"last byte cut", whole[:len(whole)-1], Truncated, "truncated at byte"},
		{"foreign import", guest{foreign: "emscripten_resize_heap"}.bytes(), MissingImport, "env.emscripten_resize_heap"},
		{"unknown WASI", guest{imports: []string{"fd_wriet"}, pages: 1}.bytes(), MissingImport,
			"wasi_snapshot_preview1.fd_wriet"},
		{"other type", badSignature, WrongSignature, "wasi_snapshot_preview1.fd_write as (i64 i32 i32 i32) -> (i32)"},
		{"no memory", guest{imports: []string{"fd_write"}}.bytes(), Malformed, "no memory"},
		{"library", guest{library: true}.bytes(), NoStart, "_start"},
		{"table", guest{table: maxTable + 1}.bytes(), TooLarge, "tables of"},
		{"ill typed", guest{code: drop1}.bytes(), Malformed, "does not validate"},
	}
	for _, c := range cases {
		err := CheckModule(c.wasm)
		var bad *ModuleError
		if !errors.As(err, &bad) || bad.Kind != c.kind || !strings.Contains(bad.Reason, c.says) {
			t.Errorf("%s: got %#v, want kind %d, %q", c.name, err, c.kind, c.says)
		}
	}
	code := hog.bytes() // ends with its code: without a part of it there is no program
	for i := range code {
		if CheckModule(code[:i]) == nil {
			t.Errorf("the first %d of %d bytes pass", i, len(code))
		}
	}
	if err := CheckModule(whole); err != nil {
		t.Errorf("a good module: %v", err)
	}
}

func TestInspect(t *testing.T) {
	g := printer
	g.foreign, g.maximum, g.table = "magic", 7, 5
	info, err := Inspect(g.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Missing(); !slices.Equal(got, []string{"env.magic"}) {
		t.Errorf("missing %v, want env.magic", got)
	}
	if info.MemoryMin != pageSize || info.MemoryMax != 7*pageSize || info.TableMin != 5 || info.Functions != 1 ||
		info.Start {
		t.Errorf("got %+v", info)
	}
	if len(info.Exports) != 1 || info.Exports[0].Name != "_start" || info.Exports[0].Kind != "func" {
		t.Errorf("exports %v", info.Exports)
	}
}

func FuzzInspect(f *testing.F) {
	for _, g := range []guest{noop, hog, printer, dice, {table: 3, maximum: 2, pages: 1, foreign: "x"}} {
		f.Add(g.bytes())
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		_, err := Inspect(wasm)
		var bad *ModuleError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("error of type %T", err)
		}
		if CheckModule(wasm) == nil && err != nil {
			t.Fatalf("passes the check, but not the inspection: %v", err)
		}
	})
}
