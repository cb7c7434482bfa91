package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Kind is one of several things that people name: a policy, a model, a law.
type Kind[T any] struct {
	Params string // the names of its parameters, with spaces between them
	Does   string // what it does, in a line, for people
	// Make returns a new one. It reads each parameter, so that all of them are
	// checked; of parameters that are wrong nobody uses what it returns. It is called
	// more often than what it makes is used: to check what somebody wrote, too.
	Make func(ps *Params) T
}

// A Registry has all kinds of one thing by name. Kinds are registered by init
// functions only; from then on it does not change.
type Registry[T any] struct {
	Room    string // the package that has it, for panics
	Prefix  string // what every error begins with, such as "place: "
	Thing   string // what the kinds are, for errors: "policy"
	Default string // the name of the kind used where none is named; "" if there is none
	InOrder bool   // names are listed in the order in which they were registered, not sorted

	kinds map[string]Kind[T]
	names []string
}

// Register makes a kind known by name. It panics on a name that is taken, or that no
// specification could have.
func (r *Registry[T]) Register(name string, k Kind[T]) {
	Declare(r.Room, name, k.Params, r.Has(name))
	if r.kinds == nil {
		r.kinds = map[string]Kind[T]{}
	}
	r.kinds[name] = k
	r.names = append(r.names, name)
}

// Has reports whether there is a kind of that name.
func (r *Registry[T]) Has(name string) bool {
	_, ok := r.kinds[name]
	return ok
}

// Names returns the names of all kinds.
func (r *Registry[T]) Names() []string {
	if r.InOrder {
		return slices.Clone(r.names)
	}
	return slices.Sorted(maps.Keys(r.kinds))
}

// Usages says how each kind is written: see Usage.
func (r *Registry[T]) Usages() []string {
	names := r.Names()
	for i, name := range names {
		names[i] = Usage(name, r.kinds[name].Params)
	}
	return names
}

// Describe says what each kind does, a line each, and which parameters it has with their defaults and values.
func (r *Registry[T]) Describe() string { return r.DescribeWith("") }

// DescribeWith is Describe for kinds that work with something: see Params.With.
func (r *Registry[T]) DescribeWith(with string) string {
	var b strings.Builder
	for i, usage := range r.Usages() {
		name := r.Names()[i]
		fmt.Fprintf(&b, "%s: %s\n", usage, r.kinds[name].Does)
		var params []string
		for _, p := range r.Defaults(with, name) {
			params = append(params, fmt.Sprintf("%s=%s (%s)", p.Name, p.Default, p.Takes))
		}
		if len(params) > 0 {
			fmt.Fprintf(&b, "    defaults: %s\n", strings.Join(params, ", "))
		}
	}
	return b.String()
}

// Defaults lists the parameters of a kind in the order of Kind.Params; nil if there is no such kind.
func (r *Registry[T]) Defaults(with, name string) (out []Param) {
	_, ps, err := r.NewWith(with, name, nil)
	if err != nil {
		return nil
	}
	for _, key := range ps.known {
		if i := slices.IndexFunc(ps.read, func(p Param) bool { return p.Name == key }); i >= 0 {
			out = append(out, ps.read[i])
		}
	}
	return out
}

// New makes one of the kind of that name ("" means Default) with the given
// parameters, nil for its defaults; and returns how they were read.
func (r *Registry[T]) New(name string, values map[string]string) (made T, ps *Params, err error) {
	return r.NewWith("", name, values)
}

// NewWith is New for one that works with something: see Params.With.
func (r *Registry[T]) NewWith(with, name string, values map[string]string) (made T, ps *Params, err error) {
	name = cmp.Or(name, r.Default)
	k, ok := r.kinds[name]
	if !ok {
		return made, nil, fmt.Errorf("%sthere is no %s %q: use one of %s", r.Prefix, r.Thing, name,
			strings.Join(r.Names(), ", "))
	}
	ps = Read(values, strings.Fields(k.Params))
	ps.of, ps.with = fmt.Sprintf("%s%s %s: ", r.Prefix, r.Thing, name), with
	t := k.Make(ps)
	if err := ps.Err(); err != nil {
		return made, nil, err
	}
	return t, ps, nil
}

// Parse makes one of a specification: a name ("" means Default), and after a colon
// its parameters with commas between them.
func (r *Registry[T]) Parse(s string) (made T, ps *Params, err error) { return r.ParseWith("", s) }

// ParseWith is Parse for one that works with something: see Params.With.
func (r *Registry[T]) ParseWith(with, s string) (made T, ps *Params, err error) {
	name, values, err := r.split(s)
	if err != nil {
		return made, nil, err
	}
	return r.NewWith(with, name, values)
}

// Faster returns the specification of the same kind for a world whose time runs so
// many times as fast: its lengths of time are so many times shorter, with those that
// have their defaults. The error names one that becomes too short.
func (r *Registry[T]) Faster(s string, by float64) (string, error) {
	name, values, err := r.split(s)
	if err != nil {
		return "", err
	}
	_, ps, err := r.New(name, values)
	if err != nil {
		return "", err
	}
	if s, err = ps.Faster(cmp.Or(name, r.Default), by); err != nil {
		return "", r.wrong(err)
	}
	return s, nil
}

func (r *Registry[T]) split(s string) (name string, values map[string]string, err error) {
	if name, values, err = Split(s); err != nil {
		return "", nil, r.wrong(err)
	}
	return name, values, nil
}

func (r *Registry[T]) wrong(err error) error { return fmt.Errorf("%s%s %w", r.Prefix, r.Thing, err) }
