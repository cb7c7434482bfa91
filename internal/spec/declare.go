package spec

import (
	"fmt"
	"strings"
)

// longestName bounds a name and a parameter's: they stand in manifests and in
// tables.
const longestName = 32

// Declare panics on a kind that cannot be registered in a room: its name or one of
// its parameters, which params has with spaces between them, is no name, or is
// there already. A name has lower-case letters, digits, hyphens and underscores and
// begins with a letter, so that every specification with it can be written.
func Declare(room, name, params string, taken bool) {
	fail := func(format string, args ...any) { panic(room + ": registering: " + fmt.Sprintf(format, args...)) }
	if !isName(name) {
		fail("%q is no name: write up to %d lower-case letters, digits, - and _, a letter first", name, longestName)
	}
	if taken {
		fail("%s is registered twice", name)
	}
	seen := map[string]bool{}
	for _, key := range strings.Fields(params) {
		if !isName(key) {
			fail("%s: parameter %q is no name: write up to %d lower-case letters, digits, - and _, a letter first", name, key,
				longestName)
		}
		if seen[key] {
			fail("%s: parameter %s is there twice", name, key)
		}
		seen[key] = true
	}
}

func isName(s string) bool {
	for i, c := range s {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '_')) {
			return false
		}
	}
	return s != "" && len(s) <= longestName
}
