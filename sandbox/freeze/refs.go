package freeze

import (
	"context"
	"errors"
	"fmt"

	"godwit/sandbox/wasm"
)

// Reference is a function reference or external reference in a checkpoint: the index of a function of the
// module, imports first, or NullRef.
type Reference int32

// NullRef is the null reference of either type.
const NullRef Reference = -1

// errForeign says that a reference leads out of the guest.
var errForeign = errors.New("a reference to something outside the guest cannot be saved")

// refMap tells an instance's references apart. The engine's references are addresses; these are only looked up
// here, never followed.
type refMap struct {
	byAddress map[uint64]Reference
	byFunc    map[Reference]uint64
}

// readRefs finds the references of a new instance.
func (m *Machine) readRefs(ctx context.Context) (*refMap, error) {
	r := &refMap{map[uint64]Reference{}, map[Reference]uint64{}}
	get := m.main.ExportedFunction(ownPrefix + helperNames[helperRef])
	if get == nil {
		return nil, errors.New("the instrumented module lacks its references")
	}
	for at, f := range m.prog.plan.refPositions() {
		if f < 0 {
			continue
		}
		v, err := get.Call(ctx, uint64(at))
		if err != nil {
			return nil, fmt.Errorf("read references: %w", err)
		}
		r.add(v[0], Reference(f))
	}
	mod := m.prog.plan.mod
	imported := mod.Imported(wasm.GlobalKind)
	for k := range mod.Globals {
		if e := mod.Globals[k].Init; e.Op == wasm.OpRefFunc {
			g := m.main.ExportedGlobal(fmt.Sprintf("%sg%d", ownPrefix, imported+k))
			r.add(g.Get(), Reference(e.Bits))
		}
	}
	return r, nil
}

func (r *refMap) add(address uint64, f Reference) {
	r.byAddress[address] = f
	if _, ok := r.byFunc[f]; !ok {
		r.byFunc[f] = address
	}
}

// number gives the reference for an address.
func (r *refMap) number(address uint64) (Reference, error) {
	if address == 0 {
		return NullRef, nil
	}
	if r != nil {
		if f, ok := r.byAddress[address]; ok {
			return f, nil
		}
	}
	return 0, errForeign
}

// address gives the engine's address for a reference.
func (r *refMap) address(f Reference) (uint64, error) {
	if f == NullRef {
		return 0, nil
	}
	if r != nil {
		if a, ok := r.byFunc[f]; ok {
			return a, nil
		}
	}
	return 0, fmt.Errorf("the module takes no reference to function %d", f)
}

// numberOf gives the reference for an engine's value of a reference type.
func (r *refMap) numberOf(t wasm.ValType, v uint64) (Reference, error) {
	if t == wasm.ExternRef && v != 0 {
		return 0, errForeign
	}
	return r.number(v)
}

// addressOf gives the engine's value of a reference type for a reference.
func (r *refMap) addressOf(t wasm.ValType, f Reference) (uint64, error) {
	if t == wasm.ExternRef && f != NullRef {
		return 0, errForeign
	}
	return r.address(f)
}
