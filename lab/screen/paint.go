package screen

import (
	"io"
	"os"
	"strings"
)

// A Colour is how a word is drawn where colours are wanted.
type Colour string

// The colours, which every terminal has in shades that its owner chose (ECMA-48, SGR).
const (
	Good   Colour = "\x1b[32m" // green
	Notice Colour = "\x1b[33m" // yellow
	Bad    Colour = "\x1b[31m" // red
	Strong Colour = "\x1b[1m"
	Faint  Colour = "\x1b[2m"

	plain = "\x1b[0m"
)

// Coloured reports whether what goes to w may have colours: a terminal, where NO_COLOR is not set
// (no-color.org).
func Coloured(w io.Writer) bool { return IsTerminal(w) && os.Getenv("NO_COLOR") == "" }

// A Painter colours words, or leaves them as they are.
type Painter bool

// Paint returns a text in a colour. The text has none itself.
func (p Painter) Paint(c Colour, text string) string {
	if !p || text == "" {
		return text
	}
	return string(c) + text + plain
}

// cutCode cuts off a colour at the beginning of s.
func cutCode(s string) (code, after string, ok bool) {
	for _, c := range []string{string(Good), string(Notice), string(Bad), string(Strong), string(Faint), plain} {
		if after, ok := strings.CutPrefix(s, c); ok {
			return c, after, true
		}
	}
	return "", s, false
}
