package house

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Survey is what was measured of the module. Sizes are of its source without
// tests, and have the largest first.
type Survey struct {
	Methods, Fields  []Size // of types
	Files, Functions []Size // in lines
	Arrows           []Arrows
	Tests            []Tested
	Undocumented     []string // places and names
	Long             []string // places of lines, also in tests
	Dangling         []string // places and documents, also in tests
	SourceLines      int
}

// Tested is how much of a room, with the rooms below it, is tests.
type Tested struct {
	Room          string
	Source, Tests int // lines
}

// Share is the number of test lines to a source line.
func (t Tested) Share() float64 { return float64(t.Tests) / float64(max(t.Source, 1)) }

// Measure surveys the module whose root is given.
func Measure(root string) (*Survey, error) {
	files, err := Load(root)
	if err != nil {
		return nil, err
	}
	var source []*File
	rooms := map[string][]*File{}
	for _, f := range files {
		if f.Test() {
			continue
		}
		source = append(source, f)
		rooms[f.Room] = append(rooms[f.Room], f)
	}
	s := &Survey{
		Methods:      typeMethods(source),
		Fields:       typeFields(source),
		Files:        fileLines(source),
		Functions:    functionLines(source),
		Undocumented: undocumentedNames(source),
		Long:         longLines(files, mostColumns),
		Dangling:     danglingCitations(root, files),
		Tests:        testedRooms(files),
	}
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		s.Arrows = append(s.Arrows, arrowsOf(room, rooms[room]))
	}
	slices.SortStableFunc(s.Arrows, func(a, b Arrows) int { return cmp.Compare(b.Share(), a.Share()) })
	for _, f := range source {
		s.SourceLines += len(f.Lines)
	}
	return s, nil
}

// testedRooms counts the lines of each room at the top of the module, of those below
// internal, and of the parsers that have a limit of their own.
func testedRooms(files []*File) []Tested {
	rooms := map[string]*Tested{}
	for _, f := range files {
		for _, room := range countedIn(f.Room) {
			t := rooms[room]
			if t == nil {
				t = &Tested{Room: room}
				rooms[room] = t
			}
			if f.Test() {
				t.Tests += len(f.Lines)
			} else {
				t.Source += len(f.Lines)
			}
		}
	}
	var out []Tested
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		out = append(out, *rooms[room])
	}
	return out
}

// countedIn returns the rooms among which a room's lines count.
func countedIn(room string) []string {
	parts := strings.SplitN(room, "/", 3)
	top := parts[0]
	if top == "internal" && len(parts) > 1 {
		top = strings.Join(parts[:2], "/")
	}
	if _, ok := leastTests[room]; ok && room != top {
		return []string{top, room}
	}
	return []string{top}
}
