package freeze

import (
	"fmt"
	"slices"
	"strings"

	"godwit/sandbox/wasm"
)

// FuncPlan is what the pass decided about one function of a module.
type FuncPlan struct {
	Unwinds    bool   // it may be on the stack when the guest is frozen
	EntryPoll  bool   // it charges fuel when entered, and polls
	Pays       bool   // it charges fuel when entered, and does not poll
	Cost       uint32 // of one call: what it charges, or else its callers do for it
	FirstPoint uint32 // number of its first safe point, counted over the module
	Points     uint32 // how many it has
}

// plan is the analysis of a module: what must be known of all functions to instrument any one.
type plan struct {
	Options         Options
	Funcs           []FuncPlan // for the functions that the module defines
	IndirectUnwinds []bool     // per type: whether a call_indirect of it may unwind

	mod        *wasm.Module
	imported   int // functions
	funcTypes  []uint32
	tables     []wasm.TableType
	globals    []wasm.GlobalType
	takenByRef []uint32 // functions whose reference the module takes, ascending
	named      []bool   // per function: resume functions may call it by name
	rank       map[uint32]uint32
	uses       moduleUses
	maxFrame   uint32
	// canonicalise each result of arithmetic where it is made: what the guest must not tell from other ways
	atOnce bool
}

// moduleUses says which instructions occur anywhere in the module.
type moduleUses struct {
	tableWritten []bool // per table: written by an instruction
	dataDropped  []bool // per data segment: has a data.drop
	dataUsed     []bool // per data segment: has a memory.init
	elemUsed     []bool // per element segment: has a table.init
	refsMove     bool   // function references are more than entries of tables that never change
}

func (p *plan) unwinds(f int) bool { return f >= p.imported && p.Funcs[f-p.imported].Unwinds }

// edge is a call: of a function, or of -1-type for call_indirect.
type edge int32

// callGraph is what the first reading of the bodies finds.
type callGraph struct {
	edges [][]edge // per defined function
	loops []bool
	taken []bool // per function: its reference is taken
}

// newPlan reads a validated module and decides where safe points go.
func newPlan(m *wasm.Module, o Options) (*plan, error) {
	p := &plan{Options: o, mod: m, imported: m.Imported(wasm.FuncKind), funcTypes: m.FuncTypeIndices(),
		tables: m.TableTypes(), globals: m.GlobalTypes()}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if len(m.Funcs) > maxFuncs {
		return nil, refuse(-1, "", 0, "%d functions are more than the limit of %d", len(m.Funcs), maxFuncs)
	}
	for _, t := range p.funcTypes {
		if int(t) >= len(m.Types) {
			return nil, refuse(-1, "", 0, "function of type %d of %d", t, len(m.Types))
		}
	}
	p.uses = moduleUses{make([]bool, len(p.tables)), make([]bool, len(m.Data)), make([]bool, len(m.Data)),
		make([]bool, len(m.Elements)), false}
	p.uses.refsMove = p.refTypes()
	g, err := p.readCalls()
	if err != nil {
		return nil, err
	}
	p.Funcs = make([]FuncPlan, len(m.Funcs))
	p.placeEntryPolls(g)
	p.findUnwinding(g)
	p.findNamed(g)
	p.collectRefs(g)
	return p, nil
}

// refTypes reports whether function references are passed or kept in variables.
func (p *plan) refTypes() bool {
	for _, g := range p.globals {
		if g.Mutable && g.Type == wasm.FuncRef {
			return true
		}
	}
	for _, t := range p.mod.Types {
		if slices.Contains(t.Params, wasm.FuncRef) || slices.Contains(t.Results, wasm.FuncRef) {
			return true
		}
	}
	return false
}

func (p *plan) checkNames() error {
	for _, i := range p.mod.Imports {
		if i.Module == HostModule {
			return fmt.Errorf("%w: it imports %q from the name space %q, which belongs to the host", ErrRefused, i.Name,
				i.Module)
		}
	}
	for _, e := range p.mod.Exports {
		if strings.HasPrefix(e.Name, guardPrefix) {
			return fmt.Errorf("%w: its export %q begins with %q, which belongs to the host", ErrRefused, e.Name, guardPrefix)
		}
	}
	return nil
}

