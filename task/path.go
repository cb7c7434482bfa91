package task

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stdout and Stderr name a task's standard output and standard error among its
// outputs. A file of that name under the sandbox's root is never an output.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// What a name in the sandbox may measure.
const (
	maxPath      = 512 // bytes; see MaxOutputs for what it adds up to
	maxComponent = 255 // bytes; what the file systems of volunteers can hold
	maxDepth     = 32  // components
)

// pathError is why a name is no path under a sandbox's root.
type pathError struct{ msg, hint string }

func (e *pathError) Error() string { return e.msg }

// ValidSandboxPath checks that p names a file under the root of a task's
// sandbox in the one way that we write it: relative, slashes between
// components, none of them empty, "." or "..", no backslash, no control
// character, valid UTF-8, at most 512 bytes. Such a path is the same file on
// every system and stays below whatever directory it is joined to.
func ValidSandboxPath(p string) error {
	if e := checkPath(p); e != nil {
		return e
	}
	return nil
}

func checkPath(p string) *pathError {
	switch {
	case p == "":
		return &pathError{"the file name is empty", "name a file, relative to the sandbox's root"}
	case len(p) > maxPath:
		return &pathError{fmt.Sprintf("file name %s has %d bytes, the most is %d", quote(p), len(p), maxPath),
			"use a shorter name"}
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return &pathError{fmt.Sprintf("file name %s contains a control character or is not UTF-8", quote(p)),
			"rename the file"}
	case strings.Contains(p, `\`):
		return &pathError{fmt.Sprintf("file name %s contains a backslash", quote(p)), "separate directories by /"}
	case p[0] == '/':
		return &pathError{fmt.Sprintf("file name %s is absolute", quote(p)),
			"files lie at / inside the sandbox: write the name without the leading /"}
	case len(p) > 1 && p[1] == ':':
		return &pathError{fmt.Sprintf("file name %s begins with a drive letter", quote(p)),
			"write a name relative to the sandbox's root"}
	}
	components := strings.Split(p, "/")
	if len(components) > maxDepth {
		return &pathError{fmt.Sprintf("file name %s is %d directories deep, the most is %d", quote(p), len(components)-1,
			maxDepth-1), "use fewer directories"}
	}
	return checkComponents(p, components)
}

func checkComponents(p string, components []string) *pathError {
	for _, c := range components {
		switch {
		case c == "..":
			return &pathError{fmt.Sprintf("file name %s leaves the sandbox", quote(p)),
				"name files by their way down from the sandbox's root, without .."}
		case c == "" || c == ".":
			return &pathError{fmt.Sprintf("file name %s has a component that names nothing", quote(p)),
				"write " + quote(path.Clean(p))}
		case len(c) > maxComponent:
			return &pathError{fmt.Sprintf("file name %s has a component of %d bytes, the most is %d", quote(p), len(c),
				maxComponent), "use a shorter name"}
		}
	}
	return nil
}

// ValidOutputPattern checks a pattern of Job.Outputs: "stdout", "stderr", or a
// pattern of path.Match that only paths under the sandbox's root can match.
func ValidOutputPattern(p string) error {
	if e := checkPattern(p); e != nil {
		return e
	}
	return nil
}

func checkPattern(p string) *pathError {
	if strings.Contains(p, "{{") {
		return &pathError{fmt.Sprintf("output %s contains a template", quote(p)),
			"outputs are patterns: write * where names differ"}
	}
	if e := checkPath(p); e != nil {
		return &pathError{strings.Replace(e.msg, "file name", "output", 1), e.hint}
	}
	if _, err := path.Match(p, ""); err != nil {
		return &pathError{fmt.Sprintf("output %s is not a pattern: a [ has no matching ]", quote(p)),
			"patterns know *, ? and [a-z]"}
	}
	return nil
}

// MatchOutput reports whether an output of that name is wanted by any of the
// patterns. Stdout and Stderr are wanted only by their names; * matches within
// one directory, as in path.Match. Patterns that are not valid match nothing.
func MatchOutput(patterns []string, name string) bool {
	stream := name == Stdout || name == Stderr
	for _, p := range patterns {
		if p == name {
			return true
		}
		if matched, err := path.Match(p, name); matched && err == nil && !stream {
			return true
		}
	}
	return false
}
