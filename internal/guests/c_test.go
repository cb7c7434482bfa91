package guests

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"godwit/sandbox"
)

// cPrograms are the guests in testdata.
var cPrograms = []struct {
	name   string
	flags  []string
	memory int64 // bytes; 0 the default
}{
	{name: "recursion"},
	{name: "firstturn"},
	{name: "nbody"},
	{name: "fft"},
	{name: "simd", flags: []string{"-msimd128"}},
	{name: "pointers"},
	{name: "sorting"},
	{name: "files"},
	// The stack lies in linear memory, and by default takes one page of it.
	{name: "deep", flags: []string{"-Wl,-z,stack-size=67108864"}},
	{name: "large", memory: 1 << 30},
	{name: "text"},
	{name: "states"},
	{name: "wide"},
}

const cSample = "pointers"

// TestC: programs of different character end the same when they move.
func TestC(t *testing.T) {
	for _, c := range cPrograms {
		if !chosen(c.name, c.name == cSample) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			tk := newTask(t, c.name, buildC(t, c.name, c.flags))
			tk.Limits.Memory = c.memory
			pool := hostPool(t)
			want := undisturbed(t, pool, tk)
			if tail(want) == "" || strings.Contains(tail(want), "wrong") {
				t.Errorf("undisturbed it said\n%s", tail(want))
			}
			j := travel(t, []*sandbox.Pool{pool}, tk, points(c.name, want.Fuel))
			compare(t, j, want)
			row(t, c.name, want, j)
		})
	}
}

func buildC(t *testing.T, name string, flags []string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name+".wasm")
	args := append([]string{"--target=wasm32-wasi", "-O2", "-o", out, filepath.Join("testdata", name+".c")}, flags...)
	msg, err := exec.Command("clang", append(args, "-lm")...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no clang to build a C guest with: on Debian, install clang lld wasi-libc libclang-rt-dev-wasm32")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return out
}
