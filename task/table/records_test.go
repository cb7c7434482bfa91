package table

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"godwit/task"
)

// read returns all that a text has: the columns, then a row a line, each with its line.
func read(kind, text string) (string, error) {
	r, err := Read(kind, strings.NewReader(text))
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%q", r.Columns())
	for {
		cells, line, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out += fmt.Sprintf(" %d:%q", line, cells)
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"lines", "a\nb c\n\nd", `[""] 1:["a"] 2:["b c"] 3:[""] 4:["d"]`},
		{"lines", "\ufeffa\r\nb\r\n", `[""] 1:["a"] 2:["b"]`},
		{"lines", "", `[""]`},
		{"csv", "alpha,learning rate\n1,\"a,\n\"\"b\"\n2,\n", `["alpha" "learning_rate"] 2:["1" "a,\n\"b"] 4:["2" ""]`},
		{"tsv", "a\t2b\n1\t\"2\n", `["a" "_2b"] 2:["1" "\"2"]`},
		{"jsonl", "{\"b\":\"é\\n\",\"a\":1.50}\n{\"a\":[1],\"b\":null}\n", `["a" "b"] 1:["1.50" "é\n"] 2:["[1]" "null"]`},
	} {
		if got, err := read(c.kind, c.text); err != nil || got != c.want {
			t.Errorf("%s %q: %s, %v, want %s", c.kind, c.text, got, err, c.want)
		}
	}
	for _, c := range []struct{ kind, text, want string }{
		{"csv", "a,b\n1,2\n3\n", "line 3: 1 values, the first line names 2 columns"},
		{"csv", "a,a\n", `line 1: two columns are called "a"`},
		{"csv", "a,\n", "line 1: column 2 has no name"},
		{"csv", "", "it is empty: its first line names the columns"},
		{"csv", "a\n\"b\n", `line 2: extraneous or missing " in quoted-field`},
		{"tsv", "a\n1\t2", "line 2: 2 values, the first line names 1 columns"},
		{"jsonl", "{\"a\":1}\n{\"b\":1}", `line 2: it has no "a", which the first line has`},
		{"jsonl", "{\"a\":1}\n[]", "line 2: it is no object of JSON: json: cannot unmarshal array into Go value of type " +
			"map[string]json.RawMessage"},
		{"lines", "a\n" + strings.Repeat("x", task.TablePage), "line 2: it is longer than 256KiB"},
		{"xlsx", "", `"xlsx" is none of lines, csv, tsv, jsonl`},
	} {
		if got, err := read(c.kind, c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s %.20q: %s, %v, want %s", c.kind, c.text, got, err, c.want)
		}
	}
}

// Whatever a file has, every row that is read is one that the table's columns allow, or the error says where.
func FuzzRead(f *testing.F) {
	for i, text := range []string{"a\nb", "a,b\n1,\"2\"\n", "a\tb\n1\t2\n", "{\"a\":1}\n{\"a\":\"x\"}\n"} {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		r, err := Read(task.SourceKinds[int(kind)%len(task.SourceKinds)], strings.NewReader(text))
		if err != nil {
			return
		}
		columns := r.Columns()
		if sorted := slices.Compact(slices.Sorted(slices.Values(columns))); len(sorted) != len(columns) {
			t.Fatalf("columns %q", columns)
		}
		for range len(text) + 1 {
			cells, _, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && err.Error() == "" {
					t.Fatal("an error that says nothing")
				}
				return
			}
			if len(cells) != len(columns) {
				t.Fatalf("row %q of columns %q", cells, columns)
			}
		}
		t.Fatalf("more rows than bytes")
	})
}

// What a header says becomes a name that can stand in a template, and stays as it is where it is one.
func TestIdentifier(t *testing.T) {
	for name, want := range map[string]string{
		"alpha":         "alpha",
		"Alpha_2":       "Alpha_2",
		"learning rate": "learning_rate",
		"2nd":           "_2nd",
		"é":             "_",
		"a.b/c":         "a_b_c",
		"":              "",
	} {
		got := Identifier(name)
		if got != want || got != Identifier(got) {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
		if got == "" {
			continue
		}
		made, file := write(t, []string{got}, [][]string{{"x"}})
		s := task.Sweep{Axes: []task.Axis{{Name: "x", Table: made}}}
		if err := s.Validate(); err != nil || len(file) != 2 {
			t.Errorf("%q is no name of a column: %v", got, err)
		}
	}
}
