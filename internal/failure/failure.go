// Package failure holds errors that a person reads: with an exit code, and a hint on how to go on.
package failure

import "fmt"

// The exit codes that scripts rely on.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2 // bad usage or input; nothing was done
	ExitUnreachable = 3 // no node, or no peer, answers
	ExitPartly      = 4 // some tasks failed
)

// An Error is an error with what a person needs to go on.
type Error struct {
	Code int
	Err  error
	Hint string // "" where there is nothing to advise
}

func (f *Error) Error() string { return f.Err.Error() }

func (f *Error) Unwrap() error { return f.Err }

// Usage reports bad input; format may use %w.
func Usage(hint, format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Quietly ends with a code and nothing more to say.
func Quietly(code int) error { return &Error{Code: code} }
