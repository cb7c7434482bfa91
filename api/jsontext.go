package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// readJSON reads a request's body of at most so many bytes into v. Package json replaces bytes that are not UTF-8, and
// halves of surrogate pairs, with U+FFFD. An argument or a file name in a job would thus become another one, so readJSON
// refuses them.
func readJSON(w http.ResponseWriter, r *http.Request, most int64, v any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return err
	}
	if err := checkJSONText(b); err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(b)).Decode(v)
}

var errNotText = errors.New("it contains text that is not valid UTF-8: put such bytes into an input file")

// checkJSONText reports text that package json would change.
func checkJSONText(b []byte) error {
	if !utf8.Valid(b) {
		return errNotText
	}
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return nil
		}
		b = b[i:]
		unit, is := escapedUnit(b)
		switch {
		case !is:
			b = b[2:]
		case !utf16.IsSurrogate(unit):
			b = b[6:]
		default:
			second, is := escapedUnit(b[6:])
			if !is || utf16.DecodeRune(unit, second) == utf8.RuneError {
				return errNotText
			}
			b = b[12:]
		}
	}
}

// escapedUnit returns the UTF-16 code unit of an escape \uXXXX at the beginning of b.
func escapedUnit(b []byte) (unit rune, is bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
