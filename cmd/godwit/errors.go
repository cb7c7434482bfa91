package main

import (
	"errors"
	"fmt"
	"io"

	"godwit/api"
	"godwit/sandbox"
	"godwit/task"
)

// The exit codes that scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // bad usage or input; nothing was done
	exitUnreachable = 3 // no node, or no peer, answers
	exitPartly      = 4 // some tasks failed
)

// A failure is an error with what a person needs to go on.
type failure struct {
	code int
	err  error
	hint string // "" where there is nothing to advise
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage reports bad input; format may use %w.
func usage(hint, format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// quietly ends with a code and nothing more to say.
func quietly(code int) error { return &failure{code: code} }

// report prints an error in the program's form and returns the exit code.
//
// Everything but results goes to standard error, with the program's name, in
// lower case and without a full stop; a hint follows where one is known.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	f := classify(err)
	if f.err != nil {
		fmt.Fprintf(w, "godwit: error: %v\n", f.err)
	}
	if f.hint != "" {
		fmt.Fprintf(w, "godwit: hint: %s\n", f.hint)
	}
	return f.code
}

// classify finds the exit code and the hint that an error calls for.
func classify(err error) *failure {
	var (
		f      *failure
		inFile *task.Error
		module *sandbox.ModuleError
		remote *api.Error
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &inFile):
		return &failure{code: exitUsage, err: err, hint: inFile.Hint}
	case errors.As(err, &module):
		return &failure{code: exitUsage, err: err, hint: module.Hint}
	case errors.Is(err, api.ErrNoNode):
		return &failure{code: exitUnreachable, err: err, hint: "start one with `godwit up`, or name another with --data-dir or --api"}
	case errors.As(err, &remote):
		return &failure{code: codeOf(remote.Kind), err: err, hint: remote.Hint}
	}
	return &failure{code: exitFailed, err: err}
}

func codeOf(kind string) int {
	switch kind {
	case api.KindInput, api.KindNotFound:
		return exitUsage
	case api.KindUnreachable:
		return exitUnreachable
	}
	return exitFailed
}
