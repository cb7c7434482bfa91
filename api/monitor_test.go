package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"godwit/node"
)

// startMonitor serves what only looks, of a node that stands on n.
func startMonitor(t *testing.T, n *node.Node) *Monitor {
	t.Helper()
	m, err := NewMonitor(n, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, m.Run)
	return m
}

func get(t *testing.T, m *Monitor, method, host, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+m.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := new(http.Transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// The address for scrapers answers what only looks, to whoever named this machine as itself, and nothing else.
func TestMonitor(t *testing.T) {
	n, _ := startNode(t)
	m := startMonitor(t, n)
	for _, c := range []struct {
		method, host, path string
		status             int
		text               string
	}{
		{"GET", "", "/metrics", 200, "godwit_overlay_members{overlay=\"commons\"} 1\n"},
		{"GET", "localhost", "/metrics", 200, "godwit_node_info{version=\"test\"} 1\n"},
		{"GET", "[::1]:9", "/healthz", 200, "ok\n"},
		{"GET", "", "/readyz", 200, "ok\n"},
		{"HEAD", "", "/healthz", 200, ""},
		{"POST", "", "/metrics", 405, ""},
		{"DELETE", "", "/healthz", 405, ""},
		{"GET", "", "/v1/status", 404, ""},
		{"GET", "", "/", 404, ""},
		{"GET", "evil.example", "/metrics", 403, ""},
		{"GET", "127.0.0.1.evil.example:80", "/metrics", 403, ""},
		{"GET", "192.0.2.1", "/healthz", 403, ""},
	} {
		status, body := get(t, m, c.method, c.host, c.path)
		if status != c.status || !strings.Contains(body, c.text) {
			t.Errorf("%s %s of %q: %d %q, want %d with %q", c.method, c.path, c.host, status, body, c.status, c.text)
		}
	}
}

// Others on the network are not answered.
func TestMonitorIsLocal(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:9733", "x"} {
		if m, err := NewMonitor(nil, addr, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("it listens on %s", m.Addr())
		}
	}
}

// A node that has ended is neither alive nor ready, and says why.
func TestNotAlive(t *testing.T) {
	n, err := node.New(t.Context(), node.Config{DataDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 1,
		Experiment: node.Experiment{Runner: node.RunSleep}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Run(ctx); err != nil {
		t.Fatal(err)
	}
	m := startMonitor(t, n)
	for path, want := range map[string]int{"/healthz": 503, "/readyz": 503, "/metrics": 500} {
		if status, body := get(t, m, "GET", "", path); status != want || !strings.Contains(body, "stopped") {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
}
