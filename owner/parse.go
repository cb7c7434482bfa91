package owner

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"godwit/task"
)

// Limits of a file of rules. The parser recurses: nesting is bounded first.
const (
	maxFile   = 64 << 10
	maxNested = 4 // brackets; rules need one
	maxIndent = 64
)

// Parse reads a file of rules: YAML, one `key: value` a line, with comments.
// What it does not mention keeps its default; an empty file is Default. The name
// is for errors, which are *task.Error and carry line, column and a hint.
func Parse(name string, src []byte) (Rules, error) {
	r := Default()
	pairs, e := topPairs(name, src)
	if e != nil {
		return r, e
	}
	for _, p := range pairs {
		k := findKey(p.key)
		if k == nil {
			return r, unknown(name, p, Keys(), "the rules")
		}
		if e := apply(name, &r, k, p); e != nil {
			return r, e
		}
	}
	return r, nil
}

// A pair is a key of a mapping and its value.
type pair struct {
	key   string
	at    *token.Token // of the key
	value ast.Node
}

func apply(name string, r *Rules, k *key, p pair) error {
	if k.entries == nil {
		s, ok := text(p.value)
		if !ok {
			return errorAt(name, p.value.GetToken(), k.hint, "%s is one value", k.name)
		}
		if err := k.set(r, s); err != nil {
			return errorAt(name, p.value.GetToken(), k.hint, "%s: %v", k.name, err)
		}
		return nil
	}
	entries, e := pairsOf(name, p.value, k.name, k.hint)
	if e != nil {
		return e
	}
	k.forget(r)
	// Particular days first: daily fills what they leave.
	for _, daily := range []bool{false, true} {
		for _, c := range entries {
			if (c.key == "daily" && k.children != nil) != daily {
				continue
			}
			if k.children != nil && !contains(k.children, c.key) {
				return unknown(name, c, k.children, k.name)
			}
			s, ok := text(c.value)
			if !ok {
				return errorAt(name, c.value.GetToken(), k.hint, "%s.%s is one value", k.name, c.key)
			}
			if err := k.entries(r, c.key, s); err != nil {
				return errorAt(name, c.value.GetToken(), k.hint, "%s.%s: %v", k.name, c.key, err)
			}
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func unknown(name string, p pair, known []string, what string) error {
	hint := fmt.Sprintf("the keys of %s are %s", what, strings.Join(known, ", "))
	if near := task.Nearest(strings.ToLower(p.key), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return errorAt(name, p.at, hint, "unknown key %q", clip(p.key))
}

// clip keeps messages short whatever a file holds.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

func errorAt(name string, t *token.Token, hint, format string, args ...any) error {
	e := &task.Error{File: name, Line: 1, Column: 1, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if t != nil && t.Position != nil {
		e.Line, e.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	return e
}

// topPairs returns the pairs of a file, in its order.
func topPairs(name string, src []byte) (pairs []pair, err error) {
	if len(src) > maxFile {
		return nil, errorAt(name, nil, "leave out what is not a rule", "the file has %s, the most is %s", task.FormatSize(int64(len(src))), task.FormatSize(maxFile))
	}
	if i := badByte(src); i >= 0 {
		e := errorAt(name, nil, "save the file as UTF-8 text", "byte 0x%02x is not text", src[i]).(*task.Error)
		e.Line = 1 + bytes.Count(src[:i], []byte("\n"))
		e.Column = i - bytes.LastIndexByte(src[:i], '\n')
		return nil, e
	}
	defer func() {
		if p := recover(); p != nil { // the parser is not ours
			pairs, err = nil, errorAt(name, nil, "simplify the file until it is read", "the YAML parser gave up: %v", p)
		}
	}()
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(src, []byte("\uFEFF"))))
	if err := checkTokens(name, tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(name, err)
	}
	var top ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.NullType || d.Body.Type() == ast.CommentType:
		case top != nil:
			return nil, errorAt(name, d.Body.GetToken(), "keep one of the two", "the file has a second document")
		default:
			top = d.Body
		}
	}
	if top == nil {
		return nil, nil
	}
	return pairsOf(name, top, "a file of rules", "write KEY: VALUE lines, such as `idle_time_to_run: 5m`")
}

func badByte(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		// A carriage return alone would be a line to the parser and none to Edit.
		alone := r == '\r' && (i+1 == len(b) || b[i+1] != '\n')
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f || alone {
			return i
		}
		i += size
	}
	return -1
}

// checkTokens refuses what would make the parser recurse, and what makes YAML a
// language.
func checkTokens(name string, tokens token.Tokens) error {
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
			if t.Position.Column > maxIndent && t.Type != token.CommentType {
				return errorAt(name, t, "indent by two spaces", "indented too deeply")
			}
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType:
			dashes++
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return errorAt(name, t, "write the value out; quote text that begins with a special character", "rules are plain keys and values")
		}
		if brackets > maxNested || dashes > maxNested {
			return errorAt(name, t, "rules are nested once, in hours and overlays", "nested too deeply")
		}
	}
	return nil
}

func syntaxError(name string, err error) error {
	const hint = "check indentation, quotes and brackets at and above this line"
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return errorAt(name, nil, hint, "%v", err)
	}
	return errorAt(name, ye.GetToken(), hint, "%s", strings.ReplaceAll(strings.TrimSpace(ye.GetMessage()), "\t", `\t`))
}

// pairsOf returns the pairs of a mapping in file order, each key once.
func pairsOf(name string, node ast.Node, what, hint string) ([]pair, error) {
	m, ok := node.(ast.MapNode)
	if !ok {
		return nil, errorAt(name, node.GetToken(), hint, "%s is a mapping of keys to values", what)
	}
	var pairs []pair
	lines := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		t := it.Key().GetToken()
		p := pair{key: t.Value, at: t, value: it.Value()}
		if line, found := lines[p.key]; found {
			return nil, errorAt(name, t, "keep one of the two", "%q is given twice, first in line %d", clip(p.key), line)
		}
		lines[p.key] = t.Position.Line
		if p.value == nil || p.value.Type() == ast.NullType {
			return nil, errorAt(name, t, "give it a value, or leave it out", "%q has no value", clip(p.key))
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}
