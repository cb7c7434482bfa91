package task

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"8 queens: 92":                     "8 queens: 92",
		"Grüße, 你好, שלום, 🙂":               "Grüße, 你好, שלום, 🙂",
		"one\ntwo\tthree\r":                "one two three ",
		"\x1b]0;title\x07 and \x1b[2J":     " ]0;title  and  [2J",
		"\u009b2J":                         " 2J",
		"\x9b2J":                           "\ufffd2J",
		"half \xe2\x82":                    "half \ufffd",
		"a\u202egnp.exe":                   "a\ufffdgnp.exe",
		"a\u2066b\u2069\u200f\u061c\u200e": "a\ufffdb\ufffd\ufffd\ufffd\ufffd",
		"in\u200bvisible\ufeff":            "in\ufffdvisible\ufffd",
		"two\u2028lines\u0085":             "two lines ",
		"a replacement \ufffd stays":       "a replacement \ufffd stays",
		"\x00\x7f":                         "  ",
	} {
		if got := Printable(text, 1000); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestPrintableCuts: a cut splits no character, and what is cut is long enough.
func TestPrintableCuts(t *testing.T) {
	s := strings.Repeat("a你🙂\x1b", 5)
	for n := range len(s) + 9 {
		got := Printable(s, n)
		if len(got) > n || !utf8.ValidString(got) || len(got) < min(n, len(s))-utf8.UTFMax {
			t.Errorf("at most %d bytes: %q", n, got)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("plain", 9)
	f.Add("\x1b[2J\u202e\xff\n", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = max(0, min(most, 1<<12))
		got := Printable(s, most)
		if len(got) > most || !utf8.ValidString(got) || Printable(got, most) != got {
			t.Fatalf("%q became %q", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q became %q", s, got)
			}
		}
	})
}
