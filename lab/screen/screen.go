// Package screen draws text in a terminal: cut to its width, again in the same place, in colour where
// that is wanted.
package screen

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// usualWidth and usualHeight stand in where the system does not tell a terminal's size.
	usualWidth, usualHeight = 80, 24
	// leastWidth is what is drawn at least: below it nothing can be read.
	leastWidth = 20
	// ellipsis stands for what was cut.
	ellipsis = "…"
)

// IsTerminal reports whether w is a terminal that can be drawn on.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Size returns how many columns and lines a terminal has. COLUMNS wins over what the system says.
func Size(w io.Writer) (columns, lines int) {
	columns, lines = usualWidth, usualHeight
	if f, ok := w.(*os.File); ok {
		if c, l, ok := size(f); ok && c > 0 && l > 0 {
			columns, lines = c, l
		}
	}
	if c, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && c > 0 {
		columns = c
	}
	return max(columns, leastWidth), max(lines, 2)
}

// Cut returns the beginning of a line that fits so many columns, with an ellipsis where something is
// left out. Colours that Paint put in take no columns, and end where the line is cut.
func Cut(line string, columns int) string {
	if textWidth(line) <= columns {
		return line
	}
	var b strings.Builder
	used, painted := 0, false
	for rest := line; rest != ""; {
		if code, after, ok := cutCode(rest); ok {
			b.WriteString(code)
			painted, rest = code != plain, after
			continue
		}
		r, bytes := utf8.DecodeRuneInString(rest)
		if used+runeWidth(r) > columns-1 {
			break
		}
		b.WriteRune(r)
		used, rest = used+runeWidth(r), rest[bytes:]
	}
	b.WriteString(ellipsis)
	if painted {
		b.WriteString(plain)
	}
	return b.String()
}

func textWidth(s string) (n int) {
	for rest := s; rest != ""; {
		if _, after, ok := cutCode(rest); ok {
			rest = after
			continue
		}
		r, bytes := utf8.DecodeRuneInString(rest)
		n, rest = n+runeWidth(r), rest[bytes:]
	}
	return n
}

// wide are characters that take two columns: scripts of East Asia, and pictures (Unicode, annex 11).
var wide = []struct{ from, to rune }{{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	for _, w := range wide {
		if r >= w.from && r <= w.to {
			return 2
		}
	}
	return 1
}

// A Screen shows text in a terminal, each time in the place of what it showed before.
type Screen struct {
	Out   io.Writer
	shown int // lines
}

// Show replaces what is shown. Lines are cut to the terminal's width, and those left out that do not fit its
// height.
func (s *Screen) Show(text string) error {
	columns, height := Size(s.Out)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if most := height - 1; len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("%d more lines", left))
	}
	var b strings.Builder
	if s.shown > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.shown) // up, as in ECMA-48
	}
	for _, l := range lines {
		b.WriteString("\r\x1b[K" + Cut(l, columns) + "\n")
	}
	b.WriteString("\x1b[J") // what is left of before
	s.shown = len(lines)
	_, err := io.WriteString(s.Out, b.String())
	return err
}
