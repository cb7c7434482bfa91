package main

import (
	"errors"
	"fmt"
	"io"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/task"
)

// report prints an error in the program's form and returns the exit code.
//
// Everything but results goes to standard error, with the program's name, in
// lower case and without a full stop; a hint follows where one is known.
func report(w io.Writer, err error) int {
	if err == nil {
		return failure.ExitDone
	}
	f := classify(err)
	w = table.Printable(w) // other nodes may have written parts of it
	if f.Err != nil {
		fmt.Fprintf(w, "godwit: error: %v\n", f.Err)
	}
	if f.Hint != "" {
		fmt.Fprintf(w, "godwit: hint: %s\n", f.Hint)
	}
	return f.Code
}

// classify finds the exit code and the hint that an error calls for.
func classify(err error) *failure.Error {
	var (
		f      *failure.Error
		inFile *task.Error
		module *sandbox.ModuleError
		remote *api.Error
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &inFile):
		return &failure.Error{Code: failure.ExitUsage, Err: err, Hint: inFile.Hint}
	case errors.As(err, &module):
		return &failure.Error{Code: failure.ExitUsage, Err: err, Hint: module.Hint}
	case errors.Is(err, api.ErrNoNode):
		return &failure.Error{Code: failure.ExitUnreachable, Err: err,
			Hint: "start one with `godwit up`, or name another with --data-dir or --api"}
	case errors.Is(err, api.ErrSilent):
		return &failure.Error{Code: failure.ExitUnreachable, Err: err,
			Hint: "its process may be stopped or the machine overloaded: restart the node if `godwit status` fails as well"}
	case errors.As(err, &remote):
		return &failure.Error{Code: codeOf(remote.Kind), Err: err, Hint: remote.Hint}
	}
	return &failure.Error{Code: failure.ExitFailed, Err: err}
}

func codeOf(kind string) int {
	switch kind {
	case api.KindInput, api.KindNotFound:
		return failure.ExitUsage
	case api.KindUnreachable:
		return failure.ExitUnreachable
	}
	return failure.ExitFailed
}
