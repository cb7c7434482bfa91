package interpreter

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/task"
)

// archived makes an archive of entries.
func archived(t *testing.T, entries ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	out := tar.NewWriter(zipped)
	for _, h := range entries {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := out.Write([]byte(h.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.tgz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An archive decides neither where anything is written nor what: its files are taken by name, no links, no others.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "deep", "module")
	good := archived(t, tar.Header{Name: "../../evil", Typeflag: tar.TypeReg}, tar.Header{Name: "a/module",
		Typeflag: tar.TypeReg},
		tar.Header{Name: "other", Typeflag: tar.TypeReg})
	if err := unpack(good, map[string]string{"a/module": want}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(want); err != nil || string(b) != "a/module" {
		t.Errorf("read %q, %v", b, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	link := archived(t, tar.Header{Name: "a/module", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	for what, path := range map[string]string{"a link": link, "no archive": want, "nothing": filepath.Join(dir, "none")} {
		if err := unpack(path, map[string]string{"a/module": filepath.Join(dir, "new")}); err == nil {
			t.Errorf("%s was unpacked", what)
		}
	}
}

// What does not run here, or is not whole, leaves the interpreter of before in its place.
func TestAddFile(t *testing.T) {
	store, dir := Store(filepath.Join(t.TempDir(), "store")), t.TempDir()
	for name, b := range map[string][]byte{"good.wasm": noop.Module, "bad.wasm": []byte("no module")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	python, err := Named("python")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.AddFile(python, filepath.Join(dir, "good.wasm"), dir, sandbox.CheckModule); err == nil {
		t.Error("Python without its library was taken")
	}
	for _, name := range python.Root {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.AddFile(python, filepath.Join(dir, "good.wasm"), dir, sandbox.CheckModule); err != nil {
		t.Fatal(err)
	}
	if err := store.AddFile(python, filepath.Join(dir, "bad.wasm"), dir, sandbox.CheckModule); err == nil {
		t.Error("what is no module was taken")
	}
	path, err := store.Module(python)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, noop.Module) {
		t.Errorf("the module is %d bytes, %v", len(b), err)
	}
	if entries, err := os.ReadDir(string(store)); err != nil || len(entries) != 1 {
		t.Errorf("the store has %v, %v", entries, err)
	}
}

// The job of a script runs it with its arguments as they are, whatever they look like, and names all that it needs.
func TestStage(t *testing.T) {
	store, dir := Store(t.TempDir()), t.TempDir()
	lua, err := Named("lua")
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "m.wasm")
	if err := os.WriteFile(module, noop.Module, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.AddFile(lua, module, "", sandbox.CheckModule); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "a b.lua")
	if err := os.WriteFile(script, []byte("print(1)"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"{{.x}}", "é\"'\n", "}}", "\U0001F40D", "<&>"}
	path, err := store.Stage(lua, script, args, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := task.ParseFile("job.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	job := f.Args
	for i, want := range append([]string{"a b.lua"}, args...) {
		if got := strings.ReplaceAll(job[i], `{{"{{"}}`, "{{"); got != want {
			t.Errorf("argument %d is %q, want %q", i, got, want)
		}
	}
	if names, err := f.InputNames(); err != nil || len(names) != 1 || names[0] != "a b.lua" || f.Name != "a b" {
		t.Errorf("inputs are %q, %v, the name %q", names, err, f.Name)
	}
}

// The recipes name what is there to build, and no two of them the same scripts.
func TestRecipes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Recipes() {
		if seen[r.Suffix] || r.Memory == "" || r.Version == "" {
			t.Errorf("%+v", r)
		}
		seen[r.Suffix] = true
		if _, err := task.ParseSize(r.Memory); err != nil {
			t.Error(err)
		}
		if r.host == "" {
			continue
		}
		for _, name := range []string{"main.go.txt", "go.mod.txt", "go.sum.txt"} {
			if _, err := hosts.ReadFile("hosts/" + r.host + "/" + name); err != nil {
				t.Error(err)
			}
		}
	}
	if _, ok := Of("a.wasm"); ok {
		t.Error("a module is taken for a script")
	}
}
