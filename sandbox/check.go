package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	decoder "godwit/sandbox/wasm"
)

// ModuleErrorKind tells apart what can be wrong with a module.
type ModuleErrorKind uint8

// The kinds of ModuleError.
const (
	NotWasm        ModuleErrorKind = 1 + iota // some other file
	Truncated                                 // the end is missing
	Malformed                                 // does not validate
	MissingImport                             // imports a function that is not offered
	WrongSignature                            // imports one with another type
	NoStart                                   // exports no _start: a library, not a program
	TooLarge                                  // over MaxModule, tables over maxTable, a function over what it may weigh
	Unsupported                               // uses a feature from outside WebAssembly 2.0
)

// A ModuleError says why a module cannot run, and what to do about it.
type ModuleError struct {
	Kind   ModuleErrorKind
	Reason string
	Hint   string // may be empty
}

func (e *ModuleError) Error() string { return e.Reason }

// full is the reason and the hint, for who can show one text only.
func (e *ModuleError) full() string {
	if e.Hint == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Hint
}

func invalid(kind ModuleErrorKind, hint, format string, args ...any) *ModuleError {
	return &ModuleError{kind, fmt.Sprintf(format, args...), hint}
}

// startFunction is what a program exports for its host to call.
const startFunction = "_start"

// maxTable bounds the entries of a module's tables at the start. A table's
// memory is the host's, 8 bytes an entry; 10 million is what browsers allow.
const maxTable = 10_000_000

// CheckModule says whether a module can run here: it validates all of it, and
// that every import is offered with the right type. The error is a *ModuleError.
func CheckModule(wasm []byte) error {
	if err := CheckSections(wasm); err != nil {
		return err
	}
	return validate(context.Background(), wasm)
}

// validate checks a module's code. It takes a compilation for the interpreter:
// 2 s of processor time and 1 GiB for one of 47 MB. Before that it weighs the
// functions, which takes a third as long.
func validate(ctx context.Context, wasm []byte) error {
	if err := weighed(wasm); err != nil {
		return err
	}
	return validateWeighed(ctx, wasm)
}

// weighed refuses a module with a function that is too heavy, or that cannot be read.
func weighed(wasm []byte) error {
	return checkFunctions(wasm, func(err error) error { return malformed(wasm, err) })
}

// malformed says why a module does not validate.
func malformed(wasm []byte, err error) error {
	if e := unsupported(decoder.FindUnsupported(wasm)); e != nil {
		return e
	}
	return invalid(Malformed, "", "does not validate: %s", strings.TrimPrefix(err.Error(), "module: "))
}

// validateWeighed is validate of a module whose functions were weighed.
func validateWeighed(ctx context.Context, wasm []byte) error {
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig(wazero.NewRuntimeConfigInterpreter()))
	defer rt.Close(ctx)
	if _, err := compile(ctx, rt, wasm); err != nil {
		return malformed(wasm, err)
	}
	return nil
}

// compile gives a module to the engine, without its custom sections. All modules from outside reach the engine here.
func compile(ctx context.Context, rt wazero.Runtime, wasm []byte) (wazero.CompiledModule, error) {
	bare, err := decoder.WithoutCustoms(wasm)
	if err != nil {
		return nil, err
	}
	return rt.CompileModule(ctx, bare)
}

// CheckSections is CheckModule without what takes time, the validation of code. It
// is for who has a Pool run the module next: its child validates the code, unless
// it knows that of an earlier run. The error is a *ModuleError.
func CheckSections(wasm []byte) error {
	_, err := check(wasm)
	return err
}

// CheckFreezable says whether a module, which CheckModule has let pass, can be
// frozen. The error names the function and place that is the reason.
func CheckFreezable(wasm []byte) error {
	_, err := freeze.Instrument(wasm, freeze.Options{})
	return err
}

