package submission

import (
	"bytes"
	"crypto/ed25519"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// TestContentRefusesOtherBytes: a node, or whoever sits between, cannot pass
// off other bytes as what a worker signed.
func TestContentRefusesOtherBytes(t *testing.T) {
	served := "what the worker wrote"
	client := apitest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(served)) })
	o := task.Output{Name: "stdout", CID: task.RawCID([]byte(served)), Size: int64(len(served))}
	if b, err := content(t.Context(), client, nil, o); err != nil || string(b) != served {
		t.Fatalf("got %q, %v, want the content", b, err)
	}
	for _, other := range []string{"what the worker wrotE", served + ".", ""} {
		served = other
		if b, err := content(t.Context(), client, nil, o); err == nil ||
			!strings.Contains(err.Error(), "not what its worker signed") {
			t.Errorf("served %q: got %q, %v, want a refusal", other, b, err)
		}
	}
	o.Inline = []byte("what the worker wrotE")
	if _, err := content(t.Context(), client, nil, o); err == nil {
		t.Error("an inline output that is not its CID's content was taken")
	}
}

// served is a node that holds a job of one task with those patterns of outputs, whose
// result has outputs of those names, each with its name as content.
func served(t *testing.T, patterns []string, names ...string) (*api.Client, task.JobID) {
	t.Helper()
	return servedUnder(t, nil, nil, patterns, names...)
}

// servedUnder is served of a job that is sealed under a key; the node says that it has the
// other. With none the job is not sealed.
func servedUnder(t *testing.T, under, said []byte, patterns []string, names ...string) (*api.Client, task.JobID) {
	t.Helper()
	sealer, err := seal.New(under)
	if err != nil {
		t.Fatal(err)
	}
	var commitment []byte
	if len(under) > 0 {
		commitment = task.KeyCommitment(under)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	rec, err := task.SignJob(&task.Job{
		Name: "test", Overlay: "commons", Module: task.RawCID([]byte("module")), Outputs: patterns, Memory: 1 << 20,
		Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)), Nonce: make([]byte, task.NonceSize), Sweep: task.Sweep{Repeat: 1},
		Sealed: commitment,
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	rec.Key = said
	r := task.Result{Task: task.TaskID{Job: rec.ID()}, Outcome: task.Completed}
	for _, name := range names {
		b := sealer.SealFile([]byte(name))
		r.Outputs = append(r.Outputs, task.Output{Name: name, CID: task.RawCID(b), Size: int64(len(b)), Inline: b})
	}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	page := api.Results{Total: 1, Record: &rec, Tasks: []message.TaskSummary{{Results: []task.Result{r}}}}
	return apitest.Results(t, page, nil), rec.ID()
}

// What a sealed job's tasks have put out is opened, with the key that the node has of it, and
// with no other.
func TestCollectSealed(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, task.KeySize), bytes.Repeat([]byte{2}, task.KeySize)
	for name, said := range map[string][]byte{"its key": key, "another": other, "none": nil} {
		client, id := servedUnder(t, key, said, []string{"stdout", "*.txt"}, "a.txt", "stdout")
		dir := t.TempDir()
		var shown bytes.Buffer
		_, err := Print(t.Context(), &shown, client, id, dir)
		if good := name == "its key"; (err == nil) != good || (shown.String() == "stdout") != good {
			t.Errorf("with %s: printed %q, %v", name, shown.String(), err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); name == "its key" && (err != nil || string(b) != "a.txt") {
			t.Errorf("written is %q, %v", b, err)
		}
	}
}

// TestCollectKeepsToTheJob: what a worker calls its outputs decides about no file that the
// job does not ask for, none that is there, and none that begins with a dot.
func TestCollectKeepsToTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		patterns, names, written, hidden []string
		fails                            bool
	}{
		"as asked for":    {[]string{"stdout", "*.txt"}, []string{"a.txt", "stdout"}, []string{"a.txt"}, nil, false},
		"not asked for":   {[]string{"stdout"}, []string{".bashrc", "stdout"}, nil, nil, true},
		"a hook":          {[]string{"stdout", "*.txt"}, []string{".git/hooks/post-commit"}, nil, nil, true},
		"a dot":           {[]string{"*"}, []string{".bashrc", "a"}, []string{"a"}, []string{".bashrc"}, false},
		"a dot asked for": {[]string{".*rc"}, []string{".bashrc"}, []string{".bashrc"}, nil, false},
		"what is there":   {[]string{"*"}, []string{"Makefile"}, nil, nil, true},
	} {
		client, id := served(t, c.patterns, c.names...)
		t.Chdir(t.TempDir())
		mine := filepath.Join("test.out", "Makefile")
		for _, file := range []string{".bashrc", "Makefile", mine} {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var shown bytes.Buffer
		done, err := Print(t.Context(), &shown, client, id, "test.out")
		if (err != nil) != c.fails || strings.Join(done.Hidden, " ") != strings.Join(c.hidden, " ") {
			t.Errorf("%s: hidden %q, %v", name, done.Hidden, err)
		}
		for _, file := range []string{".bashrc", "Makefile", mine} {
			if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
				t.Errorf("%s: %s has %q, %v", name, file, b, err)
			}
		}
		entries, err := os.ReadDir("test.out")
		if err != nil || len(entries) != len(c.written)+1 {
			t.Errorf("%s: wrote %v, %v", name, entries, err)
		}
		for _, file := range c.written {
			if b, err := os.ReadFile(filepath.Join("test.out", file)); err != nil || string(b) != file {
				t.Errorf("%s: %s has %q, %v", name, file, b, err)
			}
		}
	}
}

// Whether results can be written is known before there are any, and finding out leaves nothing behind.
func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string]bool{dir: true, filepath.Join(dir, "a", "b", "c"): true, file: false,
		filepath.Join(file, "a"): false, "relative": true} {
		if err := CheckDir(name); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
