package scenario

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

// MaxFile is the largest scenario file, in bytes.
const MaxFile = 1 << 20

// What a file may hold before it is parsed: the parser recurses, and builds a
// node for every token.
const (
	maxTokens = 200_000
	maxNested = 6  // levels of brackets, and of dashes on a line: a file needs 3
	maxIndent = 64 // columns before a line's text: they bound the levels of block style
)

// A position is a line and a column of a file, from 1.
type position struct{ line, column int }

// A source is a file that is being read.
type source struct {
	name   string
	places map[string]position // of keys: "hosts.slots", "placement[1]"
}

// errorAt returns an error at a token's place.
func (s *source) errorAt(t *token.Token, hint, format string, args ...any) *task.Error {
	p := at(t)
	return &task.Error{File: s.name, Line: p.line, Column: p.column, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

func at(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// parse returns the top node of a file: one document, without what makes YAML a
// language (anchors, aliases, tags, merge keys, directives).
func (s *source) parse(text []byte) (node ast.Node, e *task.Error) {
	if e := s.checkBytes(text); e != nil {
		return nil, e
	}
	// The parser is not ours, and has been known to panic on malformed text.
	defer func() {
		if p := recover(); p != nil {
			node, e = nil, s.errorAt(nil, "simplify the file until it is read", "the YAML parser gave up: %v", p)
		}
	}()
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(text, []byte("\uFEFF"))))
	if e := s.checkTokens(tokens); e != nil {
		return nil, e
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, s.syntaxError(err)
	}
	return s.oneDocument(file)
}

func (s *source) checkBytes(text []byte) *task.Error {
	if len(text) > MaxFile {
		return s.errorAt(nil, "replay long workloads from a log", "the file has %s, the most is %s",
			task.FormatSize(int64(len(text))), task.FormatSize(MaxFile))
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f {
			e := s.errorAt(nil, "save the file as UTF-8 text", "byte 0x%02x is not text", text[i])
			start := bytes.LastIndexByte(text[:i], '\n') + 1
			e.Line, e.Column = 1+bytes.Count(text[:i], []byte("\n")), 1+utf8.RuneCount(text[start:i])
			return e
		}
		i += size
	}
	return nil
}

// checkTokens refuses what would make the parser work or recurse out of
// proportion, and what scenarios do without.
func (s *source) checkTokens(tokens token.Tokens) *task.Error {
	if len(tokens) > maxTokens {
		return s.errorAt(tokens[maxTokens], "replay long workloads from a log", "the file is too long")
	}
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
			if brackets == 0 && t.Position.Column > maxIndent && t.Type != token.CommentType {
				return s.errorAt(t, "indent by two spaces a level", "indented too deeply")
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
			return s.errorAt(t, "write the value out; quote text that begins with a special character", "scenarios are plain keys and values")
		}
		if brackets > maxNested || dashes > maxNested {
			return s.errorAt(t, "a scenario has at most lists within classes of its workload", "nested too deeply")
		}
	}
	return nil
}

func (s *source) syntaxError(err error) *task.Error {
	const hint = "check indentation, quotes and brackets at and above this line"
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return s.errorAt(nil, hint, "%v", err)
	}
	return s.errorAt(ye.GetToken(), hint, "%s", strings.ReplaceAll(strings.TrimSpace(ye.GetMessage()), "\t", `\t`))
}

func (s *source) oneDocument(file *ast.File) (ast.Node, *task.Error) {
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.NullType || d.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, s.errorAt(first(d.Body), "write one file for each experiment", "the file has a second document")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, s.errorAt(nil, "begin it with a line such as `synth: {kind: deug}`", "the file is empty")
	}
	return body, nil
}

// first returns the token that a node begins with. A block mapping's own token
// is its first colon, where nobody would look.
func first(node ast.Node) *token.Token {
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}
