//go:build liars

package sandbox

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"

	"godwit/sandbox/freeze"
)

// mishapKind is what the environment variable of liars says where memory loses bits: see
// node/exec/liar.go.
const mishapKind = "GODWIT_LIE=bit"

// mishapEvery is about how much fuel passes between two bits. Most of them change nothing that a
// guest comes to.
const mishapEvery = 1 << 17

// intervalKind is what it says where one interval of a task goes wrong: the one that ends at the
// boundary wrongAt, from 1, which is one that stays when the spacing doubles.
const (
	intervalKind = "GODWIT_LIE=interval"
	wrongAt      = 8
)

// mishapBefore changes what a guest has in its memory, once, right before a boundary.
func (x *execution) mishapBefore(boundary int) {
	if boundary != wrongAt || !slices.Contains(os.Environ(), intervalKind) {
		return
	}
	mem := x.machine.Memory()
	for i := range mem {
		if mem[i] != 0 {
			mem[i] ^= 1
			return
		}
	}
}

// mishap has a guest's memory lose bits, as that of a machine does which is broken or too warm: not
// at the boundaries, which come as they would.
func (x *execution) mishap() {
	if !slices.Contains(os.Environ(), mishapKind) {
		return
	}
	every := uint64(mishapEvery/2 + rand.IntN(mishapEvery))
	x.machine.NoteEvery(every, func(ctx context.Context, m *freeze.Machine) error {
		mem := m.Memory()
		for range 1000 { // most of it was never used
			if i := rand.IntN(max(len(mem), 1)); i < len(mem) && mem[i] != 0 {
				mem[i] ^= 1 << rand.IntN(8)
				break
			}
		}
		return nil
	})
}

// mishapEnv hands that on to the child.
func mishapEnv() []string {
	for _, kind := range []string{mishapKind, intervalKind} {
		if slices.Contains(os.Environ(), kind) {
			return []string{kind}
		}
	}
	return nil
}
