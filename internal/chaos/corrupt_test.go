package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func TestDamage(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"large": 10_000, "small": 1, "empty": 0} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flipped, err := damage(dir, rand.New(rand.NewPCG(1, 0)))
	if err != nil || flipped != 101 {
		t.Fatalf("flipped %d bytes, %v; want 101", flipped, err)
	}
	for name, size := range map[string]int{"large": 10_000, "small": 1, "empty": 0} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != size || size > 0 && bytes.Equal(b, make([]byte, size)) {
			t.Errorf("%s: %d bytes, not damaged", name, len(b))
		}
	}
	if _, err := damage(filepath.Join(dir, "missing"), rand.New(rand.NewPCG(1, 0))); err == nil {
		t.Error("a store that is not there was damaged")
	}
}
