package table

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSV writes a table for spreadsheets. Its cells may contain texts of others, because Cell neutralizes each of them.
type CSV struct{ w *csv.Writer }

// NewCSV returns a writer of a table in CSV, with the line ends of RFC 4180 if crlf is set. Call Flush at the end.
func NewCSV(w io.Writer, crlf bool) *CSV {
	out := csv.NewWriter(w)
	out.UseCRLF = crlf
	return &CSV{out}
}

// Write writes a row.
func (c *CSV) Write(row []string) error {
	safe := make([]string, len(row))
	for i, cell := range row {
		safe[i] = Cell(cell)
	}
	return c.w.Write(safe)
}

// Flush writes what is left, and returns the first error of all writes.
func (c *CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

// plainNumber matches numbers that spreadsheets read as such.
var plainNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// formulaStarts are the characters with which a spreadsheet begins a formula (OWASP, CSV Injection), with the full-width
// forms that some of them accept.
const formulaStarts = "=+-@\uff1d\uff0b\uff0d\uff20"

// Cell returns a text as a cell that no spreadsheet executes: with an apostrophe before it if it begins like a formula,
// with a tab or with a line end. Spaces and invisible characters before a formula are skipped as spreadsheets do. Other
// texts and numbers such as -1.5 stay as they are.
func Cell(text string) string {
	if text == "" || plainNumber.MatchString(text) {
		return text
	}
	ignored := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == utf8.RuneError }
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, ignored))
	if strings.ContainsRune("\t\r\n", rune(text[0])) || first != utf8.RuneError && strings.ContainsRune(formulaStarts, first) {
		return "'" + text
	}
	return text
}
