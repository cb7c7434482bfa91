package sandbox

import (
	"encoding/binary"

	"godwit/sandbox/wasi"
)

// A guest is a WebAssembly module put together by hand. Function 0 is the
// first import, function len(imports) is _start; its code is given as bytes.
type guest struct {
	imports []string // of WASI
	pages   uint32   // of memory; 0 for no memory
	maximum uint32   // of memory, in pages; 0 for none
	table   uint32   // entries
	data    string   // at address 0
	locals  uint32   // of _start, i32
	code    []byte   // of _start, without the final end
	library bool     // export _start under another name
	foreign string   // one more import, from "env"
}

func leb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func sleb(v int64) []byte {
	var b []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func text(s string) []byte { return append(leb(uint64(len(s))), s...) }

func section(id byte, count int, items ...[]byte) []byte {
	body := cat(append([][]byte{leb(uint64(count))}, items...)...)
	return cat([]byte{id}, leb(uint64(len(body))), body)
}

// bytes assembles the module. Type 0 is () -> (); type i+1 that of import i.
func (g guest) bytes() []byte {
	types := [][]byte{{0x60, 0, 0}}
	var imports [][]byte
	for i, name := range g.imports {
		params, results, ok := wasi.Offered(name)
		if !ok {
			params = nil
		}
		types = append(types, cat([]byte{0x60}, text(string(params)), text(string(results))))
		imports = append(imports, cat(text(wasi.ModuleName), text(name), []byte{0}, leb(uint64(i+1))))
	}
	if g.foreign != "" {
		imports = append(imports, cat(text("env"), text(g.foreign), []byte{0, 0}))
	}
	m := cat([]byte("\x00asm\x01\x00\x00\x00"), section(1, len(types), types...))
	if len(imports) > 0 {
		m = append(m, section(2, len(imports), imports...)...)
	}
	m = append(m, section(3, 1, []byte{0})...)
	if g.table > 0 {
		m = append(m, section(4, 1, []byte{0x70, 0}, leb(uint64(g.table)))...)
	}
	if g.pages > 0 && g.maximum > 0 {
		m = append(m, section(5, 1, []byte{1}, leb(uint64(g.pages)), leb(uint64(g.maximum)))...)
	} else if g.pages > 0 {
		m = append(m, section(5, 1, []byte{0}, leb(uint64(g.pages)))...)
	}
	name := "_start"
	if g.library {
		name = "run"
	}
	m = append(m, section(7, 1, text(name), []byte{0}, leb(uint64(len(imports))))...)
	body := cat(cat(leb(1), leb(uint64(g.locals)), []byte{0x7f}), g.code, []byte{0x0b})
	m = append(m, section(10, 1, leb(uint64(len(body))), body)...)
	if g.data != "" {
		m = append(m, section(11, 1, []byte{0, 0x41, 0, 0x0b}, text(g.data))...)
	}
	return m
}

// A few instructions.
func i32(v int32) []byte { return append([]byte{0x41}, sleb(int64(v))...) }
func i64(v int64) []byte { return append([]byte{0x42}, sleb(v)...) }
func call(f uint64) []byte {
	return append([]byte{0x10}, leb(f)...)
}
func loop(body ...[]byte) []byte { // for ever
	return cat([]byte{0x03, 0x40}, cat(body...), []byte{0x0c, 0, 0x0b})
}

var (
	drop1       = []byte{0x1a}
	unreachable = []byte{0x00}
	growMemory  = []byte{0x40, 0x00}
)

// vec is the data for one iovec {ptr, n} at address 0, followed by text at 16.
func vec(s string) string {
	b := binary.LittleEndian.AppendUint32(nil, 16)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return string(b) + string(make([]byte, 8)) + s
}

// The guests that tests share.
var (
	noop    = guest{}
	forever = guest{code: loop()}
	traps   = guest{code: unreachable}
	// hog grows its memory by 1 MiB until refused, then traps.
	hog = guest{pages: 1, code: cat([]byte{0x03, 0x40}, i32(16), growMemory, i32(-1), []byte{0x47, 0x0d, 0, 0x0b},
		unreachable)}
	// printer prints "flood\n" for ever.
	printer = guest{imports: []string{"fd_write"}, pages: 1, data: vec("flood\n"),
		code: loop(i32(1), i32(0), i32(1), i32(8), call(0), drop1)}
	// hello prints 16 random bytes and the time.
	dice = guest{imports: []string{"random_get", "clock_time_get", "fd_write"}, pages: 1,
		data: vec(string(make([]byte, 24))),
		code: cat(i32(16), i32(16), call(0), drop1, i32(0), i64(0), i32(32), call(1), drop1,
			i32(1), i32(0), i32(1), i32(8), call(2), drop1)}
	// deep calls itself for ever.
	deep = guest{code: call(0)}
	exit = func(code int32) guest {
		return guest{imports: []string{"proc_exit"}, pages: 1, code: cat(i32(code), call(0))}
	}
)
