package task

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error is what is wrong with a job file, at which place, and the way out.
type Error struct {
	File   string // as given to ParseFile; "" for a job that no file describes
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

// A fault is what is wrong with a job, and where in it: "memory", "args[2]",
// "env.NAME", "sweep.AXIS". A job file has a line and column for each place.
type fault struct {
	where string
	msg   string
	hint  string
}

func (f *fault) Error() string { return f.where + ": " + f.msg }

func faultf(where, hint, format string, args ...any) *fault {
	return &fault{where: where, msg: fmt.Sprintf(format, args...), hint: hint}
}

// checkText refuses text that is too long, or that the encoding or a C string
// cannot hold.
func checkText(where, s string, most int) *fault {
	switch {
	case len(s) > most:
		return faultf(where, "put long text into an input file", "%d bytes, the most is %d", len(s), most)
	case !utf8.ValidString(s):
		return faultf(where, "write the text in UTF-8", "%s is not valid UTF-8", quote(s))
	case strings.IndexByte(s, 0) >= 0:
		return faultf(where, "remove the zero byte", "%s contains a zero byte", quote(s))
	}
	return nil
}

// clip cuts s to valid UTF-8 of at most n bytes.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
