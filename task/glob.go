package task

import (
	"fmt"
	"path"
	"strings"
)

// IsPattern reports whether an entry of a job file's files, which names no axis, stands for the files that
// match it: it has *, ? or [. A file of exactly that name goes before.
func IsPattern(entry string) bool { return !isSwept(entry) && strings.ContainsAny(entry, "*?[") }

// isDir reports whether what an entry of files comes to stands for a directory, with all that is below it.
func isDir(entry string) bool { return strings.HasSuffix(entry, "/") }

// MatchFile reports whether a pattern of files matches a name. It goes component by component as
// path.Match does, and the component ** stands for any number of directories, none too. What begins with a
// dot is matched only by a component that does. A pattern that is not valid matches nothing.
func MatchFile(pattern, name string) bool {
	return matchComponents(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matchComponents takes at most as many steps as there are pairs of components: where a ** comes after
// another, what the first one took need not be tried again.
func matchComponents(pattern, name []string) bool {
	back, at := -1, 0 // of the last **: its place, and where the name goes on after it
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == anyDirs:
			back, at = p, n
			p++
			continue
		case p < len(pattern) && (n == len(name)-1) == (p == len(pattern)-1) && matchComponent(pattern[p], name[n]):
			p, n = p+1, n+1
			continue
		case back < 0 || strings.HasPrefix(name[at], "."):
			return false
		}
		at++
		p, n = back+1, at
	}
	return p == len(pattern)
}

// anyDirs is the component of a pattern that stands for any number of directories.
const anyDirs = "**"

func matchComponent(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// CheckFilePattern checks a pattern of files, such as "in/**/*.png".
func CheckFilePattern(p string) error {
	if e := checkFilePattern(p); e != nil {
		return e
	}
	return nil
}

// checkFilePattern checks a pattern of files.
func checkFilePattern(p string) *pathError {
	if e := checkPath(p); e != nil {
		return e
	}
	components := strings.Split(p, "/")
	for i, c := range components {
		if _, err := path.Match(c, ""); err != nil {
			return &pathError{fmt.Sprintf("file name %s is not a pattern: a [ has no matching ]", quote(p)),
				"patterns know *, ?, [a-z] and **"}
		}
		if c == anyDirs && i == len(components)-1 {
			return &pathError{fmt.Sprintf("pattern %s ends in **", quote(p)), "write " + quote(p+"/*")}
		}
	}
	return nil
}

// GlobBase returns the directory below which all lies that a pattern matches; "." for the top.
func GlobBase(pattern string) string {
	i := strings.IndexAny(pattern, "*?[")
	if i < 0 {
		i = len(pattern)
	}
	return path.Clean("./" + pattern[:strings.LastIndexByte(pattern[:i], '/')+1])
}
