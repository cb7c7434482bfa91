package guests

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// corpusDir has what of the corpus is our own: workloads, hosts for engines
// that have none for WASI, and headers that stand in for what wasi-libc lacks.
var corpusDir = filepath.Join("testdata", "corpus")

// A toolchain is a way to make a module of C.
type toolchain struct {
	clang     string // version of Debian's; "" the installed one; "zig" for zig cc
	level     string // -O2 and so on
	optimise  string // level of a wasm-opt that runs after linking; "" for none
	installed bool   // wasm-opt too is the one that is installed
}

// name is the toolchain's column.
func (c toolchain) name() string {
	s := "clang" + c.clang
	switch {
	case c.clang == "zig":
		s = "zigcc0.11"
	case c.clang == "":
		s = "installed"
	}
	s += c.level
	if c.optimise != "" {
		s += "+wasm-opt" + c.optimise
	}
	return s
}

// tell says exactly which tools those are.
func (c toolchain) tell(l *larder) (string, error) {
	t, program, err := c.compiler(l)
	if err != nil {
		return "", err
	}
	s := versionOf(t, program[0]) + ", " + c.level
	if c.clang == "zig" {
		s = zigPackage + ", " + c.level
	}
	if c.optimise != "" {
		o, err := l.binaryen(c.installed)
		if err != nil {
			return "", err
		}
		s += ", " + versionOf(o, "wasm-opt") + ", " + c.optimise
	}
	return s, nil
}

// compiler gives the program that compiles and links, with what it always takes.
func (c toolchain) compiler(l *larder) (*tool, []string, error) {
	if c.clang == "zig" {
		t, err := l.zig()
		return t, []string{"zig", "cc", "--target=wasm32-wasi"}, err
	}
	t, err := l.clang(c.clang)
	program := []string{"clang", "--target=wasm32-wasi"}
	if err == nil && t.root != "" {
		program = append(program, "--sysroot="+filepath.Join(t.root, "usr"))
	}
	return t, program, err
}

// A cProgram is a recipe for C.
type cProgram struct {
	dir     string   // where the sources are; "" for here
	sources []string // relative to it, or absolute
	flags   []string // of the compiler
	link    []string
	absent  bool // with testdata/corpus/absent
}

// emulated is what wasi-libc offers if it is asked to.
var emulated = []string{"signal", "process-clocks", "mman", "getpid"}

// build compiles each source by itself and links without a level: clang would
// run whichever wasm-opt it finds after linking with one.
func (c toolchain) build(l *larder, name string, p cProgram) (string, error) {
	identity, err := c.tell(l)
	if err != nil {
		return "", err
	}
	own, err := ourWords(p.sources)
	if err != nil {
		return "", err
	}
	dir, err := l.keep("built", name, fmt.Sprint(identity, p, own), func(dir string) error { return c.make(l, dir, p) })
	return filepath.Join(dir, moduleFile), err
}

// moduleFile is the name of a module in its folder.
const moduleFile = "guest.wasm"

func (c toolchain) make(l *larder, dir string, p cProgram) error {
	t, program, err := c.compiler(l)
	if err != nil {
		return err
	}
	compile, link := slices.Concat(program[1:], []string{c.level, "-w"}), slices.Concat(program[1:], []string{"-lm"})
	if p.absent {
		stubs, err := filepath.Abs(filepath.Join(corpusDir, "absent"))
		if err != nil {
			return err
		}
		compile = append(compile, "-I", stubs, "-include", "signal.h", "-include", "absent.h")
		for _, e := range emulated {
			compile = append(compile, "-D_WASI_EMULATED_"+strings.ToUpper(strings.ReplaceAll(e, "-", "_")))
			link = append(link, "-lwasi-emulated-"+e)
		}
		link = append(link, bigStack[0])
		if c.clang != "zig" { // which knows no such flag
			link = append(link, bigStack[1])
		}
	}
	objects, err := compileAll(t, program[0], append(compile, p.flags...), dir, p)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, moduleFile)
	if err := t.run("", program[0], slices.Concat(link, []string{"-o", out}, objects, p.link)...); err != nil {
		return err
	}
	if c.optimise != "" {
		if err := optimise(l, c.installed, out, out, c.optimise); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := os.Remove(o); err != nil {
			return err
		}
	}
	return nil
}

// bigStack is enough for an interpreter's recursion, and lies where an overflow is caught.
var bigStack = []string{"-Wl,-z,stack-size=8388608", "-Wl,--stack-first"}

// compileAll compiles as many sources at a time as there are cores to spare.
func compileAll(t *tool, program string, flags []string, dir string, p cProgram) ([]string, error) {
	const atOnce = 2
	objects, failed := make([]string, len(p.sources)), make([]error, len(p.sources))
	var wg sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i, s := range p.sources {
		objects[i] = filepath.Join(dir, fmt.Sprintf("%d.o", i))
		room <- struct{}{}
		wg.Go(func() {
			failed[i] = t.run(p.dir, program, slices.Concat(flags, []string{"-c", "-o", objects[i], s})...)
			<-room
		})
	}
	wg.Wait()
	return objects, errors.Join(failed...)
}

// optimise runs wasm-opt on a module. The features are those that clang may use.
func optimise(l *larder, installed bool, in, out, level string) error {
	t, err := l.binaryen(installed)
	if err != nil {
		return err
	}
	return t.run("", "wasm-opt", level, "--enable-simd", "--enable-bulk-memory", "--enable-sign-ext",
		"--enable-mutable-globals", "--enable-nontrapping-float-to-int", in, "-o", out)
}

// ourWords is a digest of what of a recipe lies in this repository and may change.
func ourWords(sources []string) (string, error) {
	h := sha256.New()
	stubs, err := filepath.Glob(filepath.Join(corpusDir, "absent", "*"))
	if err != nil {
		return "", err
	}
	for _, s := range append(stubs, sources...) {
		b, err := os.ReadFile(s)
		if errors.Is(err, os.ErrNotExist) {
			continue // below the recipe's own folder, which does not change
		}
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// nativeBuild compiles the same sources for this machine with the same clang,
// for what a program costs natively.
func nativeBuild(l *larder, name string, p cProgram) (string, error) {
	t, err := l.clang("")
	if err != nil {
		return "", err
	}
	own, err := ourWords(p.sources)
	if err != nil {
		return "", err
	}
	dir, err := l.keep("native", name, fmt.Sprint(versionOf(t, "clang"), p, own), func(dir string) error {
		out := []string{"-O2", "-w", "-o", filepath.Join(dir, "guest")}
		cmd := exec.Command("clang", slices.Concat(out, p.flags, p.sources, []string{"-lm"})...)
		cmd.Dir = p.dir
		return finish(cmd)
	})
	return filepath.Join(dir, "guest"), err
}
