package table

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCellIsNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "lpas": "lpas", "a=b": "a=b", "0": "0", "-1": "-1", "-1.5": "-1.5", "+3e4": "+3e4", "-.5E-3": "-.5E-3",
		"+12.": "+12.", "'": "'", "ä": "ä", " a": " a", "\xff": "\xff",
		"=1+1": "'=1+1", `=HYPERLINK("http://evil.example","a")`: `'=HYPERLINK("http://evil.example","a")`,
		"@SUM(A1)": "'@SUM(A1)", "+cmd|'/c calc'!A0": "'+cmd|'/c calc'!A0", "-2+3": "'-2+3", "-1.5+A1": "'-1.5+A1",
		"+1\n": "'+1\n", "-": "'-", "+": "'+", "-e": "'-e", "-1e": "'-1e", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx",
		"  =1": "'  =1", "\u00a0=1": "'\u00a0=1", "\ufeff=1": "'\ufeff=1", "\x00=1": "'\x00=1", "\xff=1": "'\xff=1",
		"\uff1d1": "'\uff1d1", "-Inf": "'-Inf",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q is the cell %q, want %q", text, got, want)
		}
	}
}

// FuzzCell: a cell is the text itself or the text behind an apostrophe, and never begins like a formula.
func FuzzCell(f *testing.F) {
	for _, text := range []string{"", "-1.5", "=1", " \t=1", "\ufeff@a", "\xff+1", "+1e9+A1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Cell(text)
		if got != text && got != "'"+text {
			t.Fatalf("%q is the cell %q", text, got)
		}
		if got != "" && strings.Contains("=+-@\t\r\n", got[:1]) && strings.Trim(got, "+-.eE0123456789") != "" {
			t.Errorf("%q is the cell %q", text, got)
		}
	})
}

func TestCSVNeutralizesEveryCell(t *testing.T) {
	var b bytes.Buffer
	c := NewCSV(&b, true)
	for _, row := range [][]string{{"=a", "b"}, {"-1", `@"x,y"`}} {
		if err := c.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "'=a,b\r\n-1,\"'@\"\"x,y\"\"\"\r\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) != 2 {
		t.Errorf("read back: %v, %v", rows, err)
	}
}

// readBack are the files that write tables for this program to read, whose cells must not change.
var readBack = []string{"lab/testbed/impose/bed.go", "lab/testbed/plan/jobs.go"}

// TestTablesAreWrittenByCSV finds tables that are written without CSV, whose cells nobody neutralizes.
func TestTablesAreWrittenByCSV(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if err != nil || d.IsDir() {
			if name == ".git" || name == "out" || name == "bin" {
				return filepath.SkipDir
			}
			return err
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || name == "lab/table/csv.go" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if bytes.Contains(content, []byte("csv.NewWriter(")) && !slices.Contains(readBack, name) {
			t.Errorf("%s writes a table with encoding/csv: use CSV, or list it if only this program reads it", name)
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were looked at: %v", seen, err)
	}
}
