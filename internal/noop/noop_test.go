package noop

import (
	"testing"

	"godwit/sandbox/wasm"
)

// TestModule: it is what its comment says, and encoding that gives the same bytes.
func TestModule(t *testing.T) {
	m, err := wasm.Decode(Module)
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]wasm.Export{}
	for _, e := range m.Exports {
		exports[e.Name] = e
	}
	if len(exports) != 2 || exports["memory"].Kind != wasm.MemoryKind || exports["_start"].Kind != wasm.FuncKind {
		t.Errorf("it exports %v", m.Exports)
	}
	if len(m.Imports) != 0 || len(m.Memories) != 1 || m.Memories[0].Min != 1 || len(m.Code) != 1 ||
		string(m.Code[0].Body) != string([]byte{byte(wasm.OpEnd)}) {
		t.Errorf("it is %+v", m)
	}
	if got := wasm.Encode(m); string(got) != string(Module) {
		t.Errorf("written again it is %x", got)
	}
}

// TestCopying: it is what its comment says, as far as that shows from outside: two imports of WASI, and a
// _start after them.
func TestCopying(t *testing.T) {
	m, err := wasm.Decode(Copying)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Imports) != 2 || m.Imports[0].Name != "fd_read" || m.Imports[1].Name != "fd_write" || len(m.Code) != 1 {
		t.Errorf("it imports %v and has %d functions", m.Imports, len(m.Code))
	}
	if got := wasm.Encode(m); string(got) != string(Copying) {
		t.Errorf("written again it is %x", got)
	}
}

// TestPrinting: the same of the one that writes its arguments.
func TestPrinting(t *testing.T) {
	m, err := wasm.Decode(Printing)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Imports) != 2 || m.Imports[0].Name != "args_get" || m.Imports[1].Name != "fd_write" || len(m.Code) != 1 {
		t.Errorf("it imports %v and has %d functions", m.Imports, len(m.Code))
	}
	if got := wasm.Encode(m); string(got) != string(Printing) {
		t.Errorf("written again it is %x", got)
	}
}
