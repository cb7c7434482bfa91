package main

import (
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"godwit/internal/noop"
)

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// writeModule writes one of the modules below: `module KIND FILE`.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: module KIND FILE")
	}
	m, ok := modules[args[0]]
	if !ok {
		ts.Fatalf("no module %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), m, 0o600))
}

// modules are guests small enough to write by hand.
var modules = map[string][]byte{
	"noop":      noop.Module,
	"writing":   noop.Writing,
	"text":      []byte("this is no module"),
	"truncated": noop.Module[:len(noop.Module)-5],
	// (module (import "env" "teleport" (func)) (memory (export "memory") 1) (func (export "_start")))
	"teleport": wasm(
		section(1, 1, 0x60, 0, 0),
		section(2, 1, 3, 'e', 'n', 'v', 8, 't', 'e', 'l', 'e', 'p', 'o', 'r', 't', 0, 0),
		section(3, 1, 0),
		section(5, 1, 0, 1),
		section(7, 2, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0, 6, '_', 's', 't', 'a', 'r', 't', 0, 1),
		section(10, 1, 2, 0, 0x0b),
	),
	// (func (export "_start") unreachable)
	"trap": program(0x00),
	// (func (export "_start") (loop (br 0)))
	"loop": program(0x03, 0x40, 0x0c, 0x00, 0x0b),
	// (func (export "_start") (loop (drop (memory.grow (i32.const 16))) (br 0)))
	"hog": program(0x03, 0x40, 0x41, 0x10, 0x40, 0x00, 0x41, 0x7f, 0x46, 0x04, 0x40, 0x00, 0x0b, 0x0c, 0x00, 0x0b),
	// Writes its standard input to its standard output: (loop, of 4 KiB read to 16, fd_read and fd_write).
	"cat": wasm(
		section(1, 2, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f, 0x60, 0, 0),
		section(2, append(append([]byte{2}, wasi("fd_read")...), wasi("fd_write")...)...),
		section(3, 1, 1),
		section(5, 1, 0, 1),
		section(7, 2, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0, 6, '_', 's', 't', 'a', 'r', 't', 0, 2),
		section(10, 1, 62, 0, 0x03, 0x40, 0x41, 0, 0x41, 16, 0x36, 2, 0, 0x41, 4, 0x41, 0x80, 0x20, 0x36, 2, 0,
			0x41, 0, 0x41, 0, 0x41, 1, 0x41, 8, 0x10, 0, 0x1a, 0x41, 8, 0x28, 2, 0, 0x04, 0x40,
			0x41, 4, 0x41, 8, 0x28, 2, 0, 0x36, 2, 0, 0x41, 1, 0x41, 0, 0x41, 1, 0x41, 12, 0x10, 1, 0x1a, 0x0c, 1,
			0x0b, 0x0b, 0x0b),
	),
	// What no engine here runs: (func (export "_start") (try_table)), (return_call 0), a tag, a shared memory.
	"exceptions": program(0x1f, 0x40, 0x00, 0x0b),
	"tailcall":   program(0x12, 0x00),
	"tags":       append(program(), section(13, 1, 0, 0)...),
	"threads":    wasm(section(1, 1, 0x60, 0, 0), section(5, 1, 3, 1, 1)),
}

// wasi is an import of a function of type 0 of WASI.
func wasi(name string) []byte {
	const from = "wasi_snapshot_preview1"
	out := append([]byte{byte(len(from))}, from...)
	return append(append(append(out, byte(len(name))), name...), 0, 0)
}

func wasm(sections ...[]byte) []byte {
	m := []byte{0x00, 'a', 's', 'm', 0x01, 0x00, 0x00, 0x00}
	for _, s := range sections {
		m = append(m, s...)
	}
	return m
}

// section takes bodies of less than 128 bytes.
func section(id byte, body ...byte) []byte {
	return append([]byte{id, byte(len(body))}, body...)
}

// program is a module with a memory whose _start has that code.
func program(code ...byte) []byte {
	body := append([]byte{0}, code...)
	body = append(body, 0x0b)
	return wasm(
		section(1, 1, 0x60, 0, 0),
		section(3, 1, 0),
		section(5, 1, 0, 1),
		section(7, 2, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0, 6, '_', 's', 't', 'a', 'r', 't', 0, 0),
		section(10, append([]byte{1, byte(len(body))}, body...)...),
	)
}
