package screen

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	red := Painter(true).Paint(Bad, "abcdef")
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"", 3, ""}, {"Grüße", 5, "Grüße"}, {"Grüße!", 5, "Grüß…"},
		{"你好吗", 6, "你好吗"}, {"你好吗", 5, "你好…"}, {"你好吗", 4, "你…"}, {"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{red, 6, red}, {red, 4, string(Bad) + "abc…" + plain}, {red + "gh", 7, string(Bad) + "abcdef" + plain + "…"},
		{"\xff\xff\xff\xff", 3, "\ufffd\ufffd…"},
	} {
		if got := Cut(c.line, c.columns); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.line, c.columns, got, c.want)
		}
		if n := textWidth(Cut(c.line, c.columns)); n > c.columns {
			t.Errorf("Cut(%q, %d) has %d columns", c.line, c.columns, n)
		}
	}
}

// What is shown next stands where the last was, and nothing of that is left.
func TestShow(t *testing.T) {
	t.Setenv("COLUMNS", "20")
	var b bytes.Buffer
	s := Screen{Out: &b}
	for _, text := range []string{"a\nb\n", "a line of more than twenty columns\n"} {
		if err := s.Show(text); err != nil {
			t.Fatal(err)
		}
	}
	want := "\r\x1b[Ka\n\r\x1b[Kb\n\x1b[J" + "\x1b[2A\r\x1b[Ka line of more than…\n\x1b[J"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if err := s.Show(strings.Repeat("x\n", 100)); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != usualHeight-1 || !strings.Contains(b.String(), "78 more lines") {
		t.Errorf("%d lines in a terminal of %d: %q", lines, usualHeight, b.String())
	}
}

func TestSize(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "120": 120, "3": leastWidth, "-1": 80, "wide": 80} {
		t.Setenv("COLUMNS", columns)
		if got, lines := Size(new(bytes.Buffer)); got != want || lines != usualHeight {
			t.Errorf("COLUMNS=%s: %d columns, %d lines", columns, got, lines)
		}
	}
}

// Colours go to terminals alone, and to none where NO_COLOR says so.
func TestColours(t *testing.T) {
	if Coloured(new(bytes.Buffer)) || IsTerminal(new(bytes.Buffer)) {
		t.Error("a buffer is no terminal")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("NO_COLOR", "1")
	if Coloured(null) {
		t.Error("NO_COLOR is not heeded")
	}
	if got := fmt.Sprint(Painter(false).Paint(Good, "a"), Painter(true).Paint(Good, "")); got != "a" {
		t.Errorf("got %q", got)
	}
}
