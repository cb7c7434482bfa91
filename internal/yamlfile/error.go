package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// An Error is what is wrong with a file, at which place, and the way out.
type Error struct {
	File   string // its name; "" of something that no file describes
	Line   int    // from 1; 0 if no line is to blame
	Column int    // from 1, in characters
	Msg    string // lower case, no full stop
	Hint   string // what a person can do; "" if there is nothing to say
}

// Error returns "FILE:LINE:COLUMN: MSG", without what is not known.
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// A Position is a line and a column of a file, from 1.
type Position struct{ Line, Column int }

// At is the position of a token; of none, the beginning of the file.
func At(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{1, 1}
	}
	return Position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// ErrorAt returns an error at a token's place in the file of that name.
func ErrorAt(name string, t *token.Token, hint, format string, args ...any) *Error {
	p := At(t)
	return &Error{File: name, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...), Hint: hint}
}
