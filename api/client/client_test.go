package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/api"
	"godwit/api/client"
	"godwit/internal/noop"
	"godwit/node"
	"godwit/sandbox"
	"godwit/task"
)

// nodeDir is the data directory of a node that runs programs, and nodeAddr its API's TCP address.
var nodeDir, nodeAddr string

// TestMain starts that node, and is its sandbox's process where it is called so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	code, err := withNode(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withNode(f func() int) (code int, err error) {
	if nodeDir, err = os.MkdirTemp("", "godwit-client-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(nodeDir)
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n, err := node.New(ctx, node.Config{DataDir: nodeDir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 2,
		Sandbox: []string{self, "sandbox"}, Version: "test"})
	if err != nil {
		cancel()
		return 1, err
	}
	s, err := api.NewServer(n, nodeDir, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		cancel()
		return 1, errors.Join(err, n.Run(ctx))
	}
	nodeAddr = s.Addr()
	ended := make(chan error, 2)
	go func() { ended <- n.Run(ctx) }()
	go func() { ended <- s.Run(ctx) }()
	code = f()
	cancel()
	return code, errors.Join(<-ended, <-ended)
}

func open(t *testing.T, w client.Where) *client.Client {
	t.Helper()
	c, err := client.Open(w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The node is found by what is said, else by the environment, else where the command line looks.
func TestOpen(t *testing.T) {
	for _, name := range []string{"GODWIT_DATA_DIR", "GODWIT_API", "GODWIT_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	answers := func(w client.Where) bool {
		c, err := client.Open(w)
		if err != nil {
			return false
		}
		defer c.Close()
		_, err = c.API.Status(t.Context())
		return err == nil
	}
	token := filepath.Join(nodeDir, api.TokenName)
	for _, w := range []client.Where{{DataDir: nodeDir}, {DataDir: nodeDir, Addr: nodeAddr},
		{Addr: nodeAddr, TokenFile: token}} {
		if !answers(w) {
			t.Errorf("%+v does not find the node", w)
		}
	}
	for _, w := range []client.Where{{}, {Addr: nodeAddr}, {Addr: nodeAddr, TokenFile: filepath.Join(nodeDir,
		api.AddrName)}} {
		if answers(w) {
			t.Errorf("%+v finds a node", w)
		}
	}
	t.Setenv("GODWIT_DATA_DIR", nodeDir)
	if !answers(client.Where{}) {
		t.Error("GODWIT_DATA_DIR does not count")
	}
	t.Setenv("GODWIT_API", "127.0.0.1:1")
	if answers(client.Where{}) {
		t.Error("GODWIT_API does not count")
	}
	if !strings.HasSuffix(client.DataDir(), "godwit") {
		t.Errorf("the usual data directory is %s", client.DataDir())
	}
}

// What is wrong with a job is said before it is handed in.
func TestSubmitRefuses(t *testing.T) {
	c := open(t, client.Where{DataDir: nodeDir})
	var inFile *task.Error
	for name, j := range map[string]client.Job{
		"no field":    {File: "modul: m.wasm\n", Module: noop.Module},
		"no input":    {File: "module: m.wasm\nstdin: a.txt\n", Module: noop.Module},
		"other input": {File: "module: m.wasm\nstdin: a.txt\n", Module: noop.Module, Inputs: map[string][]byte{"b.txt": nil}},
	} {
		if _, err := c.Submit(t.Context(), j); !errors.As(err, &inFile) || inFile.Line == 0 {
			t.Errorf("%s: %v, want the place", name, err)
		}
	}
	if _, err := c.Submit(t.Context(), client.Job{Module: []byte("no module")}); err == nil {
		t.Error("what is no module was taken")
	}
}

// A job in files is read as the command line reads it; whoever looks at its results may stop.
func TestSubmitFile(t *testing.T) {
	c := open(t, client.Where{DataDir: nodeDir})
	dir := t.TempDir()
	for name, text := range map[string]string{"copy.wasm": string(noop.Copying), "in": strings.Repeat("long ", 1000),
		"job.yaml": "module: copy.wasm\nstdin: in\nsweep: {repeat: 3}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SubmitFile(t.Context(), filepath.Join(dir, "none.yaml"), ""); err == nil {
		t.Error("a job file that is not there was taken")
	}
	id, err := c.SubmitFile(t.Context(), filepath.Join(dir, "job.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	if st, err := c.Follow(t.Context(), id, nil); err != nil || st.Tasks.Done != 3 {
		t.Fatalf("it ended as %+v, %v", st, err)
	}
	seen := 0
	for task, err := range c.Tasks(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := task.Read(t.Context(), "stdout")
		if err != nil || len(b) != 5000 || task.Index != uint64(seen) {
			t.Errorf("task %d wrote %d bytes, %v", task.Index, len(b), err)
		}
		if _, err := task.Read(t.Context(), "none"); !errors.Is(err, client.ErrNoOutput) {
			t.Errorf("reading what is not there: %v", err)
		}
		if seen++; seen == 2 {
			break
		}
	}
	for _, err := range c.Tasks(t.Context(), "nosuch") {
		if err == nil {
			t.Error("a job that is not there has tasks")
		}
	}
}
