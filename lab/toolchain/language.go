package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/failure"
)

// A Language is one that programs can be written in.
type Language struct {
	Name  string // as --lang takes it
	Title string // as people write it
	build func(b *builder) error
	// has says whether a directory has a program in the language.
	has func(dir string) bool
}

// languages are in the order in which a directory is looked at: the first that it has a program of is taken.
var languages = []Language{
	{"tinygo", "TinyGo", buildTinyGo, hasTinyGo},
	{"go", "Go", buildGo, endsIn(".go")},
	{"rust", "Rust", buildRust, func(dir string) bool { return endsIn(".rs")(dir) || exists(dir, "Cargo.toml") }},
	{"zig", "Zig", buildZig, endsIn(".zig")},
	{"cpp", "C++", buildCpp, endsIn(".cc", ".cpp", ".cxx")},
	{"c", "C", buildC, endsIn(".c")},
	{"assemblyscript", "AssemblyScript", buildAssembly, endsIn(".ts")},
	{"javascript", "JavaScript", buildScript("javascript"), hasScript("javascript")},
	{"lua", "Lua", buildScript("lua"), hasScript("lua")},
	{"python", "Python", buildScript("python"), hasScript("python")},
	{"ruby", "Ruby", buildScript("ruby"), hasScript("ruby")},
}

// Names lists the languages by what --lang takes, sorted.
func Names() []string {
	var names []string
	for _, l := range languages {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	return names
}

// named returns a language by its name.
func named(name string) (Language, error) {
	for _, l := range languages {
		if l.Name == name {
			return l, nil
		}
	}
	return Language{}, failure.Usage("write one of "+strings.Join(Names(), ", "), "no language is called %q", name)
}

// Find returns the language of the program in a directory.
func Find(dir string) (Language, error) {
	const what = "a program is a directory with .go, .c, .cc, .rs, .zig or .ts files, or a main.js, " +
		"main.lua, main.py or main.rb; `godwit new --lang go DIR` makes one"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Language{}, failure.Usage("give the directory of a program", "%s is not a directory", dir)
	}
	for _, l := range languages {
		if l.has(dir) {
			return l, nil
		}
	}
	return Language{}, failure.Usage(what, "no program was found in %s", dir)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// endsIn says whether a directory has files whose names end so.
func endsIn(suffixes ...string) func(dir string) bool {
	return func(dir string) bool {
		for _, s := range suffixes {
			if len(withSuffix(dir, s)) > 0 {
				return true
			}
		}
		return false
	}
}

// withSuffix lists the files of a directory whose names end so, by name.
func withSuffix(dir, suffix string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // whoever compiles says so
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// tinyGoTag begins a Go file that is TinyGo's alone: Go leaves it out.
const tinyGoTag = "//go:build tinygo\n"

func hasTinyGo(dir string) bool {
	for _, name := range withSuffix(dir, ".go") {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && strings.HasPrefix(string(b), tinyGoTag) {
			return true
		}
	}
	return false
}
