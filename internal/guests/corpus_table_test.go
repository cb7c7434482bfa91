package guests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/sandbox"
	"godwit/task"
)

// An entry is one row of the corpus: a program made by a toolchain.
type entry struct {
	program, chain string
	build          func(l *larder) (made, error)
	inputs         func(l *larder) ([]sandbox.Input, error) // nil for none
	env            []task.EnvVar                            // sorted by name
	quick          []string                                 // arguments of the tortured runs and of those under emulation
	long           []string                                 // of hops; nil for quick
	measure        []string                                 // for the overhead; nil for long
	memory         int64                                    // limit in bytes; 0 the default
	most           int                                      // unwinds of a tortured run; 0 for usualTorture
	slow           bool                                     // takes minutes under emulation: fewer hops there
	small          bool                                     // one of testdata's
	stays          bool                                     // is not taken to other architectures
	timed          bool                                     // its overhead counts
	// why it says something else than on plain wazero; "" where it must not
	unlike  string
	refused string // a part of the reason why it cannot run; "" for one that can
	absent  string // why it is not to be had anywhere in reach
}

func (e *entry) name() string { return e.program + "/" + e.chain }

// usualTorture bounds the unwinds of a tortured run: each new safe point has
// code made for it, and after so many nearly all are old ones.
const usualTorture = 1000

// measured are the arguments for the overhead.
func (e *entry) measured() []string {
	for _, args := range [][]string{e.measure, e.long, e.quick} {
		if args != nil {
			return args
		}
	}
	return nil
}

// moved are the arguments for hops.
func (e *entry) moved() []string {
	if e.long != nil {
		return e.long
	}
	return e.quick
}

// corpus is every row there is.
func corpus() []entry {
	return slices.Concat(smallEntries(), foreignEntries(), timedAll(languages), timedAll(large), prebuilt, missing)
}

func timedAll(entries []entry) []entry {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].timed = true
	}
	return entries
}

// levels are what clang is asked for, and what wasm-opt does after it: with -O4
// clang compiles as with -O3 and passes -O4 on.
var levels = []toolchain{
	{clang: "14", level: "-O1"}, {clang: "14", level: "-O2"}, {clang: "14", level: "-O3"}, {clang: "14", level: "-Oz"},
	{clang: "14", level: "-O1", optimise: "-O1"}, {clang: "14", level: "-O2", optimise: "-O2"},
	{clang: "14", level: "-O3", optimise: "-O3"}, {clang: "14", level: "-O3", optimise: "-O4"},
	{clang: "14", level: "-Oz", optimise: "-Oz"},
	{clang: "19", level: "-O2"}, {clang: "19", level: "-O2", optimise: "-O2"},
}

// slowSmall take too long to hop with each of the levels.
var slowSmall = []string{"large", "deep"}

// smallEntries are the C programs of testdata, at all levels.
func smallEntries() []entry {
	var all []entry
	for _, c := range cPrograms {
		for _, chain := range levels {
			if slices.Contains(slowSmall, c.name) && chain.level != "-O2" {
				continue
			}
			all = append(all, smallEntry(c.name, c.flags, c.memory, chain))
		}
	}
	return all
}

// unlikePlain are programs that look at what is not the same here as on plain wazero.
var unlikePlain = map[string]string{
	"nbody": "it prints the bits of NaNs, which are the same on every machine here",
	"files": "it prints the order of directories, which is by name here",
}

func smallEntry(name string, flags []string, memory int64, chain toolchain) entry {
	source, err := filepath.Abs(filepath.Join("testdata", name+".c"))
	if err != nil {
		panic(err) // there is no working directory
	}
	p := cProgram{sources: []string{source}, flags: flags,
		link: slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return !strings.HasPrefix(f, "-Wl,") })}
	p.flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "-Wl,") })
	return entry{
		program: name, chain: chain.name(), memory: memory, most: smallTorture, small: true, unlike: unlikePlain[name],
		timed: chain.level == "-O2" && name != "large", stays: chain.level != "-O2",
		build: func(l *larder) (made, error) { return buildForeign(l, name, chain, p) },
	}
}

// smallTorture is for programs that know no quick run.
const smallTorture = 5000

// foreignChains are the toolchains of each foreign program in C.
var foreignChains = map[string][]toolchain{
	"quickjs": {{clang: "14", level: "-O2"}, {clang: "14", level: "-O2", optimise: "-O2"},
		{clang: "14", level: "-O3", optimise: "-O4"}, {clang: "14", level: "-Oz", optimise: "-Oz"},
		{clang: "19", level: "-O2"}, {clang: "zig", level: "-O2"}},
	"lua": {{clang: "14", level: "-O2"}, {clang: "14", level: "-O1", optimise: "-O1"},
		{clang: "14", level: "-O2", optimise: "-O2"}, {clang: "14", level: "-O3", optimise: "-O4"},
		{clang: "14", level: "-Oz", optimise: "-Oz"}, {clang: "19", level: "-O2"},
		{clang: "19", level: "-O3", optimise: "-O3"}, {clang: "zig", level: "-O2"}},
	"sqlite": {{clang: "14", level: "-O2"}, {clang: "14", level: "-O2", optimise: "-O2"},
		{clang: "14", level: "-Oz", optimise: "-Oz"}, {clang: "19", level: "-O2"}},
	"zstd":     {{clang: "14", level: "-O2"}, {clang: "14", level: "-O3", optimise: "-O4"}, {clang: "19", level: "-O2"}},
	"bzip2":    {{clang: "14", level: "-O2"}, {clang: "14", level: "-O2", optimise: "-O2"}, {clang: "19", level: "-O2"}},
	"minigzip": {{clang: "14", level: "-O2"}, {clang: "14", level: "-O2", optimise: "-O2"}, {clang: "19", level: "-O2"}},
}

