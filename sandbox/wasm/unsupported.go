package wasm

import "errors"

// FindUnsupported reads a whole module for the first use of a feature that is not supported. It is nil if there is
// none before the module's end, or before what cannot be read at all.
func FindUnsupported(b []byte) *Error {
	var e *Error
	m, err := Decode(b)
	if err == nil {
		err = m.readAll()
	}
	if errors.As(err, &e) && e.Feature != "" {
		return e
	}
	return nil
}

// readAll reads every instruction. The error is of type *Error.
func (m *Module) readAll() error {
	var in Instr
	for i := range m.Code {
		for r := NewReader(&m.Code[i]); !r.Done(); {
			if err := r.Next(&in); err != nil {
				return m.InFunc(err, i+m.Imported(FuncKind))
			}
		}
	}
	return nil
}
