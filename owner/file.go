package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"godwit/task"
)

// Load reads the rules of a file; one that does not exist is Default.
func Load(path string) (Rules, error) {
	b, err := readFile(path)
	if err != nil {
		return Default(), err
	}
	return Parse(path, b)
}

// readFile reads no more than a file of rules may have, and one byte, so that
// Parse notices.
func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	return b[:min(len(b), maxFile+1)], nil
}

// Source returns the text of a file of rules, empty where there is none. It reads no more than such a file may
// have.
func Source(path string) ([]byte, error) { return readFile(path) }

// Get returns the value of a rule as the file would have it. A key is a rule's
// name, or names one of its entries, such as "hours.monday".
func (r *Rules) Get(name string) (string, error) {
	top, child, nested := strings.Cut(name, ".")
	k := findKey(top)
	switch {
	case k == nil || nested && k.entries == nil:
		return "", unknownName(name)
	case k.entries == nil:
		return k.get(r), nil
	}
	var parts []string
	for _, e := range k.list(r) {
		if nested && e[0] == child {
			return e[1], nil
		}
		parts = append(parts, quoted(e[0])+": "+quoted(e[1]))
	}
	if nested {
		if k.children != nil && contains(k.children, child) {
			return dayAlways, nil
		}
		return "", &task.Error{Msg: fmt.Sprintf("%s has no entry %q", top, clip(child)),
			Hint: fmt.Sprintf("`godwit config get %s` lists them", top)}
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

func unknownName(name string) error {
	hint := "the rules are " + strings.Join(Keys(), ", ")
	if near := task.Nearest(strings.ToLower(name), Keys()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &task.Error{Msg: fmt.Sprintf("there is no rule %q", clip(name)), Hint: hint}
}

// quoted puts quotes around what YAML would not read as plain text.
func quoted(s string) string {
	if strings.ContainsAny(s, ":,{}[]#&*!|>'\"%@` \\\n\t") || s == "" {
		return strconv.Quote(s)
	}
	return s
}

// Set changes one rule in a file, which keeps its comments and its order and is
// replaced at once and whole. The file need not exist. A key is as in Get; the
// value is as in the file. A rule that lends more cores or memory than the machine has
// is refused; what is 0 of it is not known.
func Set(path, name, value string, m Machine) error {
	src, err := readFile(path)
	if err != nil {
		return err
	}
	out, err := Edit(path, src, name, value)
	if err != nil {
		return err
	}
	if err := checkFit(path, out, name, m); err != nil {
		return err
	}
	return replaceFile(path, out)
}

// Edit returns the file src with one rule changed. Errors are *task.Error.
func Edit(path string, src []byte, name, value string) ([]byte, error) {
	rules, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	top, child, nested := strings.Cut(name, ".")
	k := findKey(top)
	switch {
	case k == nil || nested && k.entries == nil:
		return nil, unknownName(name)
	case k.entries == nil:
		if err := k.set(&rules, strings.TrimSpace(value)); err != nil {
			return nil, &task.Error{Msg: fmt.Sprintf("%s: %v", top, err), Hint: k.hint}
		}
	case nested:
		if k.children != nil && !contains(k.children, child) {
			return nil, &task.Error{Msg: fmt.Sprintf("%s has no entry %q", top, clip(child)),
				Hint: "its entries are " + strings.Join(k.children, ", ")}
		}
		if child == "daily" {
			k.forget(&rules)
		}
		if err := k.entries(&rules, child, strings.TrimSpace(value)); err != nil {
			return nil, &task.Error{Msg: fmt.Sprintf("%s: %v", name, err), Hint: k.hint}
		}
	default:
		part, err := Parse("", []byte(top+": "+value+"\n"))
		if err != nil {
			return nil, &task.Error{Msg: fmt.Sprintf("%s: %v", top, err), Hint: k.hint}
		}
		k.forget(&rules)
		for _, e := range k.list(&part) {
			if err := k.entries(&rules, e[0], e[1]); err != nil {
				return nil, &task.Error{Msg: fmt.Sprintf("%s: %v", top, err), Hint: k.hint}
			}
		}
	}
	out, err := splice(path, src, k, &rules)
	if err != nil {
		return nil, err
	}
	// What is written must be read back as meant, whatever the file looked like.
	if back, err := Parse(path, out); err != nil {
		return nil, &task.Error{File: path, Msg: fmt.Sprintf("the rule cannot be put into this file: %v", err),
			Hint: "edit the file by hand"}
	} else if !same(k, &back, &rules) {
		return nil, &task.Error{File: path, Msg: "the rule cannot be put into this file", Hint: "edit the file by hand"}
	}
	return out, nil
}

func same(k *key, a, b *Rules) bool {
	x, _ := a.Get(k.name)
	y, _ := b.Get(k.name)
	return x == y
}

// splice replaces the lines of a rule, or appends them.
func splice(path string, src []byte, k *key, r *Rules) ([]byte, error) {
	pairs, err := topPairs(path, src)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(src), "\n")
	from, to := -1, len(lines)
	for i, p := range pairs {
		if p.Key != k.name {
			continue
		}
		from = p.Token.Position.Line - 1
		if i+1 < len(pairs) {
			to = pairs[i+1].Token.Position.Line - 1
		}
	}
	if from >= len(lines) || to > len(lines) || from >= 0 && to <= from {
		return nil, &task.Error{File: path, Msg: "the rule's lines are not found in this file", Hint: "edit the file by hand"}
	}
	block := render(k, r)
	if from < 0 {
		text := string(src)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return []byte(text + block), nil
	}
	// Comments and empty lines before the next rule are that rule's.
	for to > from+1 && (strings.TrimSpace(lines[to-1]) == "" || strings.HasPrefix(lines[to-1], "#")) {
		to--
	}
	if to == from+1 && k.entries == nil {
		if i := strings.Index(lines[from], " #"); i >= 0 {
			block = strings.TrimSuffix(block, "\n") + strings.TrimRight(lines[from][i:], "\r\n") + "\n"
		}
	}
	return []byte(strings.Join(lines[:from], "") + block + strings.Join(lines[to:], "")), nil
}

// replaceFile writes a file beside the old one and renames it, so that a reader
// sees the one or the other, and a crash leaves one of them. A link stays one.
func replaceFile(path string, b []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("writing the rules: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("writing the rules: %w", err)
		}
	}()
	_, err = f.Write(b)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Text returns the rules as a file has them.
func (r *Rules) Text() string {
	var b strings.Builder
	for i := range keys {
		if k := &keys[i]; k.entries == nil || len(k.list(r)) > 0 {
			b.WriteString(render(k, r))
		}
	}
	return b.String()
}

// render writes a rule as the file has it.
func render(k *key, r *Rules) string {
	switch {
	case k.words:
		return k.name + ": " + strconv.Quote(k.get(r)) + "\n"
	case k.entries == nil:
		return k.name + ": " + k.get(r) + "\n"
	}
	entries := k.list(r)
	if len(entries) == 0 {
		return k.name + ": {}\n"
	}
	var b strings.Builder
	b.WriteString(k.name + ":\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "  %s: %s\n", quoted(e[0]), quoted(e[1]))
	}
	return b.String()
}
