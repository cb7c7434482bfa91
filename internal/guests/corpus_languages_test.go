package guests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A made is a module that is ready to run.
type made struct {
	module string // its file
	tools  string // what exactly made it
	native string // the same program for this machine; "" for none
}

// languages are programs of ours, each in a language with a runtime of its own,
// by the compiler that a registry has for it.
var languages = []entry{
	{program: "work.cc", chain: "clang++14-O2", build: cplusplus(""), quick: []string{"1"}, long: []string{"600"}},
	{program: "work.cc", chain: "clang++14-O2+wasm-opt-O2", build: cplusplus("-O2"), quick: []string{"1"},
		long: []string{"600"}},
	{program: "work.rs", chain: "rustc1.63-O", build: rust(""), quick: []string{"1"}, long: []string{"900"}},
	{program: "work.rs", chain: "rustc1.63-O+wasm-opt-O3", build: rust("-O3"), quick: []string{"1"},
		long: []string{"900"}},
	{program: "work.zig", chain: "zig0.11-ReleaseSafe", build: zig("ReleaseSafe"), quick: []string{"1"},
		long: []string{"1500"}},
	{program: "work.zig", chain: "zig0.11-ReleaseSmall", build: zig("ReleaseSmall"), quick: []string{"1"},
		long: []string{"1000"}},
	{program: "work.ts", chain: "assemblyscript0.28-O3", build: assembly("-O3"), quick: []string{"1"},
		long: []string{"2500"}},
	{program: "work.ts", chain: "assemblyscript0.28-Oz", build: assembly("-Oz"), quick: []string{"1"},
		long: []string{"2500"}},
	{program: "json", chain: "go", build: goProgram(""), quick: []string{"documents", "1"},
		long: []string{"documents", "2000"}},
	{program: "json", chain: "go+wasm-opt-O2", build: goProgram("-O2"), quick: []string{"documents", "1"},
		long: []string{"documents", "2000"}},
	{program: "json", chain: "go+wasm-opt-Oz", build: goProgram("-Oz"), quick: []string{"documents", "1"},
		long: []string{"documents", "2000"}},
	{program: "gc", chain: "go", build: goProgram(""), quick: []string{"words", "2"}, long: []string{"words", "200"}},
}

// built keeps what make writes to moduleFile, and optimises it where asked to.
func (l *larder) built(name, tools, level string, from []string, make func(dir string) error) (made, error) {
	words, err := ourWords(from)
	if err != nil {
		return made{}, err
	}
	if level != "" {
		o, err := l.binaryen(false)
		if err != nil {
			return made{}, err
		}
		tools += ", " + versionOf(o, "wasm-opt") + ", " + level
	}
	dir, err := l.keep("built", name, tools+words, func(dir string) error {
		if err := make(dir); err != nil || level == "" {
			return err
		}
		out := filepath.Join(dir, moduleFile)
		return optimise(l, false, out, out, level)
	})
	return made{module: filepath.Join(dir, moduleFile), tools: tools}, err
}

func cplusplus(level string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		t, err := l.clang("14")
		if err != nil {
			return made{}, err
		}
		flags := []string{"-std=c++17", "-fno-exceptions", "-O2"}
		m, err := l.built("work.cc", versionOf(t, "clang++")+", "+strings.Join(flags, " "), level, []string{own("work.cc")},
			func(dir string) error {
				object, target := filepath.Join(dir, "work.o"),
					[]string{"--target=wasm32-wasi", "--sysroot=" + filepath.Join(t.root, "usr")}
				if err := t.run("", "clang++", slices.Concat(target, flags,
					[]string{"-c", "-o", object, own("work.cc")})...); err != nil {
					return err
				}
				return t.run("", "clang++", append(target, "-o", filepath.Join(dir, moduleFile), object)...)
			})
		if err == nil {
			m.native, err = l.nativeOf("work.cc", "clang++", "-std=c++17", "-O2")
		}
		return m, err
	}
}

// nativeOf compiles one source of ours for this machine with an installed
// compiler; where there is none, there is no native program.
func (l *larder) nativeOf(source, compiler string, flags ...string) (string, error) {
	if _, err := exec.LookPath(compiler); err != nil {
		return "", nil
	}
	words, err := ourWords([]string{own(source)})
	if err != nil {
		return "", err
	}
	dir, err := l.keep("native", source, fmt.Sprint(words, compiler, flags), func(dir string) error {
		return finish(exec.Command(compiler, append(flags, "-o", filepath.Join(dir, "guest"), own(source))...))
	})
	return filepath.Join(dir, "guest"), err
}

func rust(level string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		t, err := l.rust()
		if err != nil {
			return made{}, err
		}
		return l.built("work.rs", versionOf(t, "rustc")+", -O", level, []string{own("work.rs")}, func(dir string) error {
			return t.run("", "rustc", "--sysroot", filepath.Join(t.root, "usr"), "--edition", "2021", "--target",
				"wasm32-wasi", "-O",
				"-o", filepath.Join(dir, moduleFile), own("work.rs"))
		})
	}
}

func zig(mode string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		t, err := l.zig()
		if err != nil {
			return made{}, err
		}
		return l.built("work.zig", zigPackage+", "+mode, "", []string{own("work.zig")}, func(dir string) error {
			scratch, err := os.MkdirTemp(l.dir, "zig-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(scratch)
			return t.run(scratch, "zig", "build-exe", "-target", "wasm32-wasi", "-O", mode, own("work.zig"),
				"-femit-bin="+filepath.Join(dir, moduleFile), "--cache-dir", scratch, "--global-cache-dir", scratch)
		})
	}
}

func assembly(level string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		dir, err := l.assemblyScript()
		if err != nil {
			return made{}, err
		}
		return l.built("work.ts", "assemblyscript 0.28.20, "+level, "", []string{own("work.ts")}, func(to string) error {
			const copied = "work.ts" // the compiler wants sources below its folder
			b, err := os.ReadFile(own("work.ts"))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, copied), b, 0o644); err != nil {
				return err
			}
			cmd := exec.Command("node", "node_modules/assemblyscript/bin/asc.js", copied, "--config",
				"node_modules/@assemblyscript/wasi-shim/asconfig.json", level, "-o", filepath.Join(to, moduleFile))
			cmd.Dir = dir
			return finish(cmd)
		})
	}
}

// goProgram is the one of the benchmarks.
func goProgram(level string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		source := filepath.Join(benchDir, "main.go")
		m, err := l.built("go", goVersion(), level, []string{source}, func(dir string) error {
			return goBuild("", filepath.Join(dir, moduleFile), source)
		})
		if err != nil {
			return m, err
		}
		dir, err := l.keep("native", "go", goVersion(), func(dir string) error {
			cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "guest"), source)
			cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
			return finish(cmd)
		})
		m.native = filepath.Join(dir, "guest")
		return m, err
	}
}

// goBuild builds a package for WASI, from a folder.
func goBuild(dir, out, pkg string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	return finish(cmd)
}

func goVersion() string {
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}
