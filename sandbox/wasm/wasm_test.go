package wasm

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// specFiles lists the specification's test modules that ship with wazero.
func specFiles(t testing.TB) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Skip("the module cache is not at hand: ", err)
	}
	base := filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest")
	var files []string
	for _, v := range []string{"v1", "v2"} {
		found, err := filepath.Glob(filepath.Join(base, v, "testdata", "*.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// readBodies reads every instruction of every body.
func readBodies(m *Module) (n int, err error) {
	var in Instr
	for i := range m.Code {
		r := NewReader(&m.Code[i])
		for !r.Done() {
			if err := r.Next(&in); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// withoutOffsets makes two readings comparable: offsets move when a module is written again.
func withoutOffsets(m *Module) *Module {
	for i := range m.Code {
		m.Code[i].Offset = 0
	}
	return m
}

func TestSpecModulesSurviveRewriting(t *testing.T) {
	read, refused, instrs := 0, 0, 0
	for _, f := range specFiles(t) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Decode(b)
		if err != nil {
			refused++ // the tests hold malformed modules too
			continue
		}
		n, err := readBodies(m)
		instrs += n
		again, err2 := Decode(Encode(m))
		if err2 != nil {
			t.Fatalf("%s: rewritten module: %v", f, err2)
		}
		if !reflect.DeepEqual(withoutOffsets(m), withoutOffsets(again)) {
			t.Fatalf("%s: rewritten module differs", f)
		}
		if err == nil {
			read++
		} else {
			refused++
		}
	}
	t.Logf("%d modules and %d instructions read, %d refused", read, instrs, refused)
	if read == 0 {
		t.Fatal("no module was read")
	}
}

func TestRefusesWhatIsBroken(t *testing.T) {
	// A module of one function () -> () named "spin" with the given body.
	module := func(body ...byte) []byte {
		m := &Module{Types: []FuncType{{}}, Funcs: []uint32{0}, Code: []Code{{Body: append(body, byte(OpEnd))}}}
		return Encode(m)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"no such instruction", module(0x27), "opcode(0x27) is not known"},
		{"no such instruction behind a prefix", module(0xfc, 0x7f), "instruction 0xfc 127 is not known"},
		{"no such vector instruction", module(0xfd, 0xff, 0x7f), "instruction 0xfd 16383 is not known"},
		{"no such type", append(bytes.Clone(header), secType, 4, 1, 0x60, 1, 0x30), "type 0x30 is not known"},
		{"truncated", module(0x44, 0), "unexpected end"},
		{"tag section cut short", append(bytes.Clone(header), secTag, 1, 1), "count is larger"},
		{"huge count", append(bytes.Clone(header), secFunc, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), "count is larger"},
		{"sections out of order", append(bytes.Clone(header), secFunc, 1, 0, secType, 1, 0), "out of order"},
		{"not a module", []byte("\x7fELF"), "not a WebAssembly module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(c.b)
			if err == nil {
				_, err = readBodies(m)
			}
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Feature != "" {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
			if found := FindUnsupported(c.b); found != nil {
				t.Fatalf("found %v", found)
			}
		})
	}
}

func TestNumbersSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, u := rapid.Int64().Draw(t, "s"), rapid.Uint32().Draw(t, "u")
		c := &cursor{b: AppendUnsigned(AppendSigned(AppendSigned(nil, s), int64(int32(u))), uint64(u))}
		if c.signed(64) != s || c.signed(32) != int64(int32(u)) || c.u32() != u || !c.done() || c.err != nil {
			t.Fatalf("%d %d: %v", s, u, c.err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for i, file := range specFiles(f) {
		if b, err := os.ReadFile(file); err == nil && i%50 == 0 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		readBodies(m)
		m.FuncName(0)
		bare, err := WithoutCustoms(b)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Decode(bare); err != nil || len(n.Customs) > 0 {
			t.Fatalf("without custom sections: %v", err)
		}
		again, err := Decode(Encode(m))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(withoutOffsets(m), withoutOffsets(again)) {
			t.Fatal("rewritten module differs")
		}
	})
}
