package mapping

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"godwit/sandbox"
)

// start is a module whose _start does nothing.
var start = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01" +
	"\x07\x13\x02\x06_start\x00\x00\x06memory\x02\x00\x0a\x04\x01\x02\x00\x0b")

// BenchmarkNewPlan reads a million short lines.
func BenchmarkNewPlan(b *testing.B) {
	module := filepath.Join(b.TempDir(), "m.wasm")
	if err := os.WriteFile(module, start, 0o600); err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "input %d\n", i)
	}
	for b.Loop() {
		p, err := NewPlan(Options{Module: module, Check: sandbox.CheckModule}, bytes.NewReader(text.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}
