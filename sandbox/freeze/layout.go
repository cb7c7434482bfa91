package freeze

import (
	"fmt"
	"sort"
	"sync"

	"godwit/sandbox/wasm"
)

// Layout is what the pass found out about a module, beside the instrumented module itself: enough to run,
// freeze and thaw it without reading all of it again. It can be kept in a cache with the instrumented
// module; both depend only on the original, the Options and PassVersion.
type Layout struct {
	Version  int
	Options  Options
	Funcs    []FuncPlan // functions that the module defines
	Indirect []bool     // per type: a call_indirect of it may unwind
	Refs     []uint32   // functions that references can lead to, by position in the table of functions
	MaxFrame uint32     // largest frame with its trailer, in bytes
	Points   uint32     // safe points in the module
	// Globals are the mutable globals of the module, then the lengths left of segments that are dropped.
	Globals []GlobalSlot
	// Tables are the tables that the module's instructions write.
	Tables []TableSlot
	// Memory says that the module itself has a memory; if not, the one it was given holds nothing.
	Memory bool
	// Start says that there is a start function to be called before all else.
	Start bool
	// RefStacks says which stacks of references the frames need: function references, external ones.
	RefStacks [2]bool
	// RefsMove says that function references are more than entries of tables that never change.
	RefsMove bool
	// Written, Dropped, DataUsed and ElemUsed say which tables are written, data segments dropped or used, and
	// element segments used, by index.
	Written, Dropped, DataUsed, ElemUsed []bool
}

// GlobalSlot is a global to be saved: the name it is exported by, after the pass's prefix, and its type.
type GlobalSlot struct {
	Name string
	Type wasm.ValType
}

// TableSlot is a table to be saved: its index in the module, and its type.
type TableSlot struct {
	Index uint32
	Type  wasm.ValType
}

// Program is an instrumented module. It is safe for use by several goroutines.
type Program struct {
	// Wasm is the instrumented module. It must be compiled by the engine that runs it.
	Wasm []byte
	// Layout describes it.
	Layout Layout

	plan  *plan
	traps error // why each instance traps; nil if none does
	mu    sync.Mutex
	funcs map[int]*function // analysed so far, for resume functions; their points do not change
	emits sync.Mutex        // emitting resume functions uses what else is in a function
}

// Load puts together a Program from an original module, which has been validated, and the results of an
// earlier Instrument of it.
func Load(original, instrumented []byte, l Layout) (*Program, error) {
	if l.Version != PassVersion {
		return nil, fmt.Errorf("layout of pass version %d, this is version %d: instrument the module again", l.Version,
			PassVersion)
	}
	m, err := wasm.Decode(original)
	if err != nil {
		return nil, err
	}
	p := &plan{Options: l.Options, Funcs: l.Funcs, IndirectUnwinds: l.Indirect, mod: m,
		imported:  m.Imported(wasm.FuncKind),
		funcTypes: m.FuncTypeIndices(), tables: m.TableTypes(), globals: m.GlobalTypes(), takenByRef: l.Refs,
		uses: moduleUses{l.Written, l.Dropped, l.DataUsed, l.ElemUsed, l.RefsMove}}
	if len(l.Funcs) != len(m.Funcs) || len(l.Indirect) != len(m.Types) || len(l.Written) != len(p.tables) ||
		len(l.Dropped) != len(m.Data) || len(l.DataUsed) != len(m.Data) || len(l.ElemUsed) != len(m.Elements) {
		return nil, fmt.Errorf("the layout is of another module")
	}
	p.rankRefs()
	return newProgram(instrumented, l, p), nil
}

func newProgram(b []byte, l Layout, p *plan) *Program {
	return &Program{Wasm: b, Layout: l, plan: p, traps: p.mod.CheckElements(), funcs: map[int]*function{}}
}

// find gives the function and the number within it of a safe point of the module.
func (p *Program) find(point uint32) (*function, int32, error) {
	fs := p.plan.Funcs
	k := sort.Search(len(fs), func(i int) bool { return fs[i].FirstPoint > point }) - 1
	for k >= 0 && fs[k].Points == 0 {
		k-- // functions without points share the number of the next
	}
	if k < 0 || point-fs[k].FirstPoint >= fs[k].Points {
		return nil, 0, fmt.Errorf("safe point %d of %d", point, p.Layout.Points)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.funcs[k]
	if f == nil {
		var err error
		if f, err = p.plan.analyse(k + p.plan.imported); err != nil {
			return nil, 0, err
		}
		p.funcs[k] = f
	}
	if uint32(len(f.points)) != fs[k].Points {
		return nil, 0, fmt.Errorf("the layout is of another module")
	}
	return f, int32(point - fs[k].FirstPoint), nil
}
