package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"godwit/sandbox/freeze"
	decoder "godwit/sandbox/wasm"
	"godwit/task"
)

// program is a module whose _start, which the name section calls main, has this code; change may add to it.
func program(change func(*decoder.Module), code ...byte) []byte {
	m := &decoder.Module{
		Types: []decoder.FuncType{{}}, Funcs: []uint32{0}, Memories: []decoder.Limits{{Min: 1}},
		Exports: []decoder.Export{{Name: startFunction, Kind: decoder.FuncKind}},
		Code:    []decoder.Code{{Body: append(code, byte(decoder.OpEnd))}},
		Customs: []decoder.Custom{{Name: "name", Data: []byte("\x01\x07\x01\x00\x04main")}},
	}
	if change != nil {
		change(m)
	}
	return decoder.Encode(m)
}

// Wherever a module with an unsupported feature is met, the same is said of it: feature, place and what to do.
func TestUnsupportedFeatures(t *testing.T) {
	p := newTestPool(t)
	twoMemories := func(m *decoder.Module) { m.Memories = append(m.Memories, m.Memories[0]) }
	for _, c := range []struct {
		name   string
		b      []byte
		inCode bool
		says   string // of the reason
		hint   string // of what to do
	}{
		{"older exceptions", program(nil, 0x06, 0x40, 0x19, 0x0b), true, "exceptions are not supported (try)",
			"-fwasm-exceptions"},
		{"exceptions", program(nil, 0x1f, 0x40, 0x00, 0x0b), true, "exceptions are not supported (try_table)", "panic=abort"},
		{"tags", append(program(nil), 13, 3, 1, 0, 0), false, "exceptions are not supported (a tag section)",
			"-wasm-enable-sjlj"},
		{"tail calls", program(nil, 0x12, 0x00), true, "tail calls are not supported (return_call)", "-mtail-call"},
		{"atomics", program(nil, 0x41, 0, 0xfe, 0x10, 2, 0, 0x1a), true, "threads are not supported (i32.atomic.load)",
			"wasm32-wasip1-threads"},
		{"relaxed", program(nil, 0xfd, 0x85, 0x02), true,
			"relaxed SIMD instructions are not supported (f32x4.relaxed_madd)", "-mrelaxed-simd"},
		{"struct", program(nil, 0xfb, 0x00, 0x00, 0x1a), true, "garbage-collected types are not supported (struct.new)",
			"Kotlin"},
		{"memories", program(twoMemories), false, "several memories are not supported (2 memories)",
			"--multi-memory-lowering"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *ModuleError
			if err := CheckModule(c.b); !errors.As(err, &e) || e.Kind != Unsupported || !strings.Contains(e.Reason, c.says) ||
				!strings.Contains(e.Hint, c.hint) {
				t.Fatalf("got %#v", err)
			}
			if c.inCode != strings.HasPrefix(e.Reason, "function 0 (main), offset ") {
				t.Errorf("the place is missing: %q", e.Reason)
			}
			if err := CheckSections(c.b); (err != nil) == c.inCode {
				t.Errorf("sections: %v", err)
			}
			if err := CheckFreezable(c.b); !errors.Is(err, freeze.ErrRefused) || !strings.Contains(err.Error(), e.Reason) {
				t.Errorf("freezing: %v", err)
			}
			rep := run(t, p, moduleTask(t, c.b, c.name))
			if rep.Outcome != task.InvalidModule || rep.Message != clip(e.Reason+"; "+e.Hint) {
				t.Errorf("a worker says %v: %q", rep.Outcome, rep.Message)
			}
		})
	}
}

// Memories of 64 bits stop the reading of sections too.
func TestInspectNamesFeatures(t *testing.T) {
	b := append([]byte("\x00asm\x01\x00\x00\x00"), 5, 3, 1, 4, 1)
	var e *ModuleError
	if _, err := Inspect(b); !errors.As(err, &e) || e.Kind != Unsupported ||
		!strings.Contains(e.Reason, "64-bit memories are not supported") {
		t.Errorf("got %#v", err)
	}
}

// What clang makes of C++ exceptions is refused by its name, as linked with nothing to throw them.
func TestClangExceptions(t *testing.T) {
	dir := t.TempDir()
	src, out := filepath.Join(dir, "throws.cc"), filepath.Join(dir, "throws.wasm")
	code := `extern "C" void work(int); struct D { ~D() { work(2); } };
extern "C" void _start() { try { D d; work(1); } catch (int) { work(3); } }`
	if err := os.WriteFile(src, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("wasm-ld"); err != nil {
		t.Skip("no linker for WebAssembly")
	}
	cmd := exec.Command("clang", "--target=wasm32", "-fwasm-exceptions", "-nostdlib", "-Wl,--allow-undefined", "-o", out,
		src)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no clang for WebAssembly: %s", msg)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var e *ModuleError
	if err := CheckModule(b); !errors.As(err, &e) || e.Kind != Unsupported ||
		!strings.Contains(e.Reason, "exceptions are not supported") {
		t.Errorf("got %#v", err)
	}
}
