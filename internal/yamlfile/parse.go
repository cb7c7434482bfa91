package yamlfile

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxIndent is how many columns there may be before a line's text: they bound the
// levels of block style.
const maxIndent = 64

// A Format is what files of one kind may hold, and what people are told of those that
// hold more. The parser recurses, and builds a node for every token: so much is
// bounded before it begins.
type Format struct {
	Subject string // what errors call the file, such as "the job file"
	Has     string // what errors on the language begin with, such as "job files have"

	MaxBytes  int
	MaxTokens int
	MaxNested int                      // levels of brackets, and of dashes on a line
	Size      func(bytes int64) string // how a number of bytes is written
	Hint      func(line []byte) string // on a syntax error in the line, "" for the usual; nil for none
	LoneCR    bool                     // a carriage return without a newline may be there

	Second string // the error on a second document

	// Hints on a file that is too long, one that is nested too deeply, one with a
	// second document, and one that is empty. Where Empty is "", it may be.
	Long, Nested, One, Empty string
}

// Parse returns the top node of a file, nil of one that is empty and may be: one
// document, without what makes YAML a language (anchors, aliases, tags, merge keys,
// directives). The name is for errors.
func (f *Format) Parse(name string, src []byte) (node ast.Node, e *Error) {
	if e := f.checkBytes(name, src); e != nil {
		return nil, e
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	// The parser is not ours, and has been known to panic on malformed text.
	// A person's mistake must stay an error.
	defer func() {
		if p := recover(); p != nil {
			node, e = nil, ErrorAt(name, nil, "simplify the file until it is read", "the YAML parser gave up: %v", p)
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if e := f.checkTokens(name, tokens); e != nil {
		return nil, e
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, f.syntaxError(name, src, err)
	}
	return f.oneDocument(name, file)
}

// checkBytes checks the bytes of a file before anything reads them.
func (f *Format) checkBytes(name string, src []byte) *Error {
	if len(src) > f.MaxBytes {
		return ErrorAt(name, nil, f.Long, "%s has %s, the most is %s",
			f.Subject, f.Size(int64(len(src))), f.Size(int64(f.MaxBytes)))
	}
	if i := f.badByte(src); i >= 0 {
		e := ErrorAt(name, nil, "save the file as UTF-8 text", "byte 0x%02x is not text", src[i])
		start := bytes.LastIndexByte(src[:i], '\n') + 1
		e.Line, e.Column = 1+bytes.Count(src[:i], []byte("\n")), 1+utf8.RuneCount(src[start:i])
		return e
	}
	return nil
}

// badByte returns the index of the first byte that no text has, or -1.
func (f *Format) badByte(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		alone := r == '\r' && !f.LoneCR && (i+1 == len(src) || src[i+1] != '\n')
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f || alone {
			return i
		}
		i += size
	}
	return -1
}

// checkTokens refuses what would make the parser work or recurse out of proportion,
// and what plain files do without.
func (f *Format) checkTokens(name string, tokens token.Tokens) *Error {
	if len(tokens) > f.MaxTokens {
		return ErrorAt(name, tokens[f.MaxTokens], f.Long, "%s is too long", f.Subject)
	}
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
			if brackets == 0 && t.Position.Column > maxIndent && t.Type != token.CommentType {
				return ErrorAt(name, t, "indent by two spaces a level", "indented too deeply")
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
		if brackets > f.MaxNested || dashes > f.MaxNested {
			return ErrorAt(name, t, f.Nested, "nested too deeply")
		}
		if what, hint := language(t); what != "" {
			return ErrorAt(name, t, hint, "%s no %s", f.Has, what)
		}
	}
	return nil
}

// language names the part of the language YAML that a token begins, which plain files
// do without, and says how to do without it; "" of other tokens.
func language(t *token.Token) (what, hint string) {
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors and aliases", "write the value out; quote text that begins with & or *"
	case token.TagType:
		return "tags", "leave the tag out; quote text that begins with !"
	case token.DirectiveType:
		return "directives", "leave the line out"
	case token.MappingKeyType:
		return "complex keys", "write KEY: VALUE; quote text that begins with ?"
	}
	return "", ""
}

// syntaxError turns the YAML library's error into ours.
func (f *Format) syntaxError(name string, src []byte, err error) *Error {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return ErrorAt(name, nil, "check indentation, quotes and brackets", "%s", err)
	}
	msg := strings.ReplaceAll(strings.TrimSpace(ye.GetMessage()), "\t", `\t`)
	e := ErrorAt(name, ye.GetToken(), "check indentation, quotes and brackets at and above this line", "%s", msg)
	if strings.Contains(msg, `\t`) {
		e.Hint = "indent with spaces, not with tabs"
	} else if f.Hint != nil {
		if hint := f.Hint(lineOf(src, e.Line)); hint != "" {
			e.Hint = hint
		}
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

func (f *Format) oneDocument(name string, file *ast.File) (ast.Node, *Error) {
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.NullType || d.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, ErrorAt(name, First(d.Body), f.One, "%s", f.Second)
		default:
			body = d.Body
		}
	}
	if body == nil && f.Empty != "" {
		return nil, ErrorAt(name, nil, f.Empty, "%s is empty", f.Subject)
	}
	return body, nil
}