// unsupported makes a ModuleError of a feature that was found; nil of none. The engine's own word for it is left out:
// it names no function, and often sees the consequence only.
func unsupported(e *decoder.Error) error {
	if e == nil || e.Feature == "" {
		return nil
	}
	return invalid(Unsupported, e.Feature.Hint(), "%s", strings.TrimPrefix(e.Error(), "wasm: "))
}

// sectionFeature says which unsupported feature shows outside of a module's code. To look for it takes 15 ms for a
// module of 47 MB, which is for those that readModule found odd.
func sectionFeature(wasm []byte) error {
	_, err := decoder.Decode(wasm)
	var e *decoder.Error
	errors.As(err, &e)
	return unsupported(e)
}

// check does all of CheckModule but the validation of code.
func check(wasm []byte) (Info, error) {
	if int64(len(wasm)) > MaxModule {
		return Info{}, invalid(TooLarge, "", "module of %d bytes is over the limit of %d", len(wasm), MaxModule)
	}
	m, err := readModule(wasm)
	if err != nil {
		return Info{}, err
	}
	if m.odd || m.memories > 1 {
		if err := sectionFeature(wasm); err != nil {
			return Info{}, err
		}
	}
	if err := m.checkImports(); err != nil {
		return Info{}, err
	}
	if m.TableMin > maxTable {
		return Info{}, invalid(TooLarge, "", "tables of %d entries are over the limit of %d", m.TableMin, maxTable)
	}
	return m.Info, m.checkStart()
}

func (m *module) checkImports() error {
	for _, im := range m.Imports {
		if im.Kind != "func" {
			return invalid(MissingImport, "link the module so that it defines its own", "imports a %s we do not offer: %s",
				im.Kind, im)
		}
		if !im.Offered {
			return invalid(MissingImport, importHint(im), "imports a function we do not offer: %s", im)
		}
		params, results, _ := wasi.Offered(im.Name)
		if !slices.Equal(params, im.params) || !slices.Equal(results, im.results) {
			return invalid(WrongSignature, "build it with a current wasi-libc or compiler", "imports %s as %s, but it is %s",
				im, typeString(im.params, im.results), typeString(params, results))
		}
	}
	if len(m.Imports) > 0 && !m.HasMemory {
		return invalid(Malformed, "", "imports WASI functions but has no memory")
	}
	return nil
}

func importHint(im Import) string {
	switch im.Module {
	case wasi.ModuleName:
		return "WASI preview 1 has no such function; build for wasip1 without extensions"
	case "wasi_unstable":
		return "build with a toolchain from after 2020, for wasi_snapshot_preview1"
	case "env":
		return "a library was not linked in, or the module was made for a browser (Emscripten); build for wasip1"
	case "gojs", "go":
		return "build with GOOS=wasip1 instead of GOOS=js"
	}
	if strings.HasPrefix(im.Module, "wasi:") {
		return "build for WASI preview 1 (wasip1) instead of preview 2"
	}
	return "only " + wasi.ModuleName + " is offered"
}

func (m *module) checkStart() error {
	const hint = "build a program with a main function (for C leave out -mexec-model=reactor, for Go -buildmode=c-shared)"
	i := slices.IndexFunc(m.Exports, func(e Export) bool { return e.Name == startFunction && e.Kind == "func" })
	if i < 0 {
		return invalid(NoStart, hint, "exports no function _start")
	}
	f := int(m.Exports[i].index)
	if f >= len(m.funcs) || int(m.funcs[f]) >= len(m.types) {
		return invalid(Malformed, "", "_start is function %d, which does not exist", f)
	}
	if t := m.types[m.funcs[f]]; len(t.params)+len(t.results) > 0 {
		return invalid(NoStart, hint, "_start is %s, not ()", typeString(t.params, t.results))
	}
	return nil
}

func typeString(params, results []api.ValueType) string {
	names := func(ts []api.ValueType) string {
		var s []string
		for _, t := range ts {
			s = append(s, api.ValueTypeName(t))
		}
		return "(" + strings.Join(s, " ") + ")"
	}
	if len(results) == 0 {
		return names(params)
	}
	return names(params) + " -> " + names(results)
}
