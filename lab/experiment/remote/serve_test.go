package remote

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/lab/experiment"
)

// TestService serves on a real address. A second service cannot use the same directory. After the end of the first, the
// client reports that none runs.
func TestService(t *testing.T) {
	dir := t.TempDir()
	leftover := filepath.Join(dir, runsName, "run-1")
	if err := errors.Join(os.MkdirAll(leftover, 0o700), os.WriteFile(filepath.Join(dir, addrName), []byte("127.0.0.1:1"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(dir, "0.0.0.0:0", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "not on loopback") {
		t.Errorf("an address of the network: %v", err)
	}
	s, err := Listen(dir, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(leftover); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old run remains: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	c, err := Dial(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d, err := c.Define(t.Context(), experiment.Source{Scenario: text})
	if err != nil || d.ID != "exp-1" || d.Length != 20 {
		t.Errorf("got %+v, %v", d, err)
	}
	var refused *Error
	if _, err := c.Definition(t.Context(), "exp-2"); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("an unknown experiment: %v", err)
	}
	if _, err := Listen(dir, "127.0.0.1:0", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "already listens") {
		t.Errorf("a second service: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := c.Definitions(t.Context()); !errors.Is(err, ErrNoService) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := Dial(dir); !errors.Is(err, ErrNoService) {
		t.Errorf("after the end: %v", err)
	}
}
