package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A File is one Go file that somebody wrote: it was not generated.
type File struct {
	Path  string // from the module's root, with slashes
	Room  string // its directory, from the module's root
	Lines []string
	AST   *ast.File
	Fset  *token.FileSet
}

// Test reports whether the file belongs to the tests of its room.
func (f *File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Line returns the number of the line on which pos is, from 1.
func (f *File) Line(pos token.Pos) int { return f.Fset.Position(pos).Line }

// At says where a node begins, as PATH:LINE.
func (f *File) At(n ast.Node) string { return fmt.Sprintf("%s:%d", f.Path, f.Line(n.Pos())) }

// Load parses every Go file below root, sorted by path. It leaves out testdata,
// directories that begin with a dot, examples (they are guests) and generated code.
func Load(root string) ([]*File, error) {
	var files []*File
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if leftOut(rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parse(rel, src)
		if err == nil && !ast.IsGenerated(f.AST) {
			files = append(files, f)
		}
		return err
	})
	return files, err
}

// leftOut reports whether a directory, from the root, has no source of the module.
func leftOut(rel string) bool {
	base := path.Base(rel)
	return rel != "." && strings.HasPrefix(base, ".") || base == "testdata" ||
		slices.Contains([]string{"examples", "out", "bin"}, rel)
}

func parse(rel string, src []byte) (*File, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, rel, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	return &File{Path: rel, Room: path.Dir(rel), Lines: lines, AST: parsed, Fset: fset}, nil
}
