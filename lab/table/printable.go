package table

import (
	"io"
	"strings"
	"unicode/utf8"

	"godwit/task"
)

// Printable returns a writer that shows on w what people read, whoever wrote parts of it: line
// ends and tabs pass, of the rest what task.Printable lets pass. A character may come in
// several pieces.
func Printable(w io.Writer) io.Writer { return &printer{w: w} }

type printer struct {
	w    io.Writer
	rest []byte // of a character that is not whole
}

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) {
	all := append(p.rest, b...)
	whole := len(all)
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if c := all[len(all)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[len(all)-n:]) {
				whole = len(all) - n
			}
			break
		}
	}
	var out strings.Builder
	for text := string(all[:whole]); text != ""; {
		i := strings.IndexAny(text, "\n\t")
		if i < 0 {
			i = len(text)
		}
		// A character of one byte becomes one of up to utf8.UTFMax.
		out.WriteString(task.Printable(text[:i], utf8.UTFMax*i))
		if i < len(text) {
			out.WriteByte(text[i])
			i++
		}
		text = text[i:]
	}
	p.rest = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(p.w, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}
