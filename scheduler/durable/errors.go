package durable

import (
	"errors"
	"fmt"
)

// Errors gathers what could not be read. A broken disk may break a
// million results alike: only the first few are told, and how many there are.
type Errors struct {
	first []error
	n     int
}

// MaxErrors is as many as a person reads.
const MaxErrors = 16

// Note adds what kept the pair of a key from being read; nil adds nothing.
func (e *Errors) Note(key string, err error) {
	if err == nil {
		return
	}
	if e.n++; e.n <= MaxErrors {
		e.first = append(e.first, fmt.Errorf("reading %s: %w", key, err))
	}
}

// Join returns all that was noted as one error; nil if nothing was.
func (e *Errors) Join() error {
	if e.n > MaxErrors {
		return errors.Join(append(e.first, fmt.Errorf("and %d more", e.n-MaxErrors))...)
	}
	return errors.Join(e.first...)
}
