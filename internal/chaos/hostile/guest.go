package hostile

import (
	"encoding/binary"
	"slices"
)

// usualSpin is how many turns a guest takes by default: some tenths of a second.
const usualSpin = 150_000_000

// Guest returns a WebAssembly module that counts down from spin and prints its first
// argument. It imports args_sizes_get, args_get and fd_write of WASI.
func Guest(spin int64) []byte {
	const i32, i64 = 0x7f, 0x7e
	types := vector([]byte{0x60, 2, i32, i32, 1, i32}, []byte{0x60, 4, i32, i32, i32, i32, 1, i32}, []byte{0x60, 0, 0})
	wasi := func(function string, kind byte) []byte {
		return slices.Concat(named("wasi_snapshot_preview1"), named(function), []byte{0, kind})
	}
	imports := vector(wasi("args_sizes_get", 0), wasi("args_get", 0), wasi("fd_write", 1))
	exports := vector(append(named("memory"), 2, 0), append(named("_start"), 0, 3))
	body := slices.Concat([]byte{1, 1, i64}, // one local
		i32s(16, 20), []byte{0x10, 0, 0x1a}, // args_sizes_get(count, bytes)
		i32s(256, 512), []byte{0x10, 1, 0x1a}, // args_get(argv, strings)
		i32s(32, 260), load, store, // the text's place: argv[1]
		i32s(36, 511, 20), load, []byte{0x6a}, i32s(260), load, []byte{0x6b}, store, // its length, to the last NUL
		[]byte{0x42}, signed(spin), []byte{0x21, 0, 0x03, 0x40, 0x20, 0, 0x42, 1, 0x7d, 0x22, 0, 0x42, 0, 0x52, 0x0d, 0,
			0x0b},
		i32s(1, 32, 1, 40), []byte{0x10, 2, 0x1a, 0x0b}) // fd_write(stdout, ...)
	return module(section(1, types), section(2, imports), section(3, vector([]byte{2})),
		section(5, vector([]byte{0, 1})), section(7, exports), section(10, vector(sized(body))))
}

var (
	load  = []byte{0x28, 2, 0}
	store = []byte{0x36, 2, 0}
)

// compileBomb returns a module of one function of so many small ifs, of which a compiler
// that is not linear makes much work.
func compileBomb(ifs int) []byte {
	const i32 = 0x7f
	one := []byte{0x20, 0, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x21, 0, 0x0b}
	body := slices.Concat([]byte{1, 1, i32}, slices.Repeat(one, ifs), []byte{0x0b})
	return oneFunction(body)
}

// callBomb is a program of one function with so many calls of itself in a row: each takes the compiler 2 kB.
func callBomb(calls int) []byte {
	return oneFunction(slices.Concat([]byte{0}, slices.Repeat([]byte{0x10, 0}, calls), []byte{0x0b}))
}

// oneFunction is a program of one function.
func oneFunction(body []byte) []byte {
	exports := vector(append(named("memory"), 2, 0), append(named("_start"), 0, 0))
	return module(section(1, vector([]byte{0x60, 0, 0})), section(3, vector([]byte{0})),
		section(5, vector([]byte{0, 1})), section(7, exports), section(10, vector(sized(body))))
}

func module(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), slices.Concat(sections...)...)
}

func section(id byte, body []byte) []byte { return append([]byte{id}, sized(body)...) }

func sized(body []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(body))), body...) }

func vector(items ...[]byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(items))), slices.Concat(items...)...)
}

func named(s string) []byte { return sized([]byte(s)) }

// i32s are constants.
func i32s(values ...int64) (out []byte) {
	for _, v := range values {
		out = append(append(out, 0x41), signed(v)...)
	}
	return out
}

// signed is a signed LEB128.
func signed(v int64) (out []byte) {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(out, low)
		}
		out = append(out, low|0x80)
	}
}
