package toolchain

import (
	"strings"

	"godwit/internal/failure"
	"godwit/lab/interpreter"
)

// hasScript says whether a directory has a script of a language that a module could be made for.
func hasScript(language string) func(dir string) bool {
	return func(dir string) bool {
		r, err := interpreter.Named(language)
		return err == nil && exists(dir, "main"+r.Suffix)
	}
}

// buildScript puts the interpreter beside the scripts.
func buildScript(language string) func(b *builder) error {
	return func(b *builder) error {
		r, err := interpreter.Named(language)
		if err != nil {
			return failure.Usage("", "%w", err)
		}
		return interpreter.Usual().Install(r, b.dir, b.out)
	}
}

// withScript has a starter's text run a script: as the first argument of the interpreter, and an input. In the test the
// interpreter is where `exec` finds it.
func withScript(text, program string, r interpreter.Recipe) string {
	main := "main" + r.Suffix
	files := append([]string{main}, r.Root...)
	return strings.NewReplacer(
		`args: ["{{.n}}"]`, `args: [`+main+`, "{{.n}}"]`+"\nfiles: ["+strings.Join(files, ", ")+"]",
		"memory: 64MiB", "memory: "+r.Memory,
		"exec "+program+".wasm", "exec "+main,
	).Replace(text)
}
