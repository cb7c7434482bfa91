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
	EntryPoll  bool   // it charges fuel when entered
	Cost       uint32 // static cost of one call without its loops
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
	rank       map[uint32]uint32
	uses       moduleUses
	maxFrame   uint32
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

// edge is a call.
type edge struct {
	to     int32 // function, or -1-type for call_indirect
	inLoop bool
}

// callGraph is what the first reading of the bodies finds.
type callGraph struct {
	edges [][]edge // per defined function
	loops []bool
	costs []uint32
	taken []bool // per function: its reference is taken
}

// Costs of instructions in fuel, near the number of machine instructions they take.
const (
	costSimple   = 1
	costCall     = 4
	costIndirect = 20 // the callee is not known
	costImport   = 50
	costBulk     = 30 // and something for each 16 bytes, at run time
	// bulkShift turns a length in bytes into fuel.
	bulkShift = 4
	// maxCost bounds the charge of one loop or function, so that fuel cannot overflow.
	maxCost = 1 << 20
)

// newPlan reads a validated module and decides where safe points go.
func newPlan(m *wasm.Module, o Options) (*plan, error) {
	p := &plan{Options: o, mod: m, imported: m.Imported(wasm.FuncKind), funcTypes: m.FuncTypeIndices(),
		tables: m.TableTypes(), globals: m.GlobalTypes()}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if len(m.Funcs) > maxFuncs {
		return nil, refuse(nil, 0, "%d functions are more than the limit of %d", len(m.Funcs), maxFuncs)
	}
	for _, t := range p.funcTypes {
		if int(t) >= len(m.Types) {
			return nil, refuse(nil, 0, "function of type %d of %d", t, len(m.Types))
		}
	}
	p.uses = moduleUses{make([]bool, len(p.tables)), make([]bool, len(m.Data)), make([]bool, len(m.Data)), make([]bool, len(m.Elements)), false}
	p.uses.refsMove = p.refTypes()
	g, err := p.readCalls()
	if err != nil {
		return nil, err
	}
	p.Funcs = make([]FuncPlan, len(m.Funcs))
	p.placeEntryPolls(g)
	p.findUnwinding(g)
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
			return fmt.Errorf("%w: it imports %q from the name space %q, which belongs to the host", ErrRefused, i.Name, i.Module)
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
	g := &callGraph{make([][]edge, len(m.Code)), make([]bool, len(m.Code)), make([]uint32, len(m.Code)), make([]bool, len(p.funcTypes))}
	for i := range m.Code {
		if err := p.readFuncCalls(g, i); err != nil {
			if e, ok := err.(*wasm.Error); ok {
				e.Func, e.Name = i+p.imported, m.FuncName(i+p.imported)
			}
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return g, nil
}

func (p *plan) readFuncCalls(g *callGraph, i int) error {
	var in wasm.Instr
	var open []byte // constructs: 1 for a loop
	loops, cost := 0, uint32(0)
	for r := wasm.NewReader(&p.mod.Code[i]); !r.Done(); {
		if err := r.Next(&in); err != nil {
			return err
		}
		switch in.Op {
		case wasm.OpBlock, wasm.OpIf:
			open = append(open, 0)
			continue
		case wasm.OpLoop:
			open = append(open, 1)
			g.loops[i] = true
			loops++
			continue
		case wasm.OpEnd:
			if n := len(open); n > 0 {
				loops -= int(open[n-1])
				open = open[:n-1]
			}
			continue
		case wasm.OpCall:
			if int(in.A) < len(p.funcTypes) {
				g.edges[i] = append(g.edges[i], edge{int32(in.A), loops > 0})
			}
		case wasm.OpCallIndirect:
			if int(in.A) < len(p.mod.Types) {
				g.edges[i] = append(g.edges[i], edge{-1 - int32(in.A), loops > 0})
			}
		case wasm.OpRefFunc:
			if int(in.A) < len(g.taken) {
				g.taken[in.A] = true
				p.uses.refsMove = true
			}
		default:
			p.noteUse(&in)
		}
		if loops == 0 {
			cost = min(cost+staticCost(in.Op), maxCost)
		}
	}
	g.costs[i] = cost
	return nil
}

func staticCost(op wasm.Opcode) uint32 {
	switch op {
	case wasm.OpCall:
		return costCall
	case wasm.OpCallIndirect:
		return costIndirect
	case wasm.OpMemoryCopy, wasm.OpMemoryFill, wasm.OpMemoryInit, wasm.OpTableCopy, wasm.OpTableFill, wasm.OpTableInit, wasm.OpMemoryGrow, wasm.OpTableGrow:
		return costBulk
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpNop, wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee, wasm.OpDrop, wasm.OpI32Const, wasm.OpI64Const:
		return 0
	}
	return costSimple
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
	node   int32 // defined function, or -1-type
	next   int   // edge to look at next
	inLoop bool  // the call that led here stands in a loop, which charges for it when it goes round
}

// placeEntryPolls finds, by depth-first search over all calls, those that close a cycle, and puts a poll where each is
// made from or leads to. Calls in loops count: a loop charges only when it goes round, so that a cycle through its first
// turn would be free. It also sums up costs from the leaves, over the calls outside loops.
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
			to, inLoop, ok := p.successor(g, byType, w)
			if !ok {
				*at(w.node) = done
				if w.node >= 0 {
					p.Funcs[w.node].Cost = g.costs[w.node]
				}
				if n := len(path) - 1; n > 0 && !w.inLoop && w.node >= 0 && path[n-1].node >= 0 {
					caller := path[n-1].node
					g.costs[caller] = min(g.costs[caller]+p.Funcs[w.node].Cost, maxCost)
				}
				path = path[:len(path)-1]
				continue
			}
			switch s := at(to); *s {
			case unseen:
				*s = open
				path = append(path, walk{node: to, inLoop: inLoop})
			case open:
				if to >= 0 {
					p.Funcs[to].EntryPoll = true
				} else {
					p.Funcs[w.node].EntryPoll = true
				}
			case done:
				if to >= 0 && w.node >= 0 && !inLoop {
					g.costs[w.node] = min(g.costs[w.node]+p.Funcs[to].Cost, maxCost)
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

// successor gives the next node that w's calls lead to, and whether that call stands in a loop.
func (p *plan) successor(g *callGraph, byType [][]int32, w *walk) (to int32, inLoop, ok bool) {
	if w.node < 0 {
		callees := byType[-1-w.node]
		if w.next >= len(callees) {
			return 0, false, false
		}
		w.next++
		return callees[w.next-1], false, true
	}
	for edges := g.edges[w.node]; w.next < len(edges); {
		e := edges[w.next]
		w.next++
		if e.to < 0 {
			return e.to, e.inLoop, true
		}
		if int(e.to) >= p.imported {
			return e.to - int32(p.imported), e.inLoop, true
		}
	}
	return 0, false, false
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
			if e.to < 0 {
				t := len(p.Funcs) + int(same[-1-e.to])
				callers[t] = append(callers[t], int32(f))
			} else if to := int(e.to) - p.imported; to >= 0 {
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

func (p *plan) rankRefs() {
	p.rank = make(map[uint32]uint32, len(p.takenByRef))
	for k, f := range p.takenByRef {
		p.rank[f] = uint32(k)
	}
}
