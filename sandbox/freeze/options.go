package freeze

import (
	"errors"
	"fmt"

	"godwit/sandbox/wasm"
)

// Names that the pass adds to a module. A guest that uses them is refused.
const (
	// HostModule is the name space of the one function that instrumented modules import.
	HostModule = "godwit"
	yieldName  = "yield"
	// ownPrefix begins every export that the pass adds.
	ownPrefix = "__ck_"
	// guardPrefix begins the export names that guests may not use.
	guardPrefix = "__ck"
)

// Limits on a guest, far above what compilers produce, so that a hostile module cannot make the pass
// take minutes or gigabytes.
const (
	maxFuncs = 1 << 20
	// maxWork bounds the words of live-variable sets touched in one function: its locals times its branches.
	maxWork = 1 << 28
	// maxSaved bounds the values in all frames that one function can leave.
	maxSaved = 1 << 22
	// maxResume bounds the bytes of one resume function, in which every loop around the safe point stands twice.
	maxResume = 32 << 20
)

// Options change what the pass emits. They are part of a checkpoint's identity.
type Options struct {
	// KeepNaNs leaves the bits of NaN results to the machine. They differ between architectures, so
	// that programs which look at them give different answers, and checkpoints different hashes.
	KeepNaNs bool
}

// ErrRefused is wrapped by errors about modules that are valid but cannot be instrumented. Such a module
// may still run without checkpoints.
var ErrRefused = errors.New("module cannot be frozen")

// refuse makes an error of type *wasm.Error that wraps ErrRefused. It is about a function, -1 for none.
func refuse(index int, name string, offset int, format string, args ...any) error {
	e := &wasm.Error{Section: "code", Offset: offset, Func: index, Name: name, Reason: fmt.Sprintf(format, args...)}
	return fmt.Errorf("%w: %w", ErrRefused, e)
}
