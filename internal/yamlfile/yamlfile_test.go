package yamlfile

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
)

var list = Format{
	Subject:   "the list",
	Has:       "lists have",
	MaxBytes:  1000,
	MaxTokens: 100,
	MaxNested: 2,
	Size:      func(n int64) string { return strconv.FormatInt(n, 10) + " B" },
	Hint: func(line []byte) string {
		if bytes.Contains(line, []byte("{{")) {
			return "quote it"
		}
		return ""
	},
	Second: "a second list",
	Long:   "make it shorter",
	Nested: "make it flat",
	One:    "leave one out",
	Empty:  "write something",
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ src, want, hint string }{
		{"a: 1\nb: [2]\n", "", ""},
		{"\uFEFFa: 1\r\n", "", ""},
		{"", "f:1:1: the list is empty", "write something"},
		{"# nothing\n", "f:1:1: the list is empty", "write something"},
		{strings.Repeat("#", 1001), "f:1:1: the list has 1001 B, the most is 1000 B", "make it shorter"},
		{"[" + strings.Repeat("1,", 100) + "]", "f:1:101: the list is too long", "make it shorter"},
		{"a: 1\n# ä\x01", "f:2:4: byte 0x01 is not text", "save the file as UTF-8 text"},
		{"a: \xff", "f:1:4: byte 0xff is not text", "save the file as UTF-8 text"},
		{"a: 1\rb: 2", "f:1:5: byte 0x0d is not text", "save the file as UTF-8 text"},
		{"a: [[[1]]]", "f:1:6: nested too deeply", "make it flat"},
		{"- - - 1", "f:1:5: nested too deeply", "make it flat"},
		{"a:\n" + strings.Repeat(" ", 70) + "b: 1", "f:2:71: indented too deeply", "indent by two spaces a level"},
		{"a: &x 1", "f:1:4: lists have no anchors and aliases", "write the value out; quote text that begins with & or *"},
		{"a: !!int 1", "f:1:4: lists have no tags", "leave the tag out; quote text that begins with !"},
		{"? a\n: 1", "f:1:1: lists have no complex keys", "write KEY: VALUE; quote text that begins with ?"},
		{"%YAML 1.2\n---\na: 1", "f:1:1: lists have no directives", "leave the line out"},
		{"a: 1\n---\nb: 2", "f:3:1: a second list", "leave one out"},
		{"a: {{x}}: 1", "f:1:", "quote it"},
		{"a: [1", "f:1:", "check indentation, quotes and brackets at and above this line"},
	} {
		_, e := list.Parse("f", []byte(tt.src))
		if (e == nil) != (tt.want == "") || e != nil && (!strings.HasPrefix(e.Error(), tt.want) || e.Hint != tt.hint) {
			t.Errorf("%.40q: got %v (%+v), want %q, %q", tt.src, e, e, tt.want, tt.hint)
		}
	}
	may := list
	may.Empty, may.LoneCR = "", true
	if node, e := may.Parse("f", []byte("# only\r# comments")); node != nil || e != nil {
		t.Errorf("a file that may be empty: got %v, %v", node, e)
	}
}

func TestPairs(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"a: 1\nb: x", "a=1 b=x"},
		{"{a: true, b: .5}", "a=true b=.5"},
		{"a: |\n  long\n", "a=long\n"},
		{"a: 1\nb: 2\na: 3", `f:3:1: "a" is given twice, first in line 1`},
		{"a: 1\nb:", `f:2:1: "b" has no value`},
		{"[1, 2]", "f:1:1: a list is a mapping of keys to values, this is a list"},
		{"word", `f:1:1: a list is a mapping of keys to values, this is "word"`},
	} {
		node, e := list.Parse("f", []byte(tt.src))
		if e != nil {
			t.Fatal(e)
		}
		pairs, e := Pairs("f", node, "a list", "")
		got := ""
		for _, p := range pairs {
			text, ok := Text(p.Value)
			if !ok {
				t.Errorf("%q: %s is no text", tt.src, p.Key)
			}
			got = strings.TrimPrefix(got+" "+p.Key+"="+text, " ")
		}
		if e != nil {
			got = e.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.src, got, tt.want)
		}
	}
}

func TestUnknownKey(t *testing.T) {
	node, _ := list.Parse("f", []byte("colour: red"))
	pairs, _ := Pairs("f", node, "a list", "")
	for hint, known := range map[string][]string{
		`did you mean "color"?`:         {"size", "color"},
		"the keys of a list are a, bcd": {"a", "bcd"},
	} {
		if e := UnknownKey("f", pairs[0].Token, known, "a list"); e.Hint != hint ||
			e.Error() != `f:1:1: unknown key "colour"` {
			t.Errorf("got %v (%s), want %s", e, e.Hint, hint)
		}
	}
}

func TestKind(t *testing.T) {
	for src, want := range map[string]string{
		"a: {b: 1}":                      "a mapping",
		"a: [1]":                         "a list",
		"a: ~":                           "nothing",
		"a: 1":                           `"1"`,
		"a: " + strings.Repeat("x", 100): `"` + strings.Repeat("x", 64) + `"...`,
	} {
		node, e := list.Parse("f", []byte(src))
		if e != nil {
			t.Fatal(e)
		}
		it := node.(ast.MapNode).MapRange()
		it.Next()
		if got := Kind(it.Value()); got != want {
			t.Errorf("%.20q: got %s, want %s", src, got, want)
		}
	}
	if Kind(nil) != "nothing" || First(nil) != nil || At(nil) != (Position{1, 1}) {
		t.Error("nothing is something, or somewhere")
	}
}

func TestError(t *testing.T) {
	for want, e := range map[string]*Error{
		"m":        {Msg: "m", Line: 3},
		"f: m":     {File: "f", Msg: "m"},
		"f:3:4: m": {File: "f", Msg: "m", Line: 3, Column: 4},
	} {
		if e.Error() != want {
			t.Errorf("got %s, want %s", e, want)
		}
	}
}
