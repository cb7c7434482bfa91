package mapping

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/failure"
	"godwit/task"
	"godwit/task/table"
)

// axis is the name of the sweep's only axis.
const axis = "in"

// placeholder is what an argument may have for a part of its input, as GNU parallel has them: {} {.} {/} {//}
// {/.} {#}, and the same of the source of a number, or of a column.
var placeholder = regexp.MustCompile(`\{(#|[^{}/.]*)(//|/\.|/|\.)?\}`)

// A piece is what a placeholder stands for: a value, or a part of one as of a path.
type piece struct {
	value int    // of the values of a row; see whole and sequence
	part  string // "", ".", "/", "//" or "/."
	brace bool   // one stands before it, which a template would take for one of its own
}

const (
	whole    = -1 // what is shown of the input
	sequence = -2 // the number of the task, from 1 on
)

// of returns what the piece of a row is.
func (p piece) of(values []string, shown string, seq uint64) string {
	before := ""
	if p.brace {
		before = "{"
	}
	switch p.value {
	case sequence:
		return before + strconv.FormatUint(seq, 10)
	case whole:
		return before + partOf(shown, p.part)
	}
	return before + partOf(values[p.value], p.part)
}

// partOf returns a part of a path: without its extension (.), without its directory (/), without either (/.),
// or the directory alone (//).
func partOf(s, part string) string {
	switch part {
	case ".":
		if i := strings.LastIndexByte(s, '.'); i >= 0 && i+1 < len(s) && !strings.Contains(s[i:], "/") {
			return s[:i]
		}
	case "/":
		return s[strings.LastIndexByte(s, '/')+1:]
	case "/.":
		return partOf(partOf(s, "/"), ".")
	case "//":
		return path.Dir(s)
	}
	return s
}

// pieces are those that arguments use, each once: the columns of the table but its first.
type pieces struct {
	names []string // of the values of a row: "1", "2" of sources without names, and those of columns
	used  []piece
}

// template turns the text of an argument into a template of the job, and notes the pieces that it uses. alone
// is true for one that has none.
func (p *pieces) template(arg string) (text string, alone bool, err error) {
	var b strings.Builder
	alone = true
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(arg, -1) {
		name, part := arg[m[2]:m[3]], ""
		if m[4] >= 0 {
			part = arg[m[4]:m[5]]
		}
		value, found := p.find(name)
		switch {
		case !found && p.named():
			return "", false, p.unknown(arg[m[0]:m[1]], name)
		case !found: // braces of another meaning
			continue
		case name == "#" && part != "":
			continue
		}
		text := escape(arg[at:m[0]])
		before, brace := strings.CutSuffix(text, "{")
		b.WriteString(before)
		b.WriteString("{{." + p.reference(piece{value, part, brace}) + "}}")
		at, alone = m[1], false
	}
	b.WriteString(escape(arg[at:]))
	return b.String(), alone, nil
}

// escape keeps braces of a text from being a template's.
func escape(s string) string { return strings.ReplaceAll(s, "{{", `{{"{{"}}`) }

// find returns the value that a placeholder names.
func (p *pieces) find(name string) (value int, found bool) {
	switch name {
	case "":
		return whole, true
	case "#":
		return sequence, true
	}
	if i := slices.Index(p.names, name); i >= 0 {
		return i, true
	}
	i := slices.Index(p.names, table.Identifier(strings.TrimSpace(name)))
	return i, i >= 0
}

// named reports whether there are columns: then braces that name none are a mistake.
func (p *pieces) named() bool {
	return slices.ContainsFunc(p.names, func(n string) bool { _, err := strconv.Atoi(n); return err != nil })
}

func (p *pieces) unknown(whole, name string) error {
	hint := "there are " + strings.Join(p.names, ", ")
	if near := task.Nearest(name, p.names); near != "" {
		hint = fmt.Sprintf("did you mean {%s}?", near)
	}
	return failure.Usage(hint, "%s names no column", whole)
}

// reference returns what a template calls a piece.
func (p *pieces) reference(of piece) string {
	if of == (piece{value: whole}) {
		return axis
	}
	i := slices.Index(p.used, of)
	if i < 0 {
		i = len(p.used)
		p.used = append(p.used, of)
	}
	return fmt.Sprintf("%s.%s", axis, columnName(i))
}

func columnName(i int) string { return fmt.Sprintf("c%d", i+1) }

// columns are those of the table.
func (p *pieces) columns() []string {
	columns := []string{""}
	for i := range p.used {
		columns = append(columns, columnName(i))
	}
	return columns
}

// cells is a row of the table, written over row.
func (p *pieces) cells(row, values []string, shown string, seq uint64) []string {
	cells := append(row[:0], shown)
	for _, u := range p.used {
		cells = append(cells, u.of(values, shown, seq))
	}
	return cells
}
