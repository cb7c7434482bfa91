package mapping

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// The parts of a path are those of GNU parallel.
func TestParts(t *testing.T) {
	for _, c := range []struct{ in, bare, name, dir, stem string }{
		{"a.b/c.d.txt", "a.b/c.d", "c.d.txt", "a.b", "c.d"},
		{"a.b/c", "a.b/c", "c", "a.b", "c"},
		{"plain", "plain", "plain", ".", "plain"},
		{"/x/y.", "/x/y.", "y.", "/x", "y."},
		{".z", "", ".z", ".", ""},
	} {
		for part, want := range map[string]string{"": c.in, ".": c.bare, "/": c.name, "//": c.dir, "/.": c.stem} {
			if got := partOf(c.in, part); got != want {
				t.Errorf("{%s} of %q is %q, want %q", part, c.in, got, want)
			}
		}
	}
}

// What an argument becomes is a template that comes to the same for every row, and braces that mean nothing
// stay.
func TestTemplates(t *testing.T) {
	values, shown := []string{"d/one.txt", "two"}, "d/one.txt two"
	for arg, want := range map[string]string{
		"{}":                  "d/one.txt two",
		"{#}:{1/.}-{2}{2}":    "7:one-twotwo",
		`{"json": {}}`:        `{"json": d/one.txt two}`,
		"{3} {x} {{1}} {{.in": "{3} {x} {d/one.txt} {{.in",
		"none":                "none",
	} {
		of := &pieces{names: []string{"1", "2"}}
		text, alone, err := of.template(arg)
		if err != nil {
			t.Fatal(err)
		}
		if alone != (arg == "none") {
			t.Errorf("%s is said to have no placeholder: %v", arg, alone)
		}
		axes := []task.Axis{{Name: axis, Table: &task.Table{Rows: 1}}}
		spec := task.Job{Args: []string{text}, Sweep: task.Sweep{Axes: axes}}
		for _, c := range of.columns() {
			table := spec.Sweep.Axes[0].Table
			table.Columns = append(table.Columns, task.Column{Name: c, Longest: task.MaxCell})
		}
		cells := func(*task.Table, uint64) ([]string, error) { return of.cells(nil, values, shown, 7), nil }
		inv, err := spec.ExpandBy(0, cells)
		if err != nil || inv.Args[0] != want || of.fill(arg, values, shown, 7) != want {
			t.Errorf("%s is %q, %v, and %q, want %q", arg, inv.Args, err, of.fill(arg, values, shown, 7), want)
		}
	}
}

func TestParseSources(t *testing.T) {
	for line, want := range map[string]string{
		"m.wasm":                     "[m.wasm] []",
		"m.wasm ::: a b ::: 1":       "[m.wasm] [{[a b] } {[1] }]",
		"m.wasm :::: x y.csv ::: 1":  "[m.wasm] [{[] x} {[] y.csv} {[1] }]",
		"m.wasm :::":                 "::: has no values",
		"m.wasm ::: ::: a":           "::: has no values",
		"m.wasm ::: a ::::":          ":::: has no file",
		"::: a :::: - :::: p.ndjson": "[] [{[a] } {[] -} {[] p.ndjson}]",
	} {
		rest, sources, err := ParseSources(strings.Fields(line))
		got := fmt.Sprint(rest, sources)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// Two sources with columns make their product, and a name that both have is refused.
func TestProduct(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := newProduct([]Source{{Path: "-"}, {Path: path}}, strings.NewReader("x\ny\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	err = p.each(func(values []string) error {
		_, err := fmt.Fprintf(&got, "%s;", p.shown(values))
		return err
	})
	if want := "x 1 2;x 3 4;y 1 2;y 3 4;"; err != nil || got.String() != want {
		t.Errorf("%s, %v, want %s", got.String(), err, want)
	}
	if _, err := newProduct([]Source{{Path: path}, {Path: path}}, nil); err == nil {
		t.Error("two columns of one name were taken")
	}
}

func TestHalt(t *testing.T) {
	for text, at := range map[string]uint64{"now,fail=3": 3, "now,fail=10%": 10, "now,fail=0.5%": 1, "never": 101,
		"soon,fail=3": 3,
		"":            101} {
		h, err := ParseHalt(text)
		if err != nil || h.reached(at-1, 100) && at > 1 || !h.reached(at, 100) && at <= 100 {
			t.Errorf("%s: %v, %v; want %d of 100", text, h, err, at)
		}
	}
	for _, text := range []string{"now", "now,fail=0", "now,fail=0%", "now,fail=101%", "now,done=1", "later,fail=1",
		"soon", "soon,fail=0", "now,fail=NaN%"} {
		if h, err := ParseHalt(text); err == nil {
			t.Errorf("%s is %v", text, h)
		}
	}
}

// A log is read again as it was written, also one whose last line was cut off.
func TestLogAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{0, 1, 7} {
		err := l.write(input{seq, "a\tb\nc"}, &message.TaskSummary{Failed: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.file.WriteString("9"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenLog(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := fmt.Sprint(again.printed); got != "[{0 2} {7 8}]" {
		t.Errorf("printed were %s", got)
	}
	retry, err := OpenLog(path, true, true)
	if err != nil || len(retry.printed) > 0 {
		t.Errorf("failures that are to run again count as printed: %v, %v", retry, err)
	}
	retry.Close()
	if err := os.WriteFile(path, []byte("x\ny\t\t\t\t\t\t\t\t\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path, true, false); err == nil {
		t.Error("another file was read as a log")
	}
}