// foreignTorture bounds the torture of programs with large functions, for which
// each new safe point takes long.
const foreignTorture = 200

func foreignEntries() []entry {
	var all []entry
	for _, f := range foreigners {
		for _, chain := range foreignChains[f.name] {
			all = append(all, entry{
				program: f.name, chain: chain.name(), inputs: f.inputs, env: f.env, most: foreignTorture,
				quick: f.quick, long: f.long, measure: f.measure, timed: true,
				build: func(l *larder) (made, error) {
					p, err := f.recipe(l)
					if err != nil {
						return made{}, err
					}
					return buildForeign(l, f.name, chain, p)
				},
			})
		}
	}
	return all
}

// buildForeign builds a C program for WASI, and for this machine where there is a clang for it.
func buildForeign(l *larder, name string, chain toolchain, p cProgram) (made, error) {
	tools, err := chain.tell(l)
	if err != nil {
		return made{}, err
	}
	module, err := chain.build(l, name+"-"+chain.name(), p)
	return made{module: module, tools: tools, native: nativeOrNone(l, name, p)}, err
}

// nativeOrNone gives no program where none can be built: that takes nothing from the row.
func nativeOrNone(l *larder, name string, p cProgram) string {
	native, err := nativeBuild(l, name, p)
	if err != nil {
		return ""
	}
	return native
}

// wazeroTests takes one of the modules that wazero's own tests have.
func wazeroTests(file string) func(*larder) (made, error) {
	return func(l *larder) (made, error) {
		const module = "github.com/tetratelabs/wazero"
		out, err := client("", "go", "list", "-m", "-f", "{{.Dir}} {{.Version}}", module)
		if err != nil {
			return made{}, err
		}
		dir, version, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		return made{module: filepath.Join(dir, filepath.FromSlash(file)), tools: module + "@" + version + ", prebuilt"}, nil
	}
}

// wazeroCat is the program cat of wazero's tests, as one toolchain made it.
func wazeroCat(toolchain string) func(*larder) (made, error) {
	return wazeroTests("imports/wasi_snapshot_preview1/example/testdata/" + toolchain + "/cat.wasm")
}

// prebuilt are modules of toolchains that no registry has.
var prebuilt = []entry{
	{program: "cat", chain: "tinygo", build: wazeroCat("tinygo"),
		inputs: scripts("work.lua"), quick: []string{"work.lua"}},
	{program: "cat", chain: "zig", build: wazeroCat("zig"),
		inputs: scripts("work.lua"), quick: []string{"work.lua"}},
	{program: "cat", chain: "zigcc", build: wazeroCat("zig-cc"),
		inputs: scripts("work.lua"), quick: []string{"work.lua"}},
	{program: "cat", chain: "cargo-wasi", build: wazeroCat("cargo-wasi"),
		inputs: scripts("work.lua"), quick: []string{"work.lua"}},
	{program: "pthread", chain: "c", build: wazeroTests("experimental/testdata/pthread.wasm"),
		refused: "threads are not supported"},
	{program: "throw", chain: "by-hand", build: throwing, refused: "exceptions are not supported"},
}

// throwing makes a module whose _start throws an exception, as C++ of wasi-sdk does: no toolchain
// in reach emits that.
func throwing(l *larder) (made, error) {
	module := []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x04\x01\x60\x00\x00" + // a type: nothing to nothing
		"\x03\x02\x01\x00" + // a function of it
		"\x05\x03\x01\x00\x01" + // a memory of one page
		"\x0d\x03\x01\x00\x00" + // a tag of it
		"\x07\x13\x02\x06_start\x00\x00\x06memory\x02\x00" +
		"\x0a\x06\x01\x04\x00\x08\x00\x0b") // throw 0
	dir, err := l.keep("built", "throw", fmt.Sprintf("%x", module), func(dir string) error {
		return os.WriteFile(filepath.Join(dir, moduleFile), module, 0o644)
	})
	return made{module: filepath.Join(dir, moduleFile), tools: "by hand"}, err
}

// missing are rows for what was looked for and is not there.
var missing = []entry{
	{program: "json", chain: "tinygo", absent: "TinyGo is in none of Debian's packages, Go's modules and npm: the row " +
		"cat/tinygo has a module that it built"},
	{program: "work.cc", chain: "wasi-sdk",
		absent: "wasi-sdk is in none of them, so there is no C++ library here that throws: the row throw/by-hand has a " +
			"module of our own"},
	{program: "ruby", chain: "npm", absent: "@ruby/3.4-wasm-wasi has no _start and imports 24 functions of JavaScript: " +
		"no command for WASI runs it, wazero's neither"},
}

// find gives the rows that a list of programs, toolchains or both joined by a slash names.
func find(names []string) ([]entry, error) {
	all := corpus()
	var found []entry
	known := map[string]bool{}
	for _, e := range all {
		known[e.program], known[e.chain], known[e.name()] = true, true, true
		if slices.Contains(names, e.program) || slices.Contains(names, e.chain) || slices.Contains(names, e.name()) {
			found = append(found, e)
		}
	}
	for _, n := range names {
		if !known[n] {
			return nil, fmt.Errorf("the corpus has no program, toolchain or row %q", n)
		}
	}
	return found, nil
}
