package freeze

import (
	"context"
	"errors"
	"fmt"

	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// State is the state of a frozen guest but for its memory. It does not depend on the engine or architecture.
type State struct {
	Fuel    uint64
	Pages   uint32         // size of the memory
	Frames  []byte         // the stack, innermost frame first
	Refs    [2][]Reference // references in frames: functions, external (null only)
	Globals []Value        // as Layout.Globals
	Tables  [][]Reference  // as Layout.Tables
}

// Value is a global's value: its bits, and the upper half of a v128; for a reference, the Reference.
type Value struct{ Lo, Hi uint64 }

// State reads the state of a guest that is frozen, or between two calls, or in a Checkpoint. It fails if the
// guest holds references to things outside it.
func (m *Machine) State(ctx context.Context) (*State, error) {
	s := &State{Fuel: m.Fuel(), Frames: append([]byte(nil), m.frames...)}
	if m.prog.Layout.Memory {
		s.Pages = m.Pages()
	}
	for _, g := range m.prog.Layout.Globals {
		v, err := m.getGlobal(ctx, g)
		if err != nil {
			return nil, fmt.Errorf("global %q: %w", g.Name, err)
		}
		s.Globals = append(s.Globals, v)
	}
	for _, t := range m.prog.Layout.Tables {
		refs, err := m.getTable(ctx, fmt.Sprint(t.Index), -1)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", t.Index, err)
		}
		s.Tables = append(s.Tables, refs)
	}
	for k, t := range []ownTable{tableRefs, tableExts} {
		if !m.prog.Layout.RefStacks[k] || len(m.frames) == 0 {
			continue
		}
		refs, err := m.getTable(ctx, ownTableNames[t], int(m.refSP[k].Get()))
		if err != nil {
			return nil, fmt.Errorf("a local variable: %w", err)
		}
		s.Refs[k] = refs
	}
	return s, nil
}

// Pages is the size of the guest's memory in pages of 64 KiB.
func (m *Machine) Pages() uint32 {
	n, _ := m.mem.Grow(0)
	return n
}

// Memory gives the guest's memory itself; it is valid until the guest runs again and must not be written. Nil if
// the module has none.
func (m *Machine) Memory() []byte {
	if !m.prog.Layout.Memory {
		return nil
	}
	const half, whole = uint32(1) << 31, uint64(1) << 32
	if size := m.mem.Size(); size != 0 || m.Pages() == 0 {
		b, _ := m.mem.Read(0, size)
		return b
	}
	b, _ := m.mem.Read(0, half) // 4 GiB does not fit a uint32: extend within the capacity
	return b[:min(whole, uint64(cap(b)))]
}

func (m *Machine) getGlobal(ctx context.Context, g GlobalSlot) (Value, error) {
	if g.Type == wasm.V128 {
		v, err := m.askOwn(ctx, "gget"+g.Name[1:])
		if err != nil {
			return Value{}, err
		}
		return Value{v[0], v[1]}, nil
	}
	v := m.main.ExportedGlobal(ownPrefix + g.Name).Get()
	if g.Type.IsRef() {
		r, err := m.refs.numberOf(g.Type, v)
		return Value{Lo: uint64(uint32(r))}, err
	}
	if g.Type.Size() == 4 {
		v = uint64(uint32(v))
	}
	return Value{Lo: v}, nil
}

