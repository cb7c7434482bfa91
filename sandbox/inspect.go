package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"godwit/sandbox/wasi"
)

// Info is what a module says about itself, read without compiling it.
type Info struct {
	Size      int64    // bytes
	Imports   []Import // in the module's order
	Exports   []Export // in the module's order
	HasMemory bool
	MemoryMin int64    // bytes that it needs to start
	MemoryMax int64    // bytes; -1 if it states none
	TableMin  int64    // entries of all tables, to start
	Start     bool     // has a start section
	Functions int      // defined, without imports
	Features  []string // extensions of WebAssembly 1.0 that show outside of code, sorted
}

// An Import is one thing that a module wants from its host.
type Import struct {
	Module, Name string
	Kind         string // "func", "table", "memory", "global", "tag"
	Offered      bool   // by that name; see CheckModule for its type
	params       []api.ValueType
	results      []api.ValueType
}

// String returns "MODULE.NAME".
func (i Import) String() string { return i.Module + "." + i.Name }

// An Export is one thing that a module shows its host.
type Export struct {
	Name, Kind string
	index      uint32
}

// Missing returns the imports that no host here offers, each as "MODULE.NAME".
func (i Info) Missing() []string {
	var names []string
	for _, im := range i.Imports {
		if !im.Offered {
			names = append(names, im.String())
		}
	}
	return names
}

var magic = []byte("\x00asm")

// Inspect reads a module's sections, all but the code. The error is a
// *ModuleError of kind NotWasm, Truncated, Malformed or Unsupported.
func Inspect(wasm []byte) (Info, error) {
	m, err := readModule(wasm)
	if err != nil {
		return Info{}, err
	}
	return m.Info, nil
}

// A module is what readModule learns on the way to an Info.
type module struct {
	Info
	types    []funcType
	funcs    []uint32 // type of each function, imports first
	imported int
	memories int
	odd      bool // what was read is not WebAssembly 2.0
	features map[string]bool
}

type funcType struct{ params, results []api.ValueType }

// The sections, as the binary format numbers them.
const (
	secCustom, secType, secImport, secFunction, secTable, secMemory, secGlobal = 0, 1, 2, 3, 4, 5, 6
	secExport, secStart, secDataCount                                          = 7, 8, 12
)

func readModule(wasm []byte) (*module, error) {
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	m := &module{Info: Info{Size: int64(len(wasm)), MemoryMax: -1}, features: map[string]bool{}}
	r := &reader{b: wasm[8:], at: 8}
	for len(r.b) > 0 && r.fail == nil {
		id := r.byte()
		size := uint64(r.u32())
		if size > uint64(len(r.b)) {
			r.truncated()
			break
		}
		s := r.section(size)
		m.section(id, s)
		if r.fail == nil {
			r.fail = s.fail
		}
	}
	if r.fail != nil {
		if err := sectionFeature(wasm); err != nil {
			return nil, err
		}
		return nil, r.fail
	}
	for f := range m.features {
		m.Features = append(m.Features, f)
	}
	slices.Sort(m.Features)
	return m, nil
}

func checkHeader(wasm []byte) error {
	const hint = "godwit runs WebAssembly modules for WASI preview 1; `godwit build DIR` makes one"
	if n := min(len(wasm), len(magic)); n == 0 || !bytes.Equal(wasm[:n], magic[:n]) {
		return invalid(NotWasm, hint, "not WebAssembly: it does not begin with \\0asm")
	}
	if len(wasm) < 8 {
		return invalid(Truncated, "the file is incomplete; build or copy it again", "truncated at byte %d", len(wasm))
	}
	if v := wasm[4:8]; !bytes.Equal(v, []byte{1, 0, 0, 0}) {
		if v[2] == 1 {
			return invalid(NotWasm, "build a core module for wasip1, not a component (wasip2)",
				"a WebAssembly component, not a module")
		}
		return invalid(NotWasm, hint, "WebAssembly version %d is not known", v[0])
	}
	return nil
}

