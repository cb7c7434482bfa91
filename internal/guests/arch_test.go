package guests

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"godwit/sandbox"
)

const emulator = "qemu-aarch64-static"

// TestCAcrossArchitectures takes the C programs round: a compiler on amd64, one
// on arm64, emulated, and the interpreter of 386.
func TestCAcrossArchitectures(t *testing.T) {
	if os.Getenv("GODWIT_GUESTS_ARCH") == "" {
		t.Skip("GODWIT_GUESTS_ARCH=1 runs it; see scripts/test-arch")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("it begins on linux/amd64")
	}
	pools := route(t)
	for _, c := range cPrograms {
		if !chosen(c.name, c.name == cSample) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			tk := newTask(t, c.name, buildC(t, c.name, c.flags))
			tk.Limits.Memory = c.memory
			want := undisturbed(t, pools[0], tk)
			j := travel(t, pools, tk, points("arch/"+c.name, want.Fuel))
			compare(t, j, want)
			row(t, c.name, want, j)
		})
	}
}

// route is amd64, arm64, 386 where the kernel runs that, and round again.
func route(t *testing.T) []*sandbox.Pool {
	t.Helper()
	path, err := exec.LookPath(emulator)
	if err != nil {
		t.Skipf("there is no %s: on Debian, install qemu-user-static", emulator)
	}
	child := func(arch string) string {
		out, err := crossBuild(arch)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	pools := []*sandbox.Pool{
		newPool(t, "amd64", child("amd64"), "sandbox"),
		newPool(t, "arm64", path, child("arm64"), "sandbox"),
	}
	if !runs386() {
		t.Log("386 is left out: " + no386)
		return pools
	}
	return append(pools, newPool(t, "386", child("386"), "sandbox"))
}
