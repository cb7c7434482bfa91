package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"godwit/task"
)

// worldModule is testdata/world, built for wasip1.
var worldModule = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "godwit-guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "world.wasm")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "main.go")
	cmd.Dir = filepath.Join("testdata", "world")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: "go build: " + string(msg), Err: err}
	}
	return os.ReadFile(out)
})

func worldTask(t testing.TB, name string, args ...string) Task {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go tool to build a guest with")
	}
	wasm, err := worldModule()
	if err != nil {
		t.Fatal(err)
	}
	tk := moduleTask(t, wasm, name)
	tk.Args = args
	tk.Limits = Limits{Memory: 64 << 20, Files: 1 << 20, FileCount: 50, Output: 1 << 20}
	return tk
}

func TestGoProgram(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(input, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	tk := worldTask(t, "job/1", "world", "x")
	tk.Env = []task.EnvVar{{Name: "QUALITY", Value: "high"}}
	tk.Files = []Input{{Name: "data/in.txt", Path: input}}
	tk.Stdin = &Input{Data: []byte("one\ntwo\n")}
	tk.Outputs = []string{"stdout", "out/*.txt", "data/*"}
	var first []File
	for i, p := range []*Pool{newTestPool(t), newTestPool(t)} {
		for range 2 {
			rep := run(t, p, tk)
			if rep.Outcome != task.Completed {
				t.Fatalf("got %v: %s", rep.Outcome, rep.Message)
			}
			if first == nil {
				first = rep.Outputs
			}
			if len(rep.Outputs) != 2 || !bytes.Equal(rep.Outputs[1].Data, first[1].Data) {
				t.Errorf("pool %d: outputs %q, want %q", i, rep.Outputs, first)
			}
		}
	}
	if got := string(first[0].Data); first[0].Name != "out/b.txt" || got != "appended" {
		t.Errorf("got output %s = %q, want out/b.txt = \"appended\"", first[0].Name, got)
	}
	const want = `args world x env high
stdin one
stdin two
input hello
link appended
walk / d---------
walk /data d---------
walk /data/in.txt ----------
walk /out d---------
walk /out/b.txt ----------
outside true
random RANDOM
year 2000
order 2 1 0 slept 3h0m0s
`
	var got []string
	for line := range strings.Lines(string(first[1].Data)) {
		if strings.HasPrefix(line, "random ") {
			line = "random RANDOM\n"
		}
		got = append(got, line)
	}
	if s := strings.Join(got, ""); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

func TestHostileGoPrograms(t *testing.T) {
	p := newTestPool(t)
	cases := []struct {
		arg     string
		outcome task.Outcome
		code    uint32
		message string
	}{
		{"spin", task.Completed, 0, ""},
		{"hog", task.OutOfMemory, 0, "out of memory"},
		{"flood", task.OverQuota, 0, "bytes of output"},
		{"files", task.OverQuota, 0, "50 files"},
		{"dirs", task.OverQuota, 0, "50 files"},
		{"bytes", task.OverQuota, 0, "bytes of files"},
		{"panic", task.ExitFailure, 2, "exit code 2"},
		{"deadlock", task.ExitFailure, 2, "exit code 2"},
	}
	for _, c := range cases {
		rep := run(t, p, worldTask(t, "job/1", c.arg))
		if rep.Outcome != c.outcome || rep.ExitCode != c.code || !strings.Contains(rep.Message, c.message) {
			t.Errorf("%s: got %v, code %d, %q; want %v, code %d, %q", c.arg, rep.Outcome, rep.ExitCode, rep.Message, c.outcome,
				c.code, c.message)
		}
	}
}

func BenchmarkWarmGoTask(b *testing.B) {
	p := newTestPool(b)
	tk := worldTask(b, "job/0", "nothing")
	run(b, p, tk)
	for b.Loop() {
		if rep := run(b, p, tk); rep.Outcome != task.Completed {
			b.Fatal(rep.Message)
		}
	}
}

func BenchmarkCheckGoModule(b *testing.B) {
	wasm, err := worldModule()
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if err := CheckModule(wasm); err != nil {
			b.Fatal(err)
		}
	}
}
