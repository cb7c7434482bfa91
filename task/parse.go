package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// ParseFile reads a job file. The name is for errors, which are of type *Error
// and carry the line and column to blame. A file without error is valid as far
// as it can be known without reading the files that it names: every template
// expands, every name stays in the sandbox, the sweep is within its limits.
//
// Scalars of args, env and sweep are taken by the text they are written in:
// `0x10` is not 16, `1.50` not 1.5, `yes` not true.
func ParseFile(name string, src []byte) (*File, error) {
	if name == "" {
		name = "job file"
	}
	r := &reader{newFile(name)}
	node, e := parseYAML(r.File, src)
	if e != nil {
		return nil, e
	}
	if e := r.readTop(node); e != nil {
		return nil, e
	}
	if ft := r.draft().checkShape(); ft != nil {
		return nil, r.place(ft)
	}
	return r.File, nil
}

// A reader fills in a File from the nodes of a job file.
type reader struct{ *File }

// keys are the keys of a job file in the order of the manual.
var keys = []string{
	"name", "module", "args", "env", "files", "stdin", "outputs", "sweep", "work",
	"memory", "replicas", "retries", "deadline", "timeout", "priority", "checkpoint", "class", "weight",
}

func (r *reader) readTop(node ast.Node) *Error {
	pairs, e := r.mapping(node, "a job file", "write KEY: VALUE lines, such as `module: render.wasm`")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		if !slices.Contains(keys, p.key) {
			return r.unknownKey(p, keys, "a job file")
		}
		r.mark(p.key, p.value)
		if e := r.readKey(p); e != nil {
			return e
		}
	}
	if _, found := r.places["module"]; !found {
		return r.errorAtToken(nil, "add a line such as `module: render.wasm`", "the job file names no module")
	}
	if _, found := r.places["name"]; !found {
		r.Name = moduleName(r.Module)
		r.places["name"] = r.places["module"]
	}
	return nil
}

func (r *reader) readKey(p pair) (e *Error) {
	switch p.key {
	case "name":
		r.Name, e = r.text(p.value, p.key)
	case "module":
		if r.Module, e = r.text(p.value, p.key); e == nil && strings.TrimSpace(r.Module) == "" {
			e = r.errorAtToken(first(p.value), "name a WebAssembly file", "the module is empty")
		}
	case "args":
		r.Args, e = r.texts(p.value, p.key, `args: ["-tile", "{{.tile}}"]`)
	case "env":
		e = r.readEnv(p.value)
	case "files":
		r.Files, e = r.texts(p.value, p.key, "files: [scene.json]")
	case "stdin":
		r.Stdin, e = r.text(p.value, p.key)
	case "outputs":
		r.Outputs, e = r.texts(p.value, p.key, `outputs: [stdout, "*.png"]`)
	case "sweep":
		e = r.readSweep(p.value)
	case "work":
		r.Work, e = r.duration(p.value, p.key)
	case "memory":
		r.Memory, e = r.size(p.value)
	case "replicas":
		r.Replicas, e = r.number(p.value, p.key)
	case "retries":
		r.Retries, e = r.number(p.value, p.key)
	case "deadline":
		r.Deadline, e = r.duration(p.value, p.key)
	case "timeout":
		r.Timeout, e = r.duration(p.value, p.key)
	case "priority":
		r.Priority, e = r.number(p.value, p.key)
	case "checkpoint":
		e = r.readCheckpoint(p.value)
	case "class":
		r.Class, e = r.text(p.value, p.key)
	case "weight":
		if r.Weight, e = r.number(p.value, p.key); e == nil && r.Weight == 0 {
			e = r.errorAtToken(first(p.value), fmt.Sprintf("write a number from 1 to %d", MaxWeight), "weight of 0 is not between 1 and %d", MaxWeight)
		}
	}
	return e
}

