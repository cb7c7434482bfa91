package house

import (
	"cmp"
	"go/ast"
	"path"
	"slices"
	"strconv"
)

// Arrows says how the files of one room refer to one another.
//
// There is an arrow from a file to another of its room if it names something that
// the other declares: a constant, variable, function or type, or, after a dot, a
// method whose name begins with a small letter and that one type of the room alone
// has. (Other methods are not told apart without a type checker.) However often it
// does, that is one arrow. The files are then put in an order, whoever uses above
// what is used, in which as few arrows as possible run Up, from a file to one above
// it. A room in layers has 0; where any file may call any other, half of the arrows
// at most run up.
type Arrows struct {
	Room    string
	Up, All int
	Order   []string // the files, from the top to the bottom
}

// Share is the part of the arrows that run up, 0 to .5.
func (a Arrows) Share() float64 { return float64(a.Up) / float64(max(a.All, 1)) }

// arrowsOf measures one room, of whose source files it is given all.
func arrowsOf(room string, files []*File) Arrows {
	refs := references(files)
	order := layers(refs)
	a := Arrows{Room: room}
	for i, from := range order {
		a.Order = append(a.Order, path.Base(files[from].Path))
		for j, to := range order {
			if refs[from][to] {
				a.All++
				if j < i {
					a.Up++
				}
			}
		}
	}
	return a
}

// references says of each file which others it refers to.
func references(files []*File) [][]bool {
	names, methods := map[string][]int{}, map[string][]int{}
	owners := map[string]map[string]bool{} // of methods
	for i, f := range files {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				for _, n := range declared(d) {
					names[n.Name] = append(names[n.Name], i)
				}
				continue
			}
			n := fn.Name.Name
			methods[n] = append(methods[n], i)
			if owners[n] == nil {
				owners[n] = map[string]bool{}
			}
			owners[n][receiver(fn)] = true
		}
	}
	refs := make([][]bool, len(files))
	for i, f := range files {
		refs[i] = make([]bool, len(files))
		to := func(others []int) {
			for _, j := range others {
				if j != i {
					refs[i][j] = true
				}
			}
		}
		imported := importNames(f.AST)
		for _, id := range f.AST.Unresolved {
			if !imported[id.Name] {
				to(names[id.Name])
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && !s.Sel.IsExported() && len(owners[s.Sel.Name]) == 1 {
				to(methods[s.Sel.Name])
			}
			return true
		})
	}
	return refs
}

// declared returns the names that a declaration at the top of a file makes known in
// its package; of a method none.
func declared(d ast.Decl) []*ast.Ident {
	var out []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				out = append(out, s.Name)
			case *ast.ValueSpec:
				out = append(out, s.Names...)
			}
		}
	}
	return out
}

// importNames are the names by which a file knows the packages that it imports.
func importNames(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = true
	}
	return names
}

// layers orders the files so that few references run from a later to an earlier
// one. It begins with those that refer to more files than refer to them, and then
// moves one file at a time to where it helps most, until no such move helps.
func layers(refs [][]bool) []int {
	order := make([]int, len(refs))
	lead := make([]int, len(refs)) // how many more files it refers to than refer to it
	for i := range refs {
		order[i] = i
		for j := range refs {
			if refs[i][j] {
				lead[i]++
				lead[j]--
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lead[b], lead[a]) })
	for i := 0; i < len(order); {
		if to := bestPlace(refs, order, i); to != i {
			v := order[i]
			order = slices.Insert(slices.Delete(order, i, i+1), to, v)
			i = 0
			continue
		}
		i++
	}
	return order
}

// bestPlace returns where the file at i would have to be for the fewest references
// to run up, i itself if no place is better.
func bestPlace(refs [][]bool, order []int, i int) int {
	v, place, least := order[i], i, 0
	saved := 0
	for k := i - 1; k >= 0; k-- {
		saved += one(refs[order[k]][v]) - one(refs[v][order[k]])
		if saved < least {
			place, least = k, saved
		}
	}
	saved = 0
	for k := i + 1; k < len(order); k++ {
		saved += one(refs[v][order[k]]) - one(refs[order[k]][v])
		if saved < least {
			place, least = k, saved
		}
	}
	return place
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
