// Package spectable reads the tables of docs/spec, so that tests compare what the code
// holds of a publication with what the specification has.
package spectable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Read returns the tables below a heading of a file of docs/spec, in their order, up to
// the next heading: rows of cells, the head of the table first. root is the path to the
// module's root; heading is the text behind the heading's marks, or its beginning. The
// test ends where there is no such table.
func Read(t testing.TB, root, file, heading string) [][][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "spec", file))
	if err != nil {
		t.Fatal(err)
	}
	tables, found := parse(string(text), heading)
	if !found || len(tables) == 0 {
		t.Fatalf("%s has no table below %q", file, heading)
	}
	return tables
}

func parse(text, heading string) (tables [][][]string, found bool) {
	within, open := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			if within {
				break
			}
			within = strings.HasPrefix(strings.TrimSpace(strings.TrimLeft(line, "#")), heading)
			found = found || within
			continue
		}
		row, isRow := strings.CutPrefix(line, "|")
		switch {
		case !within || !isRow:
			open = false
			continue
		case !open:
			tables, open = append(tables, nil), true
		case strings.HasPrefix(row, "---"):
			continue
		}
		cells := strings.Split(strings.TrimSuffix(row, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		last := len(tables) - 1
		tables[last] = append(tables[last], cells)
	}
	return tables, found
}
