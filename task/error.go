package task

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"godwit/internal/yamlfile"
)

// An Error is what is wrong with a job file, at which place, and the way out. File is
// as given to ParseFile, "" for a job that no file describes.
type Error = yamlfile.Error

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

// Nearest returns the candidate that a person who typed word most likely meant, or ""
// if none is near: a third of the letters may be wrong, and at least one. Of equally
// near ones the first wins.
func Nearest(word string, candidates []string) string { return yamlfile.Nearest(word, candidates) }
