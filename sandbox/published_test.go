package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"godwit/task"
)

// wazeroData is where the module cache has wazero's own guests: programs of
// several languages that nobody here wrote.
func wazeroData(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "imports", "wasi_snapshot_preview1", "testdata")
	if _, statErr := os.Stat(dir); err != nil || statErr != nil {
		t.Skip("wazero's guests are not in the module cache")
	}
	return dir
}

func TestPublishedGuests(t *testing.T) {
	dir := wazeroData(t)
	p := newTestPool(t)
	files := []Input{{Name: "ls/a", Data: []byte("1")}, {Name: "ls/b/c", Data: []byte("2")}}
	cases := []struct{ module, args, want string }{
		{"zig-cc/wasi.wasm", "ls ls", "./.\n./..\n./a\n./b\n"},
		{"zig-cc/wasi.wasm", "ls ls repeat", "./.\n./..\n./a\n./b\n./.\n./..\n./a\n./b\n"},
		{"zig-cc/wasi.wasm", "ls ls/a", "ENOTDIR\n"},
		{"zig-cc/wasi.wasm", "stat", "stdin isatty: false\nstdout isatty: false\nstderr isatty: false\n/ isatty: false\n"},
		{"zig-cc/wasi.wasm", "poll 0 100", "STDIN\n"},
		{"zig-cc/wasi.wasm", "sleepmillis 999", "OK\n"},
		{"zig-cc/wasi.wasm", "open-rdonly", "OK\n"},
		{"zig-cc/wasi.wasm", "open-wronly", "OK\n"},
		{"cargo-wasi/wasi.wasm", "ls ls", "ls/a\nls/b\n"},
		{"cargo-wasi/wasi.wasm", "stat",
			"stdin isatty: false\nstdout isatty: false\nstderr isatty: false\n/ isatty: false\n"},
		{"tinygo/wasi.wasm", "ls ls", "./a\n./b\n"},
		{"print_args.wasm", "a b", "task.wasm\x00a\x00b\x00"},
		{"print_prestat_dirname.wasm", "", "/"},
	}
	for _, c := range cases {
		wasm, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(c.module)))
		if err != nil {
			t.Fatal(err)
		}
		tk := moduleTask(t, wasm, c.module)
		tk.Args, tk.Files = strings.Fields(c.args), files
		rep := run(t, p, tk)
		if rep.Outcome != task.Completed || len(rep.Outputs) != 1 || string(rep.Outputs[0].Data) != c.want {
			t.Errorf("%s %s: got %v %s, %q, want %q", c.module, c.args, rep.Outcome, rep.Message, rep.Outputs, c.want)
		}
	}
}

func TestCProgram(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("there is no clang")
	}
	out := filepath.Join(t.TempDir(), "primes.wasm")
	msg, err := exec.Command(clang, "-O2", "--target=wasm32-wasi", "-o", out,
		filepath.Join("..", "examples", "primes", "primes.c")).CombinedOutput()
	if err != nil {
		t.Skipf("clang cannot build for WASI: %s", msg)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	p := newTestPool(t)
	tk := moduleTask(t, wasm, "primes/0")
	tk.Args = []string{"0", "10000000"}
	rep := run(t, p, tk)
	if len(rep.Outputs) != 1 || string(rep.Outputs[0].Data) != "0 10000000 664579 4652353 154\n" {
		t.Errorf("got %v %s %q", rep.Outcome, rep.Message, rep.Outputs)
	}
	tk.Args = []string{"0", "-1"}
	if rep := run(t, p, tk); rep.Outcome != task.ExitFailure || rep.ExitCode != 2 ||
		!strings.Contains(rep.Message, "-1 is not a number") {
		t.Errorf("got %v, code %d, %s", rep.Outcome, rep.ExitCode, rep.Message)
	}
}
