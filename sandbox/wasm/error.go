package wasm

import (
	"errors"
	"fmt"
)

// Error says what is wrong with a module and where.
type Error struct {
	Section string // name of the section, or "header"
	Offset  int    // from the beginning of the module
	Func    int    // index of the function, imports first; -1 outside code
	Name    string // name of the function in the module's name section; empty if it has none
	Reason  string
	// Feature is from outside WebAssembly 2.0 and used there: the module may be valid. It is empty where that is not
	// the reason.
	Feature Feature
}

// Error implements error.
func (e *Error) Error() string {
	if e.Func < 0 {
		return fmt.Sprintf("wasm: %s section, offset %#x: %s", e.Section, e.Offset, e.Reason)
	}
	name := ""
	if e.Name != "" {
		name = fmt.Sprintf(" (%s)", e.Name)
	}
	return fmt.Sprintf("wasm: function %d%s, offset %#x: %s", e.Func, name, e.Offset, e.Reason)
}

// unsupported marks an error about a feature from outside WebAssembly 2.0: what was met.
type unsupported struct {
	feature Feature
	what    string
}

func (u unsupported) Error() string {
	return fmt.Sprintf("%s are not supported (%s)", u.feature, u.what)
}

// featureOf gives the feature that an error is about.
func featureOf(err error) Feature {
	var u unsupported
	errors.As(err, &u)
	return u.feature
}

// InFunc adds to an error of a Reader which function it read, imports counted.
func (m *Module) InFunc(err error, index int) error {
	if e, ok := err.(*Error); ok {
		e.Func, e.Name = index, m.FuncName(index)
	}
	return err
}
