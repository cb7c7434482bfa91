package submission

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/blocks"
	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/task"
	"godwit/task/table"
)

// written makes a directory of those files, by name and content, beside a module, and a job file.
func written(t *testing.T, job string, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files["m.wasm"], files["job.yaml"] = string(noop.Module), "module: m.wasm\n"+job
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tree() map[string]string {
	return map[string]string{"data/a": "1", "data/b/c": "2", "in/x.png": "3", "in/y/z.png": "4", "in/.hidden.png": "5",
		"odd[1]": "6"}
}

// A job finds the files of directories and patterns, and a file whose name looks like a pattern.
func TestInputsFound(t *testing.T) {
	for text, want := range map[string]string{
		"files: [data/]":                "data/a data/b/c",
		"files: [data/, 'in/**/*.png']": "data/a data/b/c in/x.png in/y/z.png",
		"files: ['odd[1]']":             "odd[1]",
		"files: [in/]":                  "in/.hidden.png in/x.png in/y/z.png",
	} {
		s, err := Read(filepath.Join(written(t, text+"\n", tree()), "job.yaml"), nil, sandbox.CheckModule)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var names []string
		for _, in := range s.inputs {
			names = append(names, in.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What is wrong with inputs is said with its place and a way out, before anything is sent.
func TestInputsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"files: ['*.txt']":    `:2:9: file *.txt: the pattern matches no file`,
		"files: [data]":       `:2:9: file data: not a regular file`,
		"files: [m, out/]":    `:2:9: file m: no such file`,
		"files: [gone/]":      `:2:9: file gone/: no such file`,
		"files: [empty/]":     `:2:9: file empty/: the directory has no files`,
		"files: ['in/[a']":    `:2:9: file in/[a: file name "in/[a" is not a pattern`,
		"files: [loop/]":      `:2:9: file loop/out: path escapes from parent`,
		"files: ['in/**']":    `:2:9: file in/**: pattern "in/**" ends in **`,
		"files: ['../*.png']": `:2:9: file name "../*.png" leaves the sandbox`,
	} {
		dir := written(t, text+"\n", tree())
		if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "loop"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, "loop/out")); err != nil {
			t.Skip("links cannot be made here")
		}
		_, err := Read(filepath.Join(dir, "job.yaml"), nil, sandbox.CheckModule)
		e, ok := err.(*task.Error)
		if !ok || !strings.Contains(err.Error(), want) || e.Hint == "" {
			t.Errorf("%s: %v, want %s with a hint", text, err, want)
		}
	}
}

// A storing node keeps what it is sent, and counts.
type storing struct {
	files map[task.CID][]byte
	posts int
	job   *api.SubmitRequest
	sent  func() // called with each file
}

func (n *storing) client(t *testing.T) *api.Client {
	return apitest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			if n.files[task.CID(strings.TrimPrefix(r.URL.Path, "/v1/files/"))] == nil {
				w.WriteHeader(http.StatusNotFound)
			}
			return
		case r.URL.Path == "/v1/files":
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			c, err := blocks.CIDOfBytes(b)
			if err != nil {
				t.Error(err)
			}
			n.files[c] = b
			n.posts++
			if n.sent != nil {
				n.sent()
			}
			_ = json.NewEncoder(w).Encode(api.FileReply{CID: c, Size: int64(len(b))})
		case r.URL.Path == "/v1/keys":
			_ = json.NewEncoder(w).Encode(api.KeyReply{})
		default:
			n.job = &api.SubmitRequest{}
			if err := json.NewDecoder(r.Body).Decode(n.job); err != nil {
				t.Error(err)
			}
			_ = json.NewEncoder(w).Encode(api.SubmitReply{ID: "job"})
		}
	})
}

// Inputs are stored as a stream that is told of; what the node has of them already is not sent again.
func TestInputsImported(t *testing.T) {
	files := tree()
	files["data/large"] = string(bytes.Repeat([]byte{7}, hashFirst))
	path := filepath.Join(written(t, "files: [data/]\n", files), "job.yaml")
	n := &storing{files: map[task.CID][]byte{}}
	client := n.client(t)
	for round, posts := range []int{4, 3} { // the module and the small ones
		s, err := Read(path, nil, sandbox.CheckModule)
		if err != nil {
			t.Fatal(err)
		}
		var told []int64
		s.Import = func(done, total int64) { told = append(told, done, total) }
		n.posts = 0
		if _, err := Submit(t.Context(), client, s); err != nil {
			t.Fatal(err)
		}
		if len(n.job.Inputs) != 3 || n.posts != posts {
			t.Errorf("round %d: %d files were sent, want %d; inputs are %v", round, n.posts, posts, n.job.Inputs)
		}
		for _, in := range n.job.Inputs {
			if string(n.files[in.CID]) != files[in.Name] || in.Size != int64(len(files[in.Name])) {
				t.Errorf("%s is %s of %d bytes", in.Name, in.CID, in.Size)
			}
		}
		if end := told[len(told)-2:]; !slices.Equal(end, []int64{hashFirst + 2, hashFirst + 2}) {
			t.Errorf("it was told in the end that %v are stored", end)
		}
	}
}

// A file that somebody writes to while it is imported is an error that names it; the job is not sent.
func TestInputThatChanges(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"longer":  func(p string) error { return os.WriteFile(p, []byte("longer than before"), 0o600) },
		"touched": func(p string) error { return os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) },
		"gone":    os.Remove,
	} {
		dir := written(t, "files: [data/, 'in/*']\n", tree())
		s, err := Read(filepath.Join(dir, "job.yaml"), nil, sandbox.CheckModule)
		if err != nil {
			t.Fatal(err)
		}
		n := &storing{files: map[task.CID][]byte{}}
		n.sent = func() {
			if n.posts == 2 { // the module and data/a are there
				if err := change(filepath.Join(dir, "data/b/c")); err != nil {
					t.Error(err)
				}
			}
		}
		_, err = Submit(t.Context(), n.client(t), s)
		want := "file data/b/c: it changed while it was read"
		if name == "gone" {
			want = "file data/b/c: no such file"
		}
		if err == nil || !strings.Contains(err.Error(), want) || n.job != nil {
			t.Errorf("%s: %v, a job was sent: %v; want %s", name, err, n.job != nil, want)
		}
	}
}

