package table

import (
	"strings"
	"testing"
)

// TestPrintable: what plays with a terminal does not pass, however it is cut into pieces;
// lines and columns do.
func TestPrintable(t *testing.T) {
	const text = "NAME\tSTATE\nGrüße 你\x1b[2J\u202e\tdone\r\n\xff\u009b1m\n"
	const want = "NAME\tSTATE\nGrüße 你" + " [2J\ufffd\tdone \n\ufffd 1m\n"
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := Printable(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}