func (r *reader) readEnv(node ast.Node) *Error {
	pairs, e := r.mapping(node, "env", "write env: {NAME: value}")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		value, e := r.text(p.value, p.key)
		if e != nil {
			return e
		}
		r.mark("env."+p.key, p.value)
		if !isIdentifier(p.key) {
			r.places["env."+p.key] = at(p.token)
		}
		r.Env = append(r.Env, EnvVar{p.key, value})
	}
	slices.SortFunc(r.Env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (r *reader) readCheckpoint(node ast.Node) *Error {
	s, e := r.text(node, "checkpoint")
	if e != nil {
		return e
	}
	switch s {
	case "auto":
	case "off":
		r.Checkpoint.Off = true
	default:
		every, err := time.ParseDuration(s)
		if err != nil || every == 0 {
			return r.errorAtToken(first(node), "write auto, off or an interval such as 5m", "checkpoint %s is not understood", quote(s))
		}
		r.Checkpoint.Every = every
	}
	return nil
}

// pair is one key of a mapping and its value.
type pair struct {
	key   string
	token *token.Token // of the key
	value ast.Node
}

// mapping returns the pairs of a mapping in file order, each key once.
func (r *reader) mapping(node ast.Node, what, hint string) ([]pair, *Error) {
	m, ok := node.(ast.MapNode)
	if !ok {
		return nil, r.errorAtToken(first(node), hint, "%s is a mapping of keys to values, this is %s", what, kind(node))
	}
	var pairs []pair
	lines := make(map[string]int)
	for it := m.MapRange(); it.Next(); {
		t := it.Key().GetToken()
		p := pair{key: t.Value, token: t, value: it.Value()}
		if line, found := lines[p.key]; found {
			return nil, r.errorAtToken(t, "keep one of the two", "%s is given twice, first in line %d", quote(p.key), line)
		}
		lines[p.key] = t.Position.Line
		if p.value == nil || p.value.Type() == ast.NullType {
			return nil, r.errorAtToken(t, "give it a value, or leave it out", "%s has no value", quote(p.key))
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func (r *reader) unknownKey(p pair, known []string, what string) *Error {
	hint := fmt.Sprintf("the keys of %s are %s", what, strings.Join(known, ", "))
	if near := Nearest(strings.ToLower(p.key), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return r.errorAtToken(p.token, hint, "unknown key %s", quote(p.key))
}

// text returns the text that a scalar is written in.
func (r *reader) text(node ast.Node, key string) (string, *Error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", r.errorAtToken(first(node), "quote text that has brackets, braces or colons", "%s is one value, this is %s", quote(key), kind(node))
}

// texts returns the texts of a list of scalars, and marks where each stands.
func (r *reader) texts(node ast.Node, key, example string) ([]string, *Error) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, r.errorAtToken(first(node), "write a list, such as "+example, "%s is a list, this is %s", quote(key), kind(node))
	}
	texts := make([]string, 0, len(list.Values))
	for i, v := range list.Values {
		where := fmt.Sprintf("%s[%d]", key, i)
		if v == nil || v.Type() == ast.NullType {
			return nil, r.errorAtToken(firstOr(v, node), `write "" for empty text`, "%s has no value", where)
		}
		s, e := r.text(v, where)
		if e != nil {
			return nil, e
		}
		r.mark(where, v)
		texts = append(texts, s)
	}
	return texts, nil
}

func (r *reader) duration(node ast.Node, key string) (time.Duration, *Error) {
	s, e := r.text(node, key)
	if e != nil {
		return 0, e
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, r.errorAtToken(first(node), "write a number with a unit, such as 90s, 5m or 2h30m", "%s: %s is not a duration", key, quote(s))
	}
	return d, nil
}

func (r *reader) size(node ast.Node) (int64, *Error) {
	s, e := r.text(node, "memory")
	if e != nil {
		return 0, e
	}
	n, err := ParseSize(s)
	if err != nil {
		return 0, r.errorAtToken(first(node), "write a size such as 256MiB; units are B, KiB, MiB, GiB, KB, MB and GB", "memory: %v", err)
	}
	return n, nil
}

func (r *reader) number(node ast.Node, key string) (int, *Error) {
	s, e := r.text(node, key)
	if e != nil {
		return 0, e
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, r.errorAtToken(first(node), "write a whole number, such as 3", "%s: %s is not a whole number", key, quote(s))
	}
	return n, nil
}

// mark remembers where a part of the file stands.
func (r *reader) mark(where string, node ast.Node) { r.places[where] = at(first(node)) }

// at is the position of a token.
func at(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// first returns the token that a node begins with. A block mapping's own token
// is its first colon, where nobody would look.
func first(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// firstOr is first(node), or first(around) for an element that is not there.
func firstOr(node, around ast.Node) *token.Token {
	if node == nil || node.GetToken() == nil {
		return first(around)
	}
	return first(node)
}

// kind names what a node is, for errors.
func kind(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	if node == nil {
		return "nothing"
	}
	return quote(node.GetToken().Value)
}