// Axes are read from files beside the job file, and each task's own files are found by their rows. The table
// that is stored has those rows; nothing of it is left on this machine.
func TestTablesOfJobFile(t *testing.T) {
	files := tree()
	files["cases.csv"] = "alpha,in dir\n0.5,data/\n1.5,in/y/\n"
	const text = `sweep:
  image: {files: "in/**/*.png"}
  case: {csv: cases.csv}
zip: [case, image]
args: ["{{.image.name}}", "{{.image.stem}}", "{{.image}}", "{{.case.alpha}}"]
files: ["{{.image.path}}", "{{.case.in_dir}}"]
`
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Read(filepath.Join(written(t, text, files), "job.yaml"), nil, sandbox.CheckModule)
	if err != nil {
		t.Fatal(err)
	}
	n := &storing{files: map[task.CID][]byte{}}
	if _, err := Submit(t.Context(), n.client(t), s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	f, err := task.ParseFile("job.yaml", []byte(n.job.File))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]task.FileRef{}
	for _, in := range n.job.Inputs {
		inputs[in.Name] = in
	}
	for axis, table := range n.job.Tables {
		if err := f.SetTable(axis, table); err != nil {
			t.Fatal(err)
		}
	}
	job, err := f.Job(task.RawCID(nil), inputs, "lab", time.Unix(1e9, 0), make([]byte, task.NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	rows := table.NewReader(func(t *task.Table, page int) ([]byte, error) {
		return table.PageOf(bytes.NewReader(n.files[t.CID]), page)
	}).Row
	for i, want := range []string{
		"x.png x in/x.png 0.5: data/a data/b/c in/x.png", "z.png z in/y/z.png 1.5: in/y/z.png",
	} {
		inv, err := job.ExpandBy(uint64(i), rows)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range inv.Files {
			names = append(names, r.Name)
		}
		if got := strings.Join(inv.Args, " ") + ": " + strings.Join(names, " "); got != want {
			t.Errorf("task %d: %q, want %q", i, got, want)
		}
	}
	if job.Sweep.Count() != 2 {
		t.Errorf("%d tasks", job.Sweep.Count())
	}
}

// A table of a stage that is wrong is told as one of a job: with its file, its line and the place in the job file.
func TestTablesOfStagesRefused(t *testing.T) {
	for axis, want := range map[string]string{
		"{csv: ragged.csv}": "6:16: csv ragged.csv: line 3: 1 values, the first line names 2",
		"{csv: gone.csv}":   "6:16: csv gone.csv: no such file or directory",
		"{files: '*.jpg'}":  "6:18: files *.jpg: no file matches",
		"{csv: good.csv}":   "7:12: file 2: no such file or directory",
	} {
		dir := written(t, "", map[string]string{"ragged.csv": "a,b\n1,2\n3\n", "good.csv": "a,b\n1,2\n"})
		job := "name: staged\nstages:\n  s:\n    module: m.wasm\n    sweep:\n      c: " + axis + "\n    files: ['{{.c.b}}']\n"
		path := filepath.Join(dir, "job.yaml")
		if err := os.WriteFile(path, []byte(job), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", t.TempDir())
		_, err := Read(path, nil, sandbox.CheckModule)
		if e, ok := err.(*task.Error); !ok || !strings.Contains(err.Error(), want) || e.Hint == "" {
			t.Errorf("%s: %v, want %s with a hint", axis, err, want)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}

// A table that is wrong is told with its file, its line and the place in the job file; nothing is left.
func TestTablesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"sweep: {c: {csv: ragged.csv}}": ":2:18: csv ragged.csv: line 3: 1 values, the first " +
			"line names 2",
		"sweep: {c: {csv: gone.csv}}":                        ":2:18: csv gone.csv: no such file or directory",
		"sweep: {c: {csv: data}}":                            ":2:18: csv data: not a regular file",
		"sweep: {c: {csv: ../x.csv}}":                        ":2:18: csv ../x.csv: path escapes from parent",
		"sweep: {c: {lines: none}}":                          ":2:20: lines none: the table has no rows",
		"sweep: {c: {files: '*.jpg'}}":                       ":2:20: files *.jpg: no file matches",
		"sweep: {c: {csv: good.csv}}\nargs: ['{{.c.beta}}']": `:3:8: there is no axis "c.beta" for {{.c.beta}}`,
		"sweep: {c: {csv: good.csv}}\nfiles: ['{{.c.b}}']":   ":3:8: file 2: no such file or directory",
		"sweep: {c: {csv: good.csv}, d: [1]}\nzip: [c, d]":   ":3:6: axis c has 2 values, and axis d has 1",
	} {
		files := tree()
		files["ragged.csv"], files["good.csv"], files["none"] = "a,b\n1,2\n3\n", "a,b\n1,2\n3,4\n", ""
		dir := written(t, text+"\n", files)
		t.Setenv("TMPDIR", t.TempDir())
		_, err := Read(filepath.Join(dir, "job.yaml"), nil, sandbox.CheckModule)
		e, ok := err.(*task.Error)
		if !ok || !strings.Contains(err.Error(), want) || e.Hint == "" {
			t.Errorf("%s: %v, want %s with a hint", text, err, want)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}
