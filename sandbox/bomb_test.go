package sandbox

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	decoder "godwit/sandbox/wasm"
	"godwit/task"
)

// manyIfs is a program whose one function has so many ifs in a row, each of which changes a local.
func manyIfs(n int) []byte {
	var b []byte
	for range n {
		b = append(b, 0x20, 0, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x21, 0, 0x0b)
	}
	return decoder.Encode(&decoder.Module{
		Types: []decoder.FuncType{{}}, Funcs: []uint32{0}, Memories: []decoder.Limits{{Min: 1}},
		Exports: []decoder.Export{{Name: startFunction, Kind: decoder.FuncKind}, {Name: "memory", Kind: decoder.MemoryKind}},
		Code:    []decoder.Code{{Body: append(b, 0x0b), Locals: []decoder.LocalDecl{{Count: 1, Type: decoder.I32}}}},
	})
}

// A function that would take the compiler minutes is refused before, by whoever meets the module, and is named.
func TestCompileBombIsRefused(t *testing.T) {
	bomb := manyIfs(200_000)
	var bad *ModuleError
	if err := CheckModule(bomb); !errors.As(err, &bad) || bad.Kind != TooLarge ||
		!strings.HasPrefix(bad.Reason, "function 0 has ") {
		t.Errorf("CheckModule: %v", err)
	}
	rep := run(t, newTestPool(t), moduleTask(t, bomb, "bomb"))
	if rep.Outcome != task.InvalidModule || !strings.Contains(rep.Message, "function 0 has ") {
		t.Errorf("run: %v %q", rep.Outcome, rep.Message)
	}
}

func TestWeight(t *testing.T) {
	if err := checkFunctions(manyIfs(int(heaviest.blocks)), func(err error) error { return err }); err != nil {
		t.Errorf("as heavy as may be: %v", err)
	}
	got := weigh(&decoder.Code{
		Locals: []decoder.LocalDecl{{Count: 3, Type: decoder.I32}, {Count: 2, Type: decoder.I64}},
		// block; loop; i32.const 0; br_table 0 1 0; end; end; block; end; end
		Body: []byte{0x02, 0x40, 0x03, 0x40, 0x41, 0, 0x0e, 2, 0, 1, 0, 0x0b, 0x0b, 0x02, 0x40, 0x0b, 0x0b},
	})
	if want := (weight{bytes: 17, locals: 5, blocks: 6, nested: 2, joins: 30}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, w := range map[string]weight{
		"bytes": {bytes: heaviest.bytes + 1}, "locals": {locals: heaviest.locals + 1},
		"targets": {blocks: heaviest.blocks + 1}, "inside": {nested: heaviest.nested + 1},
		"times": {joins: heaviest.joins + 1},
	} {
		if why := w.excess(); !strings.Contains(why, name) {
			t.Errorf("too many %s: %q", name, why)
		}
	}
	if why := heaviest.excess(); why != "" {
		t.Errorf("the heaviest: %s", why)
	}
}

// A small module may take a minute, a large one more, and none more than the pool allows.
func TestLoadFor(t *testing.T) {
	for _, tt := range []struct {
		bytes      int
		most, want time.Duration
	}{
		{0, DefaultLoadFor, time.Minute},
		{100, DefaultLoadFor, time.Minute},
		{6 << 20, DefaultLoadFor, 2 * time.Minute},
		{48 << 20, DefaultLoadFor, 9 * time.Minute},
		{int(MaxModule), DefaultLoadFor, DefaultLoadFor},
		{0, time.Second, time.Second},
	} {
		if got := loadFor(tt.bytes, tt.most); got.Round(time.Millisecond) != tt.want {
			t.Errorf("%d bytes of at most %v: %v, not %v", tt.bytes, tt.most, got, tt.want)
		}
	}
}

// A module that takes too long all the same ends its process, and the reason names the function.
func TestCompilingEnds(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.LoadFor, c.CacheDir = time.Nanosecond, t.TempDir() })
	rep := run(t, p, moduleTask(t, manyIfs(20_000), "slow"))
	if rep.Outcome != task.HostError || !strings.Contains(rep.Message, "the heaviest is function 0, of 240001 bytes") {
		t.Errorf("got %v %q", rep.Outcome, rep.Message)
	}
}

// A module that takes too much memory to compile ends its process before it hurts anybody, and the reason names the
// function: one of many calls has few blocks.
func TestCompilingTakesTooMuch(t *testing.T) {
	calls := decoder.Encode(&decoder.Module{
		Types: []decoder.FuncType{{}}, Funcs: []uint32{0, 0}, Memories: []decoder.Limits{{Min: 1}},
		Exports: []decoder.Export{{Name: startFunction, Kind: decoder.FuncKind}, {Name: "memory", Kind: decoder.MemoryKind}},
		Code: []decoder.Code{
			{Body: append(slices.Repeat([]byte{0x10, 1}, 1_000_000), 0x0b)}, {Body: []byte{0x0b}}},
	})
	if err := CheckModule(calls); err != nil {
		t.Fatal(err)
	}
	rep := run(t, newTestPool(t), moduleTask(t, calls, "calls"))
	why := "to compile; the heaviest is function 0, of 2000001 bytes"
	if rep.Outcome != task.OutOfMemory || !strings.Contains(rep.Message, why) {
		t.Errorf("got %v %q", rep.Outcome, rep.Message)
	}
}

// A function that says that it has more locals than bytes is refused before anybody makes room for them.
func TestLocalsThatAreNotThere(t *testing.T) {
	for name, locals := range map[string]string{
		"groups": "\xe7\xe7\xe7\x30\x30\x30",
		"one":    "\x01\xff\xff\xff\xff\x07\x7f",
	} {
		wasm := decoder.Encode(&decoder.Module{
			Types: []decoder.FuncType{{}}, Funcs: []uint32{0},
			Exports: []decoder.Export{{Name: startFunction, Kind: decoder.FuncKind}},
		})
		body := append([]byte(locals), 0x0b)
		body = append([]byte{1, byte(len(body))}, body...)
		wasm = append(append(wasm, 10, byte(len(body))), body...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := CheckModule(wasm)
		runtime.ReadMemStats(&after)
		var bad *ModuleError
		if n := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &bad) || n > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, n)
		}
	}
}
