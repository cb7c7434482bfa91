package sensor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkTTYs is a look at the terminals of a machine with 64 consoles, four pseudo-terminals and 150 other devices,
// which an idle node makes four times a second.
func BenchmarkTTYs(b *testing.B) {
	dir := b.TempDir()
	for _, d := range []string{"pts", "class/tty/tty0"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 64 {
		put(fmt.Sprintf("tty%d", i), "")
	}
	for i := range 4 {
		put(fmt.Sprintf("pts/%d", i), "")
	}
	for i := range 150 {
		put(fmt.Sprintf("device%d", i), "")
	}
	put("class/tty/tty0/active", "tty1\n")
	v := ttyWatch{t: TTYs{Dev: dir, Sys: dir}}
	for b.Loop() {
		v.newest()
	}
}
