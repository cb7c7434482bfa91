package freeze

import (
	"context"
	"errors"
	"runtime"

	"github.com/tetratelabs/wazero/api"
)

// A guest that calls exit is mostly not at its outermost call. wazero ends it by a panic, for which it puts together a
// stack trace, and for that, once for each module, the names of all functions: it compares each with each export, which
// takes .2 s for Go's compiler, and more for larger ones. Nobody reads that trace. So such a guest is not unwound: each
// call of a guest has a goroutine of its own, and that ends where it is. The stack of the guest is the engine's memory,
// which goes with the instance. Traps keep their traces.

// errDeserted is what a call gives whose goroutine was ended by a host function that gave no reason.
var errDeserted = errors.New("a host function ended the guest's goroutine")

// Leave ends the guest, whose run returns err. It does not return, and must be called by a host function, on the
// goroutine that it was called on. Nothing of the guest may be called afterwards; Memory, Fuel and the like remain.
func (m *Machine) Leave(err error) {
	m.left = err
	runtime.Goexit()
}

// call calls a function of the guest. The error is that of Leave if the guest left.
func (m *Machine) call(ctx context.Context, f api.Function, args []uint64) (results []uint64, err error) {
	done := make(chan struct{})
	m.left, err = nil, errDeserted
	go func() {
		defer close(done)
		results, err = f.Call(ctx, args...)
	}()
	<-done
	if m.left != nil {
		return nil, m.left
	}
	return results, err
}
