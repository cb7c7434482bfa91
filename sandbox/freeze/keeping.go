package freeze

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Resume functions are kept after the guest has gone on, since it is often stopped at the same places, or with the same
// outer frames: but not without end. A function with a large loop makes large resume functions, one for each of
// its safe
// points. While the guest is unwound nothing of them is on the stack of the engine, so that those that the frames
// at hand
// do not need can go.

// usualResumes is how many bytes of modules of resume functions are kept, as WebAssembly; as machine code they
// take some
// eight times as much. 2,000 freezes of SQLite's shell or of QuickJS need 5 or 6 MiB.
const usualResumes = 8 << 20

// resumeCode is a module of resume functions.
type resumeCode struct {
	first    uint32   // its slots are first, first+1, ...
	points   []uint32 // what each resumes
	size     int      // bytes of the module as WebAssembly
	compiled wazero.CompiledModule
	mod      api.Module // linked to the guest
	used     int        // number of the thaw that needed it last
}

// resumes is what a machine has of resume functions.
type resumes struct {
	slots  map[uint32]uint32 // by safe point
	funcs  []api.Function    // by slot; nil where one was dropped
	kept   []*resumeCode     // their modules
	thaws  int               // that they were looked up for
	making *making           // those that are being made; nil for none
}

// missing lists the modules to be made for the frames, and notes which of those that there are they need. A point keeps
// its slot for good, and what was dropped is made again by itself: so the same modules come again, which the
// engine's cache
// may have, and not ever new ones.
func (r *resumes) missing(frames []frame) (code []*resumeCode) {
	r.thaws++
	fresh := &resumeCode{first: uint32(len(r.funcs))}
	again := map[uint32]bool{}
	for _, f := range frames {
		slot, ok := r.slots[f.point]
		switch {
		case !ok:
			if !slices.Contains(fresh.points, f.point) {
				fresh.points = append(fresh.points, f.point)
			}
		case r.funcs[slot] != nil:
			k := slices.IndexFunc(r.kept, func(c *resumeCode) bool { return slot-c.first < uint32(len(c.points)) })
			r.kept[k].used = r.thaws
		case !again[slot]:
			again[slot] = true
			code = append(code, &resumeCode{first: slot, points: []uint32{f.point}})
		}
	}
	if len(fresh.points) > 0 {
		code = append(code, fresh)
	}
	return code
}

// compile makes the code.
func (c *resumeCode) compile(ctx context.Context, m *Machine) error {
	b, err := m.prog.resumeModule(c.points, c.first, m.name)
	if err != nil {
		return fmt.Errorf("make resume functions: %w", err)
	}
	c.size = len(b)
	if c.compiled, err = m.host.rt.CompileModule(ctx, b); err != nil {
		return fmt.Errorf("compile resume functions: %w", err)
	}
	return nil
}

// link links new resume functions to the guest.
func (m *Machine) link(ctx context.Context, c *resumeCode) error {
	end := int(c.first) + len(c.points)
	if grows := end - len(m.code.funcs); grows > 0 {
		if err := m.callOwn(ctx, helperNames[helperGrow], uint64(grows)); err != nil {
			return err
		}
		m.code.funcs = append(m.code.funcs, make([]api.Function, grows)...)
	}
	var err error
	if c.mod, err = m.host.rt.InstantiateModule(ctx, c.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions()); err != nil {
		return fmt.Errorf("link resume functions: %w", err)
	}
	m.adopt(c.mod)
	for k, point := range c.points {
		slot := c.first + uint32(k)
		m.code.slots[point], m.code.funcs[slot] = slot, c.mod.ExportedFunction(resumeName(slot))
	}
	c.used = m.code.thaws
	m.code.kept = append(m.code.kept, c)
	m.stats.Resumes += len(c.points)
	return nil
}

// shed ends what was not needed for longest, until no more than Config.Resumes are kept or all the rest is needed
// for the
// frames at hand. The guest must be unwound.
func (m *Machine) shed(ctx context.Context) error {
	size := 0
	for _, c := range m.code.kept {
		size += c.size
	}
	slices.SortStableFunc(m.code.kept, func(a, b *resumeCode) int { return b.used - a.used })
	var errs []error
	for n := len(m.code.kept) - 1; n >= 0 && size > m.cfg.Resumes && m.code.kept[n].used < m.code.thaws &&
		detach(m.code.kept[n].mod); n-- {
		size -= m.code.kept[n].size
		errs = append(errs, m.drop(ctx, m.code.kept[n]))
		m.code.kept[n], m.code.kept = nil, m.code.kept[:n]
	}
	return errors.Join(errs...)
}

// drop ends a module of resume functions that is detached.
func (m *Machine) drop(ctx context.Context, c *resumeCode) error {
	clear(m.code.funcs[c.first:][:len(c.points)])
	m.stats.Dropped += len(c.points)
	m.mods = slices.DeleteFunc(m.mods, func(mod api.Module) bool { return mod == c.mod })
	m.host.disown([]api.Module{c.mod})
	return errors.Join(c.mod.Close(ctx), c.compiled.Close(ctx))
}

// detach makes an instance that nothing calls any more forget what it shares with the guest, and reports whether
// it could.
// wazero has nothing to say this with. A table knows the instances that import it for as long as it lives, since their
// functions may be in it: so the guest's would keep all resume functions, which without their code are a few
// hundred bytes.
// And an instance that is closed frees its memory, also if that is another's. In a version of wazero whose
// instances are
// made otherwise nothing is detached, and so nothing dropped: TestResumeCodeIsBounded says so.
func detach(mod api.Module) bool {
	v := reflect.ValueOf(mod)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	shared := []string{"MemoryInstance", "Engine", "Source", "Exports"}
	for _, name := range shared {
		if f := v.Elem().FieldByName(name); !f.IsValid() || !f.CanSet() {
			return false
		}
	}
	for _, name := range shared {
		v.Elem().FieldByName(name).SetZero()
	}
	return true
}
