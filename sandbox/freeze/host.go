package freeze

import (
	"context"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Host gives the instrumented modules of one wazero runtime their yield function. It is safe for use by
// several goroutines.
type Host struct {
	rt wazero.Runtime

	mu       sync.Mutex
	machines map[api.Module]*Machine // by the modules that call yield for them
	serial   int
	free     []string // names of instances that were closed

	probed    bool
	maxFrames int
}

// NewHost puts the yield function into a runtime, which must not have a module named HostModule.
func NewHost(ctx context.Context, rt wazero.Runtime) (*Host, error) {
	h := &Host{rt: rt, machines: map[api.Module]*Machine{}}
	_, err := rt.NewHostModuleBuilder(HostModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(h.yield), nil, nil).Export(yieldName).Instantiate(ctx)
	if err != nil {
		return nil, fmt.Errorf("install the yield function: %w", err)
	}
	return h, nil
}

func (h *Host) yield(ctx context.Context, mod api.Module, _ []uint64) {
	h.mu.Lock()
	m := h.machines[mod]
	h.mu.Unlock()
	if m == nil {
		panic(fmt.Errorf("yield of module %q, which no machine runs", mod.Name()))
	}
	m.yield(ctx)
}

func (h *Host) own(mod api.Module, m *Machine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.machines[mod] = m
}

func (h *Host) disown(mods []api.Module) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, mod := range mods {
		delete(h.machines, mod)
	}
}

// name makes a name for an instance that no other in the runtime has: one that another had before, if it can, since the
// name is part of the modules of resume functions, and so of what the engine's cache has of them.
func (h *Host) name() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.free); n > 0 {
		name := h.free[n-1]
		h.free = h.free[:n-1]
		return name
	}
	h.serial++
	return fmt.Sprintf("%s/%d", HostModule, h.serial)
}

// release says that no instance has a name any more.
func (h *Host) release(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = append(h.free, name)
}