func (m *module) section(id byte, r *reader) {
	switch id {
	case secType:
		each(r, m.readType)
	case secImport:
		each(r, m.readImport)
	case secFunction:
		each(r, func(r *reader) { m.funcs = append(m.funcs, r.u32()); m.Functions++ })
	case secTable:
		each(r, m.readTable)
	case secMemory:
		each(r, m.readMemory)
	case secExport:
		each(r, func(r *reader) { m.Exports = append(m.Exports, Export{r.name(), kindName(r.byte()), r.u32()}) })
	case secStart:
		m.Start = true
	case secDataCount:
		m.features["bulk-memory"] = true
	case secCustom:
		m.readCustom(r)
	default:
		m.odd = m.odd || id > secDataCount
	}
}

// each reads the items of a vector that takes up a section.
func each(r *reader, item func(*reader)) {
	for n := r.count(); n > 0 && r.fail == nil; n-- {
		item(r)
	}
}

func (m *module) readType(r *reader) {
	if b := r.byte(); b != 0x60 && r.fail == nil {
		r.bad("type form %#x is not known", b)
	}
	t := funcType{params: m.valueTypes(r), results: m.valueTypes(r)}
	if len(t.results) > 1 {
		m.features["multi-value"] = true
	}
	m.types = append(m.types, t)
}

func (m *module) valueTypes(r *reader) []api.ValueType {
	n := r.count()
	types := slices.Clone(r.take(uint64(n)))
	for _, t := range types {
		m.valueType(t)
	}
	return types
}

func (m *module) valueType(t byte) {
	switch t {
	case 0x7b:
		m.features["simd128"] = true
	case 0x6f, 0x70:
		m.features["reference-types"] = true
	case 0x7c, 0x7d, 0x7e, 0x7f:
	default:
		m.odd = true
	}
}

func (m *module) readImport(r *reader) {
	im := Import{Module: r.name(), Name: r.name()}
	kind := r.byte()
	im.Kind = kindName(kind)
	switch kind {
	case 0:
		t := r.u32()
		m.funcs = append(m.funcs, t)
		m.imported++
		if r.fail == nil && int(t) >= len(m.types) {
			r.bad("import %s has type %d of %d", im, t, len(m.types))
			return
		}
		if r.fail == nil {
			im.params, im.results = m.types[t].params, m.types[t].results
		}
		if im.Module == wasi.ModuleName {
			_, _, im.Offered = wasi.Offered(im.Name)
		}
	case 1:
		m.tableType(r)
		m.limits(r)
	case 2:
		m.limits(r)
		m.memories++
	case 3:
		r.take(2)
	case 4:
		r.byte()
		r.u32()
		m.odd = true
	default:
		r.bad("import kind %d is not known", kind)
	}
	m.Imports = append(m.Imports, im)
}

func (m *module) readTable(r *reader) {
	if m.tableType(r) == 0x6f || m.TableMin > 0 { // one of funcref is WebAssembly 1.0
		m.features["reference-types"] = true
	}
	least, _ := m.limits(r)
	m.TableMin += int64(least)
}

func (m *module) readMemory(r *reader) {
	m.HasMemory = true
	m.memories++
	least, most := m.limits(r)
	m.MemoryMin = int64(least) * pageSize
	if most >= 0 {
		m.MemoryMax = most * pageSize
	}
}

// tableType reads the type of a table's entries.
func (m *module) tableType(r *reader) byte {
	t := r.byte()
	m.odd = m.odd || t != 0x6f && t != 0x70
	return t
}

// limits returns the bounds of a table or memory; most is -1 where there is
// none.
func (m *module) limits(r *reader) (least uint32, most int64) {
	flags := r.byte()
	m.odd = m.odd || flags > 1
	if flags > 3 && r.fail == nil {
		r.bad("limits of kind %d", flags)
	}
	least, most = r.u32(), -1
	if flags&1 != 0 {
		most = int64(min(r.u32(), math.MaxUint32))
	}
	return least, most
}

// maxFeatures limits the features that are read of what a module notes. Compilers know a few dozen.
const maxFeatures = 1000

// readCustom looks for what compilers note as features used.
func (m *module) readCustom(r *reader) {
	if r.name() != "target_features" {
		r.fail = nil // a broken custom section breaks nothing
		return
	}
	for n := min(r.count(), maxFeatures); n > 0 && r.fail == nil; n-- {
		used := r.byte() == '+'
		if f := r.name(); used && r.fail == nil {
			m.features[f] = true
		}
	}
	r.fail = nil
}

func kindName(k byte) string {
	names := []string{"func", "table", "memory", "global", "tag"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", k)
}
