package house

import (
	"cmp"
	"go/ast"
	"slices"
)

// A Size is how large one thing is: its lines, methods or fields.
type Size struct {
	What string // a type as room.Type, a file's path, or a function with its place
	N    int
}

// largestFirst sorts sizes, those of equal size by name.
func largestFirst(sizes []Size) []Size {
	slices.SortFunc(sizes, func(a, b Size) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.What, b.What)) })
	return sizes
}

// above counts the sizes over a limit.
func above(sizes []Size, limit int) int {
	n := 0
	for _, s := range sizes {
		if s.N > limit {
			n++
		}
	}
	return n
}

// fileLines has the lines of each source file, the largest first.
func fileLines(files []*File) []Size {
	var out []Size
	for _, f := range files {
		out = append(out, Size{f.Path, len(f.Lines)})
	}
	return largestFirst(out)
}

// functionLines has the lines of each function and method, without its comment, the
// largest first.
func functionLines(files []*File) []Size {
	var out []Size
	for _, f := range files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				out = append(out, Size{f.At(fn) + " " + fn.Name.Name, f.Line(fn.End()) - f.Line(fn.Pos()) + 1})
			}
		}
	}
	return largestFirst(out)
}

// typeMethods has the number of methods of each type that has any, those that it
// embeds aside, the largest first. A method that has a body for each system counts
// once.
func typeMethods(files []*File) []Size {
	methods := map[string]map[string]bool{}
	for _, f := range files {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			name := f.Room + "." + receiver(fn)
			if methods[name] == nil {
				methods[name] = map[string]bool{}
			}
			methods[name][fn.Name.Name] = true
		}
	}
	var out []Size
	for name, ms := range methods {
		out = append(out, Size{name, len(ms)})
	}
	return largestFirst(out)
}

// receiver returns the name of a method's type.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// typeFields has the number of fields of each named struct, the largest first. An
// embedded type is one field.
func typeFields(files []*File) []Size {
	var out []Size
	for _, f := range files {
		for _, d := range f.AST.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					if st, ok := t.Type.(*ast.StructType); ok {
						out = append(out, Size{f.Room + "." + t.Name.Name, st.Fields.NumFields()})
					}
				}
			}
		}
	}
	return largestFirst(out)
}
