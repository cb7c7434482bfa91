package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	specName  = regexp.MustCompile(`(\S*?)([a-z-]+\.md)`)
	citation  = regexp.MustCompile(`docs/spec/([a-z]+\.md)(?: section ([0-9]+(?:\.[0-9]+)*))?`)
	heading   = regexp.MustCompile(`(?m)^#+ ([0-9]+(?:\.[0-9]+)*)`)
	specFiles = filepath.Join(rootPath, "docs", "spec")
)

// sections reads the specifications of docs/spec, and returns the numbers of their
// headings by file.
func sections(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(specFiles, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no specification: %v", specFiles, err)
	}
	out := map[string]map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		numbers := map[string]bool{}
		for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
			numbers[h[1]] = true
		}
		out[filepath.Base(name)] = numbers
	}
	return out
}

// TestCitationsLeadSomewhere: a comment that cites a specification names a file of
// docs/spec by its path, and a section that it has.
func TestCitationsLeadSomewhere(t *testing.T) {
	specs := sections(t)
	cited := 0
	for _, f := range load(t) {
		for _, group := range f.ast.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, m := range specName.FindAllStringSubmatch(text, -1) {
				if specs[m[2]] != nil && m[2] != "README.md" && !strings.HasSuffix(m[1], "docs/spec/") {
					t.Errorf("%s: %s is cited without its path, docs/spec/%s", f.at(group), m[2], m[2])
				}
			}
			for _, m := range citation.FindAllStringSubmatch(text, -1) {
				cited++
				if numbers := specs[m[1]]; numbers == nil || m[2] != "" && !numbers[m[2]] {
					t.Errorf("%s: there is no %s", f.at(group), m[0])
				}
			}
		}
	}
	if cited == 0 {
		t.Error("nothing is cited: is the pattern out of date?")
	}
}
