package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/noop"
)

// padded returns a module with a custom section of so many random bytes at its
// end, which no program sees.
func padded(module []byte, size int, rng *rand.Rand) []byte {
	const custom = 0 // section ID
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	body := append([]byte{1, 'x'}, noise...) // a name of one letter
	out := append(slices.Clone(module), custom)
	out = binary.AppendUvarint(out, uint64(len(body))) // as WebAssembly's u32
	return append(out, body...)
}

// module makes the tasks' module, once, and returns its path.
func (t *trial) module(ctx context.Context) (string, error) {
	path := filepath.Join(t.dir, "task.wasm")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if !t.wasm {
		return path, os.WriteFile(path, noop.Module, 0o600)
	}
	return path, t.build(ctx, "guest", path)
}

// build compiles a guest of this program's own to a module.
func (t *trial) build(ctx context.Context, guest, path string) error {
	t.say("building the guest")
	where, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "godwit/internal/chaos").Output()
	if err != nil {
		return fmt.Errorf("finding the guest's source, which takes the repository and Go: %w", err)
	}
	if said, err := exec.CommandContext(ctx, t.godwit, "build", filepath.Join(strings.TrimSpace(string(where)), guest),
		"--out", path).CombinedOutput(); err != nil {
		return fmt.Errorf("building the guest: %w: %s", err, said)
	}
	return nil
}
