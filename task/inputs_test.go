package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Directories stand for all below them, patterns for what they match, and a name with a bracket for the file
// of that name, as it always did.
func TestFilesThatStandForMany(t *testing.T) {
	all := []string{"data/a", "data/b/c", "data2/x", "in/1.png", "in/2.png", "in/b/3.png", "in/4.jpg", "odd[1].txt", "{{"}
	for name, c := range map[string]struct {
		text string
		want string // of task 1
	}{
		"directory":           {"files: [data/]\n", "data/a data/b/c"},
		"directory of a task": {"sweep: {d: [in, data]}\nfiles: ['{{.d}}/']\n", "data/a data/b/c"},
		"within another":      {"files: [data/, data/b/, data/, data/a]\n", "data/a data/b/c"},
		"pattern":             {"files: ['in/*.png']\n", "in/1.png in/2.png"},
		"of any depth":        {"files: ['in/**/*.png', 'data/?']\n", "data/a in/1.png in/2.png in/b/3.png"},
		"a name with bracket": {"files: ['odd[1].txt']\n", "odd[1].txt"},
		"braces":              {"files: ['??']\n", "{{"},
	} {
		j := jobReading(t, "module: a.wasm\n"+c.text, all...)
		inv, err := j.Expand(j.Sweep.Count() - 1)
		if got := strings.Join(refNames(inv.Files), " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestFilesRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no match":       {"files: [x, 'in/*.png']\n", `job.yaml:2:12: pattern "in/*.png" matches no file`},
		"bad pattern":    {"files: ['in/[a']\n", "job.yaml:2:9: file name \"in/[a\" is not a pattern"},
		"ends in stars":  {"files: ['in/**']\n", `job.yaml:2:9: pattern "in/**" ends in **`},
		"no directory":   {"files: [data/]\n", `job.yaml:2:9: file "data/" is not among the inputs`},
		"file in a file": {"files: [x, x/]\n", "is both a file and the directory of"},
		"too many":       {"files: ['many/*']\n", "job.yaml:2:8: 1025 file names, the most is 1024"},
	} {
		f, err := ParseFile("job.yaml", []byte("module: a.wasm\n"+c.text))
		if err != nil {
			t.Fatal(err)
		}
		inputs := map[string]FileRef{"x": {CID: RawCID(nil)}, "x/y": {CID: RawCID(nil)}}
		for i := range MaxFiles + 1 {
			inputs[fmt.Sprint("many/", i)] = FileRef{CID: RawCID(nil)}
		}
		if _, err = f.Job(RawCID(nil), inputs, "lab", time.Unix(1e9, 0), make([]byte, NonceSize)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A stranger's job that names a directory as often as it may costs no more than its inputs.
func TestDirectoryNamedOften(t *testing.T) {
	j := &Job{Files: slices.Repeat([]string{"a/"}, MaxFiles)}
	for i := range MaxInputs {
		j.Inputs = append(j.Inputs, FileRef{Name: fmt.Sprintf("a/%05d", i)})
	}
	refs, err := j.named(nil)
	if err != nil || len(refs) != MaxInputs {
		t.Errorf("%d files, %v", len(refs), err)
	}
}

func TestCheckSizes(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\nfiles: [a, b/]\n"))
	if err != nil {
		t.Fatal(err)
	}
	few := map[string]int64{"a": MaxTaskInputs, "b/c": 1}
	if err := f.CheckSizes(few); err != nil {
		t.Error(err)
	}
	many := map[string]int64{}
	for i := range MaxJobInputs/MaxTaskInputs + 1 {
		many[fmt.Sprint("b/", i)] = MaxTaskInputs
	}
	for want, sizes := range map[string]map[string]int64{
		"job.yaml:2:12: file b/": many,
		"job.yaml:2:9: file a: ": {"a": MaxTaskInputs + 1},
	} {
		if err := f.CheckSizes(sizes); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
