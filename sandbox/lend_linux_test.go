package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"godwit/task"
)

// An input of any size is in no memory of the node's or its sandbox's own, it reaches the
// task all the same, and is let go when another task needs others.
func TestLargeInputsAreLent(t *testing.T) {
	const size = 256 << 20
	const most = 48 << 20 // of a child that has compiled and run something small
	p := newTestPool(t, func(c *Config) { c.InputCache = 1 })
	echo := guest{imports: []string{"fd_read", "fd_write"}, pages: 1, data: vec(string(make([]byte, 8))),
		code: cat(i32(0), i32(0), i32(1), i32(8), call(0), drop1, i32(1), i32(0), i32(1), i32(8), call(1), drop1)}
	tk := echo.task(t, "a")
	dir := t.TempDir()
	run(t, p, tk)
	pid := onlyChild(t, p).cmd.Process.Pid
	for _, content := range []string{"contents", "another!"} {
		path := filepath.Join(dir, content)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		tk.Stdin = &Input{Path: path}
		tk.Files = []Input{{Name: "in", Path: path}, {Name: "again", Path: path}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rep := run(t, p, tk)
		runtime.ReadMemStats(&after)
		if rep.Outcome != task.Completed || string(rep.Outputs[0].Data) != content {
			t.Errorf("%v, got %q, want %q", rep.Outcome, rep.Outputs[0].Data, content)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > size/16 {
			t.Errorf("%d bytes were allocated for an input of %d", got, size)
		}
		if got := statusOf(t, pid, "RssAnon"); got > most {
			t.Errorf("the child holds %d bytes", got)
		}
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			t.Fatal(err)
		}
		if n, own := strings.Count(string(maps), dir), strings.Count(string(maps), path); n != 1 || own != 1 {
			t.Errorf("%d files are held, %d of them the task's", n, own)
		}
	}
	if got := onlyChild(t, p).cmd.Process.Pid; got != pid {
		t.Error("the child was not used again")
	}
}

// statusOf returns a size from a process's status, in bytes.
func statusOf(t *testing.T, pid int, field string) (bytes int64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			if _, err := fmt.Sscanf(rest, "%d kB", &bytes); err != nil {
				t.Fatal(err)
			}
			return bytes << 10
		}
	}
	t.Fatalf("no %s", field)
	return 0
}
