package task

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s as it may be shown to people, on a terminal too, whoever wrote it:
// valid UTF-8 of at most most bytes, on one line, without control characters, so without
// escapes, and without marks that turn the direction of text or hide some of it. Control
// characters and line ends become spaces, what else may not stay a replacement character.
// Text that is printable comes back as it is; cuts do not split a character.
func Printable(s string, most int) string {
	if isPrintable(s) {
		return cut(s, most)
	}
	return cut(strings.Map(printable, strings.ToValidUTF8(s, string(utf8.RuneError))), most)
}

// isPrintable reports whether Printable leaves s as it is but for its length.
func isPrintable(s string) bool {
	ascii := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			ascii = false
			break
		}
	}
	if ascii {
		return true
	}
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 || printable(r) != r {
			return false
		}
	}
	return true
}

func printable(r rune) rune {
	switch {
	case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
		return ' '
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Cs, r), unicode.Is(unicode.Co, r):
		return utf8.RuneError
	}
	return r
}

// cut cuts valid UTF-8 to at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
