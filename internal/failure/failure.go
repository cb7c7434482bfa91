// Package failure holds errors that a person reads: with an exit code, and a hint on how to go on.
package failure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"godwit/task"
)

// The exit codes that scripts rely on.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2 // bad usage or input; nothing was done
	ExitUnreachable = 3 // no node, or no peer, answers
	ExitPartly      = 4 // some tasks failed, or results are in doubt
	ExitWrong       = 5 // a check found a wrong result, which is replaced
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

// HintOf is the hint of an error that has one, else "".
func HintOf(err error) string {
	var own *Error
	var inFile *task.Error
	switch {
	case errors.As(err, &own):
		return own.Hint
	case errors.As(err, &inFile):
		return inFile.Hint
	}
	return ""
}

// OneOf finds a flag's value among the names of what it chooses from.
func OneOf(flag, value string, names []string) (uint8, error) {
	i := slices.Index(names, value)
	if i < 0 {
		return 0, Usage("write --"+flag+" "+names[0], "--%s %q: it is one of %s", flag, value, strings.Join(names, ", "))
	}
	return uint8(i), nil
}
