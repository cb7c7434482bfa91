//go:build !linux

package wall

import (
	"errors"
	"syscall"
)

// none is why no layer holds.
const none = "this system has none that a program can set for itself"

// Shut does nothing: see State.
func Shut(int) State { return State{Why: [3]string{none, none, none}} }

// Protect does nothing.
func Protect() error { return nil }

// Namespaces changes nothing, and reports false.
func Namespaces(*syscall.SysProcAttr) bool { return false }

// LimitData does nothing.
func LimitData(int, uint64, uint64) error { return errors.ErrUnsupported }

// NotPermitted reports false: nothing was asked for.
func NotPermitted(error) bool { return false }