// getTable reads n entries of a table, all if n is negative.
func (m *Machine) getTable(ctx context.Context, name string, n int) ([]Reference, error) {
	if n < 0 {
		v, err := m.askOwn(ctx, "tsize"+name)
		if err != nil {
			return nil, err
		}
		n = int(uint32(v[0]))
	}
	get := m.main.ExportedFunction(ownPrefix + "tget" + name)
	if get == nil {
		return nil, errors.New("no access to the table")
	}
	var out []Reference
	for i := range n {
		v, err := get.Call(ctx, uint64(i))
		if err != nil {
			return nil, err
		}
		r, err := m.refs.number(v[0])
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Restore makes an instance of the module and puts it into a state. memory gives the contents of the memory, in
// pieces by address; the rest is zero. The state is checked against the module and the engine first. Resume then
// goes on with the
// call that was frozen; if none was (the state was taken between calls), Call can be used.
func (h *Host) Restore(ctx context.Context, prog *Program, compiled wazero.CompiledModule, cfg Config, s *State,
	memory func(put func(at uint64, b []byte) error) error) (*Machine, error) {
	if err := prog.Check(s); err != nil {
		return nil, err
	}
	if err := h.fits(ctx, prog, s); err != nil {
		return nil, err
	}
	m, err := h.Instantiate(ctx, prog, compiled, cfg)
	if err != nil {
		return nil, err
	}
	if err := m.restore(ctx, s, memory); err != nil {
		m.Close(ctx)
		return nil, fmt.Errorf("restore: %w", err)
	}
	return m, nil
}

// Check reports what in a state does not fit the module.
func (p *Program) Check(s *State) error {
	if _, err := p.parseFrames(s.Frames); err != nil {
		return err
	}
	if len(s.Globals) != len(p.Layout.Globals) || len(s.Tables) != len(p.Layout.Tables) {
		return fmt.Errorf("state has %d globals and %d tables, the module %d and %d", len(s.Globals), len(s.Tables),
			len(p.Layout.Globals), len(p.Layout.Tables))
	}
	if !p.Layout.Memory && s.Pages != 0 || s.Pages > 1<<16 {
		return fmt.Errorf("state has %d pages of memory", s.Pages)
	}
	var refs [2]int
	frames, _ := p.parseFrames(s.Frames)
	for _, fr := range frames {
		f, k, _ := p.find(fr.point)
		refs[0], refs[1] = refs[0]+int(f.points[k].refs[0]), refs[1]+int(f.points[k].refs[1])
	}
	if refs != [2]int{len(s.Refs[0]), len(s.Refs[1])} {
		return fmt.Errorf("state has %d and %d references for frames that hold %d and %d", len(s.Refs[0]), len(s.Refs[1]),
			refs[0], refs[1])
	}
	return nil
}

func (m *Machine) restore(ctx context.Context, s *State, memory func(func(uint64, []byte) error) error) error {
	if err := m.restoreMemory(s, memory); err != nil {
		return err
	}
	return m.restoreRest(ctx, s)
}

// restoreRest puts all of a state but the memory into place.
func (m *Machine) restoreRest(ctx context.Context, s *State) error {
	for k, g := range m.prog.Layout.Globals {
		if err := m.setGlobal(ctx, g, s.Globals[k]); err != nil {
			return fmt.Errorf("global %q: %w", g.Name, err)
		}
	}
	for k, t := range m.prog.Layout.Tables {
		if err := m.setTable(ctx, fmt.Sprint(t.Index), t.Type, s.Tables[k]); err != nil {
			return fmt.Errorf("table %d: %w", t.Index, err)
		}
	}
	for k, t := range []ownTable{tableRefs, tableExts} {
		if !m.prog.Layout.RefStacks[k] {
			continue
		}
		typ := []wasm.ValType{wasm.FuncRef, wasm.ExternRef}[k]
		if err := m.setTable(ctx, ownTableNames[t], typ, s.Refs[k]); err != nil {
			return fmt.Errorf("references in frames: %w", err)
		}
		m.refSP[k].Set(uint64(len(s.Refs[k])))
	}
	m.frames = append([]byte(nil), s.Frames...)
	m.pace.granted = s.Fuel
	m.fuel.Set(0)
	m.settle()
	return nil
}

func (m *Machine) restoreMemory(s *State, memory func(func(uint64, []byte) error) error) error {
	if !m.prog.Layout.Memory {
		return nil
	}
	if err := m.growTo(s.Pages); err != nil {
		return err
	}
	b := m.Memory()
	clear(b) // the module's own data segments
	if memory == nil {
		return nil
	}
	return memory(func(at uint64, piece []byte) error {
		if at > uint64(len(b)) || uint64(len(piece)) > uint64(len(b))-at {
			return fmt.Errorf("piece of %d bytes at %d is outside the memory", len(piece), at)
		}
		copy(b[at:], piece)
		return nil
	})
}

// growTo makes the memory so many pages large.
func (m *Machine) growTo(pages uint32) error {
	have := m.Pages()
	if pages < have {
		return fmt.Errorf("state has %d pages of memory, there are %d already", pages, have)
	}
	if pages > have {
		if _, ok := m.mem.Grow(pages - have); !ok {
			return fmt.Errorf("memory cannot grow from %d to %d pages", have, pages)
		}
	}
	return nil
}

func (m *Machine) setGlobal(ctx context.Context, g GlobalSlot, v Value) error {
	if g.Type == wasm.V128 {
		return m.callOwn(ctx, "gset"+g.Name[1:], v.Lo, v.Hi)
	}
	x := v.Lo
	if g.Type.IsRef() {
		var err error
		if x, err = m.refs.addressOf(g.Type, Reference(int32(uint32(v.Lo)))); err != nil {
			return err
		}
	}
	mg, ok := m.main.ExportedGlobal(ownPrefix + g.Name).(api.MutableGlobal)
	if !ok {
		return errors.New("cannot be set")
	}
	mg.Set(x)
	return nil
}

func (m *Machine) setTable(ctx context.Context, name string, t wasm.ValType, refs []Reference) error {
	v, err := m.askOwn(ctx, "tsize"+name)
	if err != nil {
		return err
	}
	if have := int(uint32(v[0])); have < len(refs) {
		if v, err = m.askOwn(ctx, "tgrow"+name, uint64(len(refs)-have)); err != nil {
			return err
		}
		if int32(uint32(v[0])) < 0 {
			return fmt.Errorf("cannot grow to %d entries", len(refs))
		}
	}
	set := m.main.ExportedFunction(ownPrefix + "tset" + name)
	for i, r := range refs {
		a, err := m.refs.addressOf(t, r)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if _, err := set.Call(ctx, uint64(i), a); err != nil {
			return err
		}
	}
	return nil
}
