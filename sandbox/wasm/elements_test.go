package wasm

import (
	"math"
	"testing"
)

// A segment that ends at its table's end fits, and one that reaches beyond traps, even if it is empty.
func TestCheckElements(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      int64
		entries int
		mode    SegmentMode
		table   uint32
		fits    bool
	}{
		{"at the end", 2, 1, Active, 0, true},
		{"empty at the end", 3, 0, Active, 0, true},
		{"one beyond", 2, 2, Active, 0, false},
		{"empty beyond", 4, 0, Active, 0, false},
		{"at 2^32-1", math.MaxUint32, 1, Active, 0, false},
		{"second table", 4, 1, Active, 1, true},
		{"beyond the second table", 5, 1, Active, 1, false},
		{"passive", 9, 1, Passive, 0, true},
		{"declarative", 9, 1, Declarative, 0, true},
	} {
		m := &Module{
			Tables: []TableType{{Elem: FuncRef, Limits: Limits{Min: 3}}, {Elem: FuncRef, Limits: Limits{Min: 5}}},
			Elements: []Element{{Mode: c.mode, Type: FuncRef, Table: c.table, Init: make([]ConstExpr, c.entries),
				Offset: ConstExpr{Op: OpI32Const, Bits: uint64(c.at)}}},
		}
		if err := m.CheckElements(); (err == nil) != c.fits {
			t.Errorf("%s: %v, want fits: %v", c.name, err, c.fits)
		}
	}
}
