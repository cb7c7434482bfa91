package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestDataDirectoryIsClosed: a data directory that others may read is closed to them.
func TestDataDirectoryIsClosed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not bits there")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	log := &words{}
	cfg := Config{DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil))}
	for range 2 {
		if err := closeToOthers(cfg); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 || log.count("level=WARN") != 1 {
		t.Errorf("mode %v (%v), said %d times", info.Mode(), err, log.count("level=WARN"))
	}
}
