package house

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// longLines has the place of each line of more than columns characters, of which a
// tab is one.
func longLines(files []*File, columns int) []string {
	var out []string
	for _, f := range files {
		for i, line := range f.Lines {
			if utf8.RuneCountInString(line) > columns {
				out = append(out, fmt.Sprintf("%s:%d", f.Path, i+1))
			}
		}
	}
	return out
}

// document is a document as comments name it, perhaps with a path.
var document = regexp.MustCompile(`[\w./-]*\w\.md\b`)

// danglingCitations has the place and name of each document that a comment cites and
// that is not below root, in docs or docs/spec, or beside the file. A document's
// address elsewhere, which has a colon, is no such citation.
func danglingCitations(root string, files []*File) []string {
	var out []string
	for _, f := range files {
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				text := regexp.MustCompile(`\w+://\S+`).ReplaceAllString(c.Text, "")
				for _, name := range document.FindAllString(text, -1) {
					if !isDocument(root, f.Room, strings.TrimLeft(name, "/")) {
						out = append(out, f.At(c)+" "+name)
					}
				}
			}
		}
	}
	return out
}

func isDocument(root, room, name string) bool {
	return slices.ContainsFunc([]string{"", "docs", "docs/spec", room}, func(dir string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(dir, name))))
		return err == nil
	})
}

// undocumentedNames has the place and name of everything that the source exports
// without a comment. Programs export nothing.
func undocumentedNames(files []*File) []string {
	var out []string
	for _, f := range files {
		if f.AST.Name.Name == "main" {
			continue
		}
		for _, n := range Undocumented(f.AST) {
			out = append(out, f.At(n)+" "+n.Name)
		}
	}
	return out
}

// Undocumented returns the exported names of a file that have no doc comment: its
// functions, types, constants and variables, and the methods of its exported types,
// those aside that everybody knows.
func Undocumented(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d)) && !slices.Contains(wellKnown, d.Name.Name)) {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if d.Doc == nil && !documented(s) {
					out = append(out, declared(&ast.GenDecl{Specs: []ast.Spec{s}})...)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(n *ast.Ident) bool { return !n.IsExported() })
}

// wellKnown are methods whose meaning the standard library says.
var wellKnown = []string{"Error", "Unwrap", "String", "Len", "Less", "Swap"}

func documented(s ast.Spec) bool {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc != nil
	case *ast.ValueSpec:
		return s.Doc != nil || s.Comment != nil
	}
	return true
}
