package task

import (
	"fmt"
	"slices"
	"strings"
)

// Templates are plain text in which {{.name}}, with or without spaces inside
// the braces, stands for the value of the axis of that name, or for the number
// of the trial, and {{.name.column}} for a cell of an axis's table. {{"{{"}} stands for two opening
// braces. There is nothing else: no functions, no conditions. A template so has a foreseeable length,
// names foreseeable files and runs no code of a stranger.

// pieces calls literal and name for the parts of a template in order. It stops
// at the first error of either, and returns one itself if the template is
// malformed.
func pieces(template string, literal, name func(string) error) error {
	for {
		before, rest, found := strings.Cut(template, "{{")
		if err := literal(before); err != nil || !found {
			return err
		}
		inner, after, found := strings.Cut(rest, "}}")
		if !found {
			return &templateError{fmt.Sprintf("%s: {{ without }}", quote(template)),
				`write {{.name}}, or {{"{{"}} for the braces themselves`}
		}
		inner = strings.Trim(inner, " ")
		var err error
		switch ref, dotted := strings.CutPrefix(inner, "."); {
		case inner == `"{{"`:
			err = literal("{{")
		case dotted && isReference(ref):
			err = name(ref)
		case isIdentifier(inner):
			err = &templateError{fmt.Sprintf("{{%s}} is not a template", inner),
				fmt.Sprintf("write {{.%s}}, with a point", inner)}
		default:
			err = &templateError{fmt.Sprintf("%s is not a template", quote("{{"+inner+"}}")),
				"only {{.name}} is understood, with the name of an axis or trial"}
		}
		if err != nil {
			return err
		}
		template = after
	}
}

// isReference reports whether s can stand in a template: an identifier, or two with a point between.
func isReference(s string) bool {
	axis, column, dotted := strings.Cut(s, ".")
	return isIdentifier(axis) && (!dotted || isIdentifier(column))
}

// templateError is why a template is refused.
type templateError struct{ msg, hint string }

func (e *templateError) Error() string { return e.msg }

// expand replaces every name of the template by its value in params.
func expand(template string, params []EnvVar) (string, error) {
	if !strings.Contains(template, "{{") {
		return template, nil
	}
	var b strings.Builder
	literal := func(s string) error {
		b.WriteString(s)
		return nil
	}
	err := pieces(template, literal, func(name string) error {
		i := slices.IndexFunc(params, func(p EnvVar) bool { return p.Name == name })
		if i < 0 {
			names := make([]string, len(params))
			for k := range params {
				names[k] = params[k].Name
			}
			return unknownName(name, names)
		}
		return literal(params[i].Value)
	})
	return b.String(), err
}

// find returns the place of the reference of that name, or -1.
func find(refs []reference, name string) int {
	return slices.IndexFunc(refs, func(r reference) bool { return r.name == name })
}

func namesOf(refs []reference) []string {
	names := make([]string, len(refs))
	for i := range refs {
		names[i] = refs[i].name
	}
	return names
}

// unknownName is the error for a name that no axis has.
func unknownName(name string, known []string) error {
	hint := "name an axis of the sweep, or trial"
	if near := Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean {{.%s}}?", near)
	}
	return &templateError{fmt.Sprintf("there is no axis %s for {{.%s}}", quote(name), name), hint}
}

// mentions returns which of the references a template mentions, one bool for each.
func mentions(template string, refs []reference) ([]bool, error) {
	used := make([]bool, len(refs))
	ignore := func(string) error { return nil }
	err := pieces(template, ignore, func(name string) error {
		i := find(refs, name)
		if i < 0 {
			return unknownName(name, namesOf(refs))
		}
		used[i] = true
		return nil
	})
	return used, err
}

// expandedSize returns an upper bound on the length of what the template
// expands to, where values have at most the lengths that the references say.
func expandedSize(template string, refs []reference) (int, error) {
	n := 0
	literal := func(s string) error {
		n += len(s)
		return nil
	}
	err := pieces(template, literal, func(name string) error {
		i := find(refs, name)
		if i < 0 {
			return unknownName(name, namesOf(refs))
		}
		n += refs[i].longest
		return nil
	})
	return n, err
}
