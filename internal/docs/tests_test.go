package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTestsAreThere: the tests that the documents name, as `DIRECTORY: TestName`, are there.
func TestTestsAreThere(t *testing.T) {
	named := regexp.MustCompile("`([a-z/]+): (Test[A-Za-z]+)`")
	n := 0
	for path, text := range documents(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n++
			if !hasTest(t, filepath.Join(root, m[1]), m[2]) {
				t.Errorf("%s names %s of %s, which is not there", path, m[2], m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no document names a test")
	}
}

// hasTest reports whether a directory's tests have a function of that name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
