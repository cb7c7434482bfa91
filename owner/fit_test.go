package owner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// TestRulesFitTheMachine: what lends more than there is, or next to nothing, is told with
// its place and a way out.
func TestRulesFitTheMachine(t *testing.T) {
	m := Machine{Cores: 4, Memory: 16 << 30}
	for _, tt := range []struct{ src, want, hint string }{
		{"max_memory: 16GiB\nmax_memory_busy: 8GiB\nmax_cores: 4\nmax_cores_busy: 0", "", ""},
		{"max_memory: 100%\nmax_cores: 100%\nmax_disk: 900TiB", "", ""},
		{"grace: 1m\nmax_memory: 900GiB", "rules.yaml:2:13: max_memory: 900GiB is more than this machine has: 16GiB",
			"write at most 16GiB, or a share such as 50%"},
		{"max_memory_busy: 17GiB", "rules.yaml:1:18: max_memory_busy: 17GiB is more than", "at most 16GiB"},
		{"max_cores: 50",
			"rules.yaml:1:12: max_cores: 50 is more than this machine has: 4", "at most 4, or a share such as 50%"},
		{"max_cores_busy: 5", "rules.yaml:1:17: max_cores_busy: 5 is", "at most 4"},
		{"max_memory: 4",
			"rules.yaml:1:13: max_memory: 4B is too little for any program: the least is 1MiB", "with its unit"},
		{"max_memory: 1048575", "rules.yaml:1:13: max_memory: 1024KiB is too little", "with its unit"},
		{"max_memory: 1MiB\nmax_memory_busy: 0", "", ""},
		{"max_memory: many", `rules.yaml:1:13: max_memory: "many" is not a size`, "4GiB"},
	} {
		_, err := ParseFor("rules.yaml", []byte(tt.src), m)
		var told *task.Error
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.src, err)
		case tt.want != "" && (!errors.As(err, &told) || !strings.HasPrefix(err.Error(), tt.want) ||
			!strings.Contains(told.Hint, tt.hint)):
			t.Errorf("%q: %v, hint %v, want %q, %q", tt.src, err, told, tt.want, tt.hint)
		}
	}
	if _, err := ParseFor("rules.yaml", []byte("max_memory: 900GiB\nmax_cores: 9999"), Machine{}); err != nil {
		t.Errorf("on a machine of which nothing is known: %v", err)
	}
}

// TestWhatFitsIsLentWhole: a number that is accepted is what is lent, on every machine.
func TestWhatFitsIsLentWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Machine{Cores: rapid.IntRange(1, 64).Draw(t, "cores"), Memory: rapid.Int64Range(1<<28, 1<<40).Draw(t, "memory")}
		cores := rapid.Int64Range(0, 128).Draw(t, "max_cores")
		memory := rapid.Int64Range(LeastMemory, 1<<41).Draw(t, "max_memory")
		r, err := ParseFor("", fmt.Appendf(nil, "max_cores: %d\nmax_memory: %d\n", cores, memory), m)
		fits := cores <= int64(m.Cores) && memory <= m.Memory
		if fits != (err == nil) {
			t.Fatalf("%d cores and %d bytes on %+v: %v", cores, memory, m, err)
		}
		if fits && (r.MaxCores.Of(int64(m.Cores)) != cores || r.MaxMemory.Of(m.Memory) != memory) {
			t.Fatalf("%d cores and %d bytes on %+v are lent as %+v", cores, memory, m, r)
		}
	})
}

// TestSetFits: a rule that does not fit leaves the file alone; one of another machine
// that is in it already does not keep the others from changing.
func TestSetFits(t *testing.T) {
	m := Machine{Cores: 4, Memory: 16 << 30}
	path := filepath.Join(t.TempDir(), "config.yaml")
	const before = "max_memory: 64GiB\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][2]string{{"max_cores", "50"}, {"max_memory", "900GiB"}, {"max_memory_busy", "12"}} {
		var told *task.Error
		if err := Set(path, bad[0], bad[1], m); !errors.As(err, &told) || told.Hint == "" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != before {
		t.Errorf("the file is %q, %v", b, err)
	}
	if err := Set(path, "max_cores", "50%", m); err != nil {
		t.Error(err)
	}
	if err := Set(path, "max_memory", "16GiB", m); err != nil {
		t.Error(err)
	}
	if _, err := NewMonitor(Config{File: path, Machine: m, Stop: func() {}, Continue: func() {}}); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewMonitor(Config{File: path, Machine: m, Stop: func() {}, Continue: func() {}})
	if err == nil || !strings.Contains(err.Error(), "config.yaml:1:13: max_memory: 64GiB is more than") {
		t.Errorf("a node begins by rules that its machine cannot keep: %v", err)
	}
}