// readCalls reads all bodies once.
func (p *plan) readCalls() (*callGraph, error) {
	m := p.mod
	g := &callGraph{make([][]edge, len(m.Code)), make([]bool, len(m.Code)), make([]bool, len(p.funcTypes))}
	for i := range m.Code {
		if err := p.readFuncCalls(g, i); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRefused, m.InFunc(err, i+p.imported))
		}
	}
	return g, nil
}

func (p *plan) readFuncCalls(g *callGraph, i int) error {
	var in wasm.Instr
	for r := wasm.NewReader(&p.mod.Code[i]); !r.Done(); {
		if err := r.Next(&in); err != nil {
			return err
		}
		switch in.Op {
		case wasm.OpLoop:
			g.loops[i] = true
		case wasm.OpCall:
			if int(in.A) < len(p.funcTypes) {
				g.edges[i] = append(g.edges[i], edge(in.A))
			}
		case wasm.OpCallIndirect:
			if int(in.A) < len(p.mod.Types) {
				g.edges[i] = append(g.edges[i], edge(-1-int32(in.A)))
			}
		case wasm.OpRefFunc:
			if int(in.A) < len(g.taken) {
				g.taken[in.A] = true
				p.uses.refsMove = true
			}
		default:
			p.noteUse(&in)
		}
	}
	return nil
}

func (p *plan) noteUse(in *wasm.Instr) {
	u := &p.uses
	switch in.Op {
	case wasm.OpTableGet, wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableFill, wasm.OpTableCopy, wasm.OpTableInit:
		u.refsMove = true
	}
	mark := func(s []bool, i uint32) {
		if int(i) < len(s) {
			s[i] = true
		}
	}
	switch in.Op {
	case wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableFill, wasm.OpTableCopy:
		mark(u.tableWritten, in.A)
	case wasm.OpTableInit:
		mark(u.tableWritten, in.B)
		mark(u.elemUsed, in.A)
	case wasm.OpMemoryInit:
		mark(u.dataUsed, in.A)
	case wasm.OpDataDrop:
		mark(u.dataDropped, in.A)
	}
}

// collectRefs lists the functions that references can lead to. If other modules share a table, the exported
// ones are among them.
func (p *plan) collectRefs(g *callGraph) {
	for i, t := range g.taken {
		if t {
			p.takenByRef = append(p.takenByRef, uint32(i))
		}
	}
	p.rankRefs()
}

func (p *plan) markTaken(g *callGraph) {
	mark := func(e wasm.ConstExpr) {
		if e.Op == wasm.OpRefFunc && e.Bits < uint64(len(g.taken)) {
			g.taken[e.Bits] = true
		}
	}
	for i := range p.mod.Elements {
		for _, e := range p.mod.Elements[i].Init {
			mark(e)
		}
	}
	for i := range p.mod.Globals {
		mark(p.mod.Globals[i].Init)
	}
	shared := p.mod.Imported(wasm.TableKind) > 0
	for _, e := range p.mod.Exports {
		shared = shared || e.Kind == wasm.TableKind
	}
	if !shared {
		return
	}
	for _, e := range p.mod.Exports {
		if e.Kind == wasm.FuncKind && int(e.Index) < len(g.taken) {
			g.taken[e.Index] = true
		}
	}
}

// walk is a step of the depth-first search below.
type walk struct {
	node int32 // defined function, or -1-type
	next int   // edge to look at next
}

// placeEntryPolls finds, by depth-first search over all calls, those that close a cycle, and puts a poll where each is
// made from or leads to. Calls in loops count: a loop charges only when it goes round, so that a cycle through
// its first
// turn would be free. What functions cost it assesses on the way back, from the leaves on.
func (p *plan) placeEntryPolls(g *callGraph) {
	p.markTaken(g)
	byType := p.calleesByType(g)
	const (
		unseen = iota
		open
		done
	)
	state := map[bool][]byte{false: make([]byte, len(p.Funcs)), true: make([]byte, len(p.mod.Types))}
	at := func(n int32) *byte {
		if n < 0 {
			return &state[true][-1-n]
		}
		return &state[false][n]
	}
	for root := range p.Funcs {
		if *at(int32(root)) != unseen {
			continue
		}
		path := []walk{{node: int32(root)}}
		*at(int32(root)) = open
		for len(path) > 0 {
			w := &path[len(path)-1]
			to, ok := p.successor(g, byType, w)
			if !ok {
				*at(w.node) = done
				if w.node >= 0 {
					p.assessCall(g, int(w.node))
				}
				path = path[:len(path)-1]
				continue
			}
			switch s := at(to); *s {
			case unseen:
				*s = open
				path = append(path, walk{node: to})
			case open:
				if to >= 0 {
					p.Funcs[to].EntryPoll = true
				} else {
					p.Funcs[w.node].EntryPoll = true
				}
			}
		}
	}
}

