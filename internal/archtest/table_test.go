package archtest

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"godwit/internal/docs"
)

var update = flag.Bool("update", false, "write the table of imports into docs/architecture.md")

// TestImportTable: the table of imports in docs/architecture.md says what the rules say.
func TestImportTable(t *testing.T) {
	if err := docs.Generate(rootPath+"/docs/architecture.md", "imports", importTable(), *update); err != nil {
		t.Error(err)
	}
}

// importTable is the rules as a table in Markdown, the core first.
func importTable() string {
	var b strings.Builder
	b.WriteString("| package | pure | may import from this module | outside the standard library |\n" +
		"|---|---|---|---|\n")
	rooms := slices.SortedFunc(maps.Keys(rules), func(x, y string) int {
		if rules[x].core != rules[y].core {
			if rules[x].core {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	for _, room := range rooms {
		r, pure := rules[room], ""
		if r.core {
			pure = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", room, pure, quoted(r.own), quoted(r.outside))
	}
	return b.String()
}

// quoted lists names in order, each as code.
func quoted(names []string) string {
	if slices.Contains(names, "*") {
		return "anything"
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, n := range sorted {
		sorted[i] = "`" + strings.TrimSuffix(n, "/") + "`"
	}
	return strings.Join(sorted, " ")
}
