package guests

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"godwit/sandbox"
	"godwit/task"
)

// stdPackages are those whose tests run as guests, with what they read outside
// of their own folder and of its testdata.
var stdPackages = []struct {
	name  string
	reads []string
}{
	{"strings", nil}, {"bytes", nil}, {"sort", nil}, {"strconv", nil}, {"math", nil}, {"math/big", nil},
	{"unicode/utf8", nil}, {"regexp", nil}, {"encoding/json", []string{"internal/obscuretestdata"}},
	{"encoding/binary", nil},
	{"compress/flate", []string{"compress/testdata", "testdata"}}, {"container/heap", nil},
	{"hash/crc32", nil}, {"crypto/sha256", nil}, {"text/template", nil}, {"go/parser", []string{"go/printer", "go/types"}},
}

// stdSample runs where nothing is asked for: the quickest to build.
const stdSample = "container/heap"

// stdMemory is enough for each of them: math/big takes the most.
const stdMemory = 2 << 30

// TestStandardLibrary: the tests of Go's standard library pass in the sandbox,
// and pass when they move from process to process.
func TestStandardLibrary(t *testing.T) {
	for _, pkg := range stdPackages {
		if !chosen(pkg.name, pkg.name == stdSample) {
			continue
		}
		t.Run(pkg.name, func(t *testing.T) {
			tk := newTask(t, pkg.name, buildStd(t, pkg.name))
			tk.Args = []string{"-test.short", "-test.v=false"}
			// A relative path is one below PWD, as for Go's own runner.
			tk.Env = []task.EnvVar{{Name: "PWD", Value: "/goroot/src/" + pkg.name}, {Name: "GOROOT", Value: "/goroot"},
				{Name: "TMPDIR", Value: "/"}}
			tk.Files = stdFiles(t, pkg.name, pkg.reads)
			tk.Limits.Memory = stdMemory
			pool := hostPool(t)
			want := undisturbed(t, pool, tk)
			if !strings.Contains(tail(want), "PASS") {
				t.Errorf("undisturbed it did not say PASS:\n%s", tail(want))
			}
			j := travel(t, []*sandbox.Pool{pool}, tk, points(pkg.name, want.Fuel))
			compare(t, j, want)
			row(t, pkg.name, want, j)
		})
	}
}

func buildStd(t *testing.T, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "test.wasm")
	cmd := exec.Command("go", "test", "-c", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return out
}

// stdFiles gives a package's tests the folder they are in, what is in its
// testdata, and what else they read.
func stdFiles(t *testing.T, pkg string, reads []string) []sandbox.Input {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	var files []sandbox.Input
	for _, dir := range append([]string{pkg}, reads...) {
		err := filepath.WalkDir(filepath.Join(src, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(src, p)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			below := strings.TrimPrefix(rel, dir+"/")
			if path.Dir(below) == "." || strings.HasPrefix(below, "testdata/") || path.Base(dir) == "testdata" {
				files = append(files, sandbox.Input{Name: "goroot/src/" + rel, Path: p})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
