package sandbox

import (
	"errors"
	"strings"
	"testing"

	"godwit/sandbox/freeze"
	decoder "godwit/sandbox/wasm"
	"godwit/task"
)

// withElements is a program that prints, has a table of two entries, and active segments of one entry at these places.
func withElements(t *testing.T, exports []decoder.Export, places ...uint64) []byte {
	t.Helper()
	m, err := decoder.Decode(exit(3).bytes())
	if err != nil {
		t.Fatal(err)
	}
	start := uint64(m.Imported(decoder.FuncKind))
	m.Tables = []decoder.TableType{{Elem: decoder.FuncRef, Limits: decoder.Limits{Min: 2}}}
	for _, at := range places {
		m.Elements = append(m.Elements, decoder.Element{Type: decoder.FuncRef,
			Offset: decoder.ConstExpr{Op: decoder.OpI32Const, Bits: at},
			Init:   []decoder.ConstExpr{{Op: decoder.OpRefFunc, Bits: start}}})
	}
	m.Exports = append(m.Exports, exports...)
	return decoder.Encode(m)
}

// A program whose active element segment reaches beyond its table traps before it begins, whichever segment it is and
// whether or not the program can be frozen.
func TestElementsBeyondTheirTableTrap(t *testing.T) {
	p := newTestPool(t)
	fixed := []decoder.Export{{Name: "__ck_", Kind: decoder.FuncKind}}
	for _, c := range []struct {
		name   string
		places []uint64
		traps  bool
	}{{"inside", []uint64{0, 1}, false}, {"first", []uint64{2, 0}, true}, {"last", []uint64{0, 1, 2}, true}} {
		for name, exports := range map[string][]decoder.Export{"freezable": nil, "unfreezable": fixed} {
			wasm := withElements(t, exports, c.places...)
			if err := CheckModule(wasm); err != nil {
				t.Fatal(err)
			}
			if is := errors.Is(CheckFreezable(wasm), freeze.ErrRefused); is != (exports != nil) {
				t.Fatalf("%s: %v", name, CheckFreezable(wasm))
			}
			tk := moduleTask(t, wasm, c.name)
			tk.Checkpoint.Off = true
			rep := run(t, p, tk)
			if traps := rep.Outcome == task.Trapped && strings.Contains(rep.Message, "out of bounds table access"); traps !=
				c.traps || !traps && rep.Outcome != task.ExitFailure {
				t.Errorf("%s, %s: got %v %s, want a trap: %v", c.name, name, rep.Outcome, rep.Message, c.traps)
			}
		}
	}
}
