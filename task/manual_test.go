package task

import (
	"os"
	"strings"
	"testing"
)

// TestManual: the job file that docs/jobs.md shows is one.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(manual), "```yaml\nname: render\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("docs/jobs.md shows no job file")
	}
	f, err := ParseFile("jobs.md", []byte("name: render\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	if f.Module != "render.wasm" || f.Class != "tiles" || f.Weight != 1 {
		t.Errorf("got %+v", f)
	}
}