// calleesByType lists the defined functions that a call_indirect of each type can reach.
func (p *plan) calleesByType(g *callGraph) [][]int32 {
	same := p.canonicalTypes()
	out := make([][]int32, len(p.mod.Types))
	for f, taken := range g.taken {
		if taken && f >= p.imported {
			t := same[p.funcTypes[f]]
			out[t] = append(out[t], int32(f-p.imported))
		}
	}
	for t, s := range same {
		out[t] = out[s]
	}
	return out
}

// canonicalTypes maps each type to the first that equals it.
func (p *plan) canonicalTypes() []uint32 {
	first := map[string]uint32{}
	out := make([]uint32, len(p.mod.Types))
	for i, t := range p.mod.Types {
		key := fmt.Sprint(t.Params, t.Results)
		if _, ok := first[key]; !ok {
			first[key] = uint32(i)
		}
		out[i] = first[key]
	}
	return out
}

// successor gives the next node that w's calls lead to.
func (p *plan) successor(g *callGraph, byType [][]int32, w *walk) (to int32, ok bool) {
	if w.node < 0 {
		callees := byType[-1-w.node]
		if w.next >= len(callees) {
			return 0, false
		}
		w.next++
		return callees[w.next-1], true
	}
	for edges := g.edges[w.node]; w.next < len(edges); {
		e := edges[w.next]
		w.next++
		if e < 0 {
			return int32(e), true
		}
		if int(e) >= p.imported {
			return int32(e) - int32(p.imported), true
		}
	}
	return 0, false
}

// findUnwinding marks the functions that may be on the stack at a poll: those that poll and, going up the
// call graph, those that call them.
func (p *plan) findUnwinding(g *callGraph) {
	same := p.canonicalTypes()
	types := len(p.mod.Types)
	// Callers of each defined function, then of each type.
	callers := make([][]int32, len(p.Funcs)+types)
	for f, edges := range g.edges {
		for _, e := range edges {
			if e < 0 {
				t := len(p.Funcs) + int(same[-1-e])
				callers[t] = append(callers[t], int32(f))
			} else if to := int(e) - p.imported; to >= 0 {
				callers[to] = append(callers[to], int32(f))
			}
		}
	}
	p.IndirectUnwinds = make([]bool, types)
	var todo []int32
	mark := func(f int32) {
		if !p.Funcs[f].Unwinds {
			p.Funcs[f].Unwinds = true
			todo = append(todo, f)
		}
	}
	for f := range p.Funcs {
		if g.loops[f] || p.Funcs[f].EntryPoll {
			mark(int32(f))
		}
	}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range callers[f] {
			mark(c)
		}
		t := same[p.funcTypes[int(f)+p.imported]]
		if g.taken[int(f)+p.imported] && !p.IndirectUnwinds[t] {
			p.IndirectUnwinds[t] = true
			for _, c := range callers[len(p.Funcs)+int(t)] {
				mark(c)
			}
		}
	}
	for t, s := range same {
		p.IndirectUnwinds[t] = p.IndirectUnwinds[s]
	}
}

// findNamed marks the functions that resume functions may call: those that functions with safe points call. Others
// are left out because the engine, when a guest exits or traps, compares each function with each export.
func (p *plan) findNamed(g *callGraph) {
	p.named = make([]bool, len(p.funcTypes))
	for f, edges := range g.edges {
		if !p.Funcs[f].Unwinds {
			continue
		}
		for _, e := range edges {
			if e >= 0 {
				p.named[e] = true
			}
		}
	}
}

func (p *plan) rankRefs() {
	p.rank = make(map[uint32]uint32, len(p.takenByRef))
	for k, f := range p.takenByRef {
		p.rank[f] = uint32(k)
	}
}
