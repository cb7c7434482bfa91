package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holdEnv names the data directory that this program, run anew, shall use until
// its standard input ends.
const holdEnv = "GODWIT_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

// hold runs a node, as another process than the test's.
func hold(dir string) {
	n, err := New(context.Background(), realConfig(dir))
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadByte()
	stop()
	<-ended
}

func realConfig(dir string) Config {
	return Config{DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 2,
		Experiment: Experiment{Runner: RunSleep}}
}

// runBriefly runs a node until it has answered.
func runBriefly(t *testing.T, cfg Config) *Node {
	t.Helper()
	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	if _, err := n.Status(ctx); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	return n
}

// Whose goroutines are looked for. A library may leave some behind when it
// fails to start, which is its own affair.
var (
	allOfThem = []string{"godwit/node.(", "godwit/p2p.", "godwit/sandbox.", "go-libp2p", "quic-go", "cockroachdb/pebble"}
	onlyOurs  = allOfThem[:3]
)

// stacks returns the goroutines whose stacks have one of the marks, by number.
func stacks(marks []string) map[string]string {
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	found := map[string]string{}
	for _, s := range all[1:] { // the first is this one
		if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(s, m) }) {
			found[strings.SplitAfterN(s, " ", 3)[1]] = s
		}
	}
	return found
}

// leakCheck returns a function that fails for goroutines which have started
// since and do not end of themselves.
func leakCheck(t *testing.T, marks []string) func() {
	t.Helper()
	before := stacks(marks)
	return func() {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); ; runtime.Gosched() {
			left := stacks(marks)
			maps.DeleteFunc(left, func(id, _ string) bool { return before[id] != "" })
			if len(left) == 0 {
				return
			}
			if time.Now().After(end) {
				for _, s := range left {
					t.Fatalf("%d goroutines are left; one is\n%s", len(left), s)
				}
			}
		}
	}
}

// Run returns when everything has ended, and the data directory can be used
// again, by the same node.
func TestRunLeavesNothing(t *testing.T) {
	noLeaks := leakCheck(t, allOfThem)
	cfg := realConfig(t.TempDir())
	first := runBriefly(t, cfg)
	noLeaks()
	second := runBriefly(t, cfg)
	noLeaks()
	if first.ID() != second.ID() {
		t.Errorf("the node was %s, and is now %s", first.ID(), second.ID())
	}
	if _, err := first.Status(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("Status of a stopped node: %v", err)
	}
}

// A New that fails says why, leaves nothing running, and the directory usable.
func TestNewFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	tests := []struct {
		name  string
		spoil func(t *testing.T, c *Config)
		mend  func(c *Config)
		want  string
	}{
		{"port in use", func(_ *testing.T, c *Config) { c.Listen = []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)} },
			func(c *Config) { c.Listen = realConfig("").Listen }, "joining the network"},
		{"bad peer address", func(_ *testing.T, c *Config) { c.Bootstrap = []string{"/ip4/127.0.0.1/tcp/1"} },
			func(c *Config) { c.Bootstrap = nil }, "/p2p/"},
		{"corrupt identity", func(t *testing.T, c *Config) { write(t, filepath.Join(c.DataDir, "identity.key"), "nonsense") },
			func(c *Config) { os.Remove(filepath.Join(c.DataDir, "identity.key")) }, "identity.key"},
		{"no such swarm key", func(_ *testing.T, c *Config) { c.SwarmKey = filepath.Join(c.DataDir, "none") },
			func(c *Config) { c.SwarmKey = "" }, "swarm"},
		{"a file where the store should be", func(t *testing.T,
			c *Config) {
			write(t, filepath.Join(c.DataDir, "store"), "")
		},
			func(c *Config) { os.Remove(filepath.Join(c.DataDir, "store")) }, "opening the node's store"},
		{"an unknown runner", func(_ *testing.T, c *Config) { c.Experiment.Runner = "fast" },
			func(c *Config) { c.Experiment.Runner = RunSleep }, `"fast"`},
		{"no sandbox", func(_ *testing.T, c *Config) { c.Experiment.Runner = RunWasm },
			func(c *Config) { c.Experiment.Runner = RunSleep }, "sandbox"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noLeaks := leakCheck(t, allOfThem)
			cfg := realConfig(t.TempDir())
			tt.spoil(t, &cfg)
			_, err := New(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrInUse) {
				t.Errorf("New: %v, want a word of %q", err, tt.want)
			}
			noLeaks()
			tt.mend(&cfg)
			runBriefly(t, cfg)
			noLeaks()
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// One data directory serves one node at a time, of this process or another; a
// killed one leaves it usable.
func TestDataDirInUse(t *testing.T) {
	noLeaks := leakCheck(t, onlyOurs)
	cfg := realConfig(t.TempDir())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+cfg.DataDir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Signal(syscall.SIGKILL)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other node says %q, %v", line, err)
	}
	if _, err := New(t.Context(), cfg); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), cfg.DataDir) {
		t.Errorf("New beside another process: %v", err)
	}
	noLeaks()
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()

	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatalf("after the other was killed: %v", err)
	}
	if _, err := New(t.Context(), cfg); !errors.Is(err, ErrInUse) {
		t.Errorf("New beside the same process: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := n.Run(ctx); err != nil {
		t.Error(err)
	}
	noLeaks()
}
