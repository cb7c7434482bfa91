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
	"godwit/task"
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
		s, err := Read(filepath.Join(written(t, text+"\n", tree()), "job.yaml"), nil)
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
		_, err := Read(filepath.Join(dir, "job.yaml"), nil)
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
		s, err := Read(path, nil)
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
		s, err := Read(filepath.Join(dir, "job.yaml"), nil)
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
