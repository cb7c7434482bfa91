package task

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
)

// MaxFile is the largest job file, in bytes.
const MaxFile = 1 << 20

// What a job file may hold before it is parsed: the parser recurses, and
// builds a node for every token.
const (
	maxTokens = 2*MaxValues + 20_000 // the longest list, its commas, and the rest
	maxNested = 8                    // levels of brackets, and of dashes on a line: a job file needs 3
	maxIndent = 64                   // columns before a line's text: they bound the levels of block style
)

// parseYAML returns the top node of a job file: one document, without what
// makes YAML a language (anchors, aliases, tags, merge keys, directives).
func parseYAML(f *File, src []byte) (node ast.Node, e *Error) {
	if e := checkSource(f, src); e != nil {
		return nil, e
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	// The parser is not ours, and has been known to panic on malformed text.
	// A person's mistake must stay an error.
	defer func() {
		if p := recover(); p != nil {
			node, e = nil, f.ErrorAt("", fmt.Sprintf("the YAML parser gave up: %v", p), "simplify the file until it is read")
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if e := checkTokens(f, tokens); e != nil {
		return nil, e
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(f, src, err)
	}
	return oneDocument(f, file)
}

// errorAtToken returns an error at a token's place.
func (f *File) errorAtToken(t *token.Token, hint, format string, args ...any) *Error {
	e := &Error{File: f.source, Msg: fmt.Sprintf(format, args...), Hint: hint, Line: 1, Column: 1}
	if t != nil && t.Position != nil {
		e.Line, e.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	return e
}

// checkSource checks the bytes of a file before anything reads them.
func checkSource(f *File, src []byte) *Error {
	if len(src) > MaxFile {
		return f.ErrorAt("", fmt.Sprintf("the job file has %s, the most is %s", FormatSize(int64(len(src))), FormatSize(MaxFile)),
			"put long lists into an input file")
	}
	line := 1
	for rest := src; len(rest) > 0; line++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte("\n"))
		if i := badByte(text); i >= 0 {
			return &Error{
				File: f.source, Line: line, Column: utf8.RuneCount(text[:i]) + 1,
				Msg: fmt.Sprintf("byte 0x%02x is not text", text[i]), Hint: "save the file as UTF-8 text",
			}
		}
	}
	return nil
}

// badByte returns the index of the first byte that no text has, or -1.
func badByte(line []byte) int {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

// checkTokens refuses what would make the parser work or recurse out of
// proportion, and what job files do without.
func checkTokens(f *File, tokens token.Tokens) *Error {
	if len(tokens) > maxTokens {
		return f.errorAtToken(tokens[maxTokens], "put long lists into an input file", "the job file is too long")
	}
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
			if brackets == 0 && t.Position.Column > maxIndent && t.Type != token.CommentType {
				return f.errorAtToken(t, "indent by two spaces a level", "indented too deeply")
			}
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType:
			dashes++
		}
		if brackets > maxNested || dashes > maxNested {
			return f.errorAtToken(t, "a job file has at most lists within `sweep`", "nested too deeply")
		}
		if e := checkLanguage(f, t); e != nil {
			return e
		}
	}
	return nil
}

// checkLanguage refuses the parts of YAML that job files do without.
func checkLanguage(f *File, t *token.Token) *Error {
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return f.errorAtToken(t, "write the value out; quote text that begins with & or *", "job files have no anchors and aliases")
	case token.TagType:
		return f.errorAtToken(t, "leave the tag out; quote text that begins with !", "job files have no tags")
	case token.DirectiveType:
		return f.errorAtToken(t, "leave the line out", "job files have no directives")
	case token.MappingKeyType:
		return f.errorAtToken(t, "write KEY: VALUE; quote text that begins with ?", "job files have no complex keys")
	}
	return nil
}

// syntaxError turns the YAML library's error into ours.
func syntaxError(f *File, src []byte, err error) *Error {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return f.errorAtToken(nil, "check indentation, quotes and brackets", "%s", err)
	}
	msg := strings.ReplaceAll(strings.TrimSpace(ye.GetMessage()), "\t", `\t`)
	e := f.errorAtToken(ye.GetToken(), "", "%s", msg)
	switch line := lineOf(src, e.Line); {
	case strings.Contains(msg, `\t`):
		e.Hint = "indent with spaces, not with tabs"
	case bytes.Contains(line, []byte("{{")):
		e.Hint = `put quotes around templates, as in "{{.name}}"`
	default:
		e.Hint = "check indentation, quotes and brackets at and above this line"
	}
	return e
}

// lineOf returns the n-th line of src, from 1; nil if it has fewer.
func lineOf(src []byte, n int) []byte {
	for ; n > 1; n-- {
		_, src, _ = bytes.Cut(src, []byte("\n"))
	}
	line, _, _ := bytes.Cut(src, []byte("\n"))
	return line
}

func oneDocument(f *File, file *ast.File) (ast.Node, *Error) {
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.NullType:
		case body != nil:
			return nil, f.errorAtToken(first(d.Body), "write one file for each job", "a job file has one document, this is a second one")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, f.errorAtToken(nil, "begin it with a line such as `module: render.wasm`", "the job file is empty")
	}
	return body, nil
}
