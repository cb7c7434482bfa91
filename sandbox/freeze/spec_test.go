package freeze_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The WebAssembly specification's own tests, as they ship with wazero, are the judge here: what plain wazero
// answers, the instrumented module must answer too, also when its stack is taken apart and put together again at
// every third poll.

type specFile struct {
	Commands []specCommand `json:"commands"`
}

type specCommand struct {
	Type     string `json:"type"`
	Line     int    `json:"line"`
	Name     string `json:"name"`
	Filename string `json:"filename"`
	As       string `json:"as"`
	Action   struct {
		Type   string      `json:"type"`
		Module string      `json:"module"`
		Field  string      `json:"field"`
		Args   []specValue `json:"args"`
	} `json:"action"`
	Text string `json:"text"`
}

type specValue struct {
	Type  string `json:"type"`
	Lane  string `json:"lane_type"`
	Value any    `json:"value"`
}

// bits gives the value as wazero takes arguments.
func (v specValue) bits() []uint64 {
	if lanes, ok := v.Value.([]any); ok {
		width, _ := strconv.Atoi(strings.TrimLeft(v.Lane, "if"))
		var out [2]uint64
		for i, l := range lanes {
			at := i * width
			out[at/64] |= number(l.(string), width) << (at % 64)
		}
		return out[:]
	}
	s, _ := v.Value.(string)
	switch {
	case v.Value == nil || s == "null":
		return []uint64{0}
	case v.Type == "externref":
		return []uint64{number(s, 64) + 1} // 0 is wazero's null
	case strings.HasSuffix(v.Type, "32"):
		return []uint64{number(s, 32)}
	}
	return []uint64{number(s, 64)}
}

func number(s string, width int) uint64 {
	if strings.HasPrefix(s, "-") {
		n, _ := strconv.ParseInt(s, 10, 64)
		return uint64(n) & (1<<(width-1)<<1 - 1)
	}
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// runner is a way to run modules.
type runner interface {
	instantiate(b []byte, name string) (instance, error)
}

type instance interface {
	call(field string, args []uint64) ([]uint64, error)
	module() api.Module
}

type plainRunner struct{ rt wazero.Runtime }

type plainInstance struct{ mod api.Module }

func (r plainRunner) instantiate(b []byte, name string) (instance, error) {
	mod, err := r.rt.InstantiateWithConfig(context.Background(), b, wazero.NewModuleConfig().WithName(name))
	if err != nil {
		return nil, err
	}
	return plainInstance{mod}, nil
}

func (i plainInstance) module() api.Module { return i.mod }

func (i plainInstance) call(field string, args []uint64) ([]uint64, error) {
	f := i.mod.ExportedFunction(field)
	if f == nil {
		return nil, errors.New("no such export")
	}
	return f.Call(context.Background(), args...)
}

type frozenRunner struct {
	rt      wazero.Runtime
	host    *freeze.Host
	torture int
	count   *specCount
}

type frozenInstance struct {
	m     *freeze.Machine
	count *specCount
}

func (r frozenRunner) instantiate(b []byte, name string) (instance, error) {
	ctx := context.Background()
	prog, err := freeze.Instrument(b, freeze.Options{})
	if err != nil {
		return nil, err
	}
	compiled, err := r.rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		return nil, fmt.Errorf("instrumented module: %w", err)
	}
	m, err := r.host.Instantiate(ctx, prog, compiled,
		freeze.Config{Name: name, TortureEvery: r.torture, TortureMost: 1500})
	if err != nil {
		return nil, err
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	return frozenInstance{m, r.count}, nil
}

func (i frozenInstance) module() api.Module { return i.m.Module() }

func (i frozenInstance) call(field string, args []uint64) ([]uint64, error) {
	before := i.m.Stats()
	out, err := i.m.Call(context.Background(), field, args...)
	i.count.yields += i.m.Stats().Yields - before.Yields
	i.count.unwinds += i.m.Stats().Unwinds - before.Unwinds
	return out, err
}

// specCount is the outcome of many modules.
type specCount struct {
	modules, asserts, failed, yields, unwinds, traps int
	refused                                          map[string]int
}

func specDirs(t testing.TB) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Skip("the module cache is not at hand: ", err)
	}
	base := filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest")
	return []string{filepath.Join(base, "v1/testdata"), filepath.Join(base, "v2/testdata")}
}

// specSample is the share of the files run by default: all of them take minutes. GODWIT_SPEC=all runs all,
// GODWIT_SPEC=name those whose path contains the name.
const specSample = 8

func specFiles(t testing.TB) []string {
	var out []string
	want := os.Getenv("GODWIT_SPEC")
	for _, dir := range specDirs(t) {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal("no specification tests: ", err)
		}
		for i, f := range files {
			base := filepath.Base(f)
			switch {
			case want == "all":
			case want != "" && !strings.Contains(f, want):
				continue
			case want == "" && i%specSample != 0 && !specAlways[base]:
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

// specAlways are the files that matter most here: control flow, calls, tables, memories, references.
var specAlways = map[string]bool{"loop.json": true, "br_table.json": true, "call_indirect.json": true, "fac.json": true,
	"table_init.json": true, "memory_init.json": true, "linking.json": true, "ref_func.json": true, "br.json": true,
	"elem.json": true}

func TestSpecification(t *testing.T) {
	for _, engine := range []string{"compiler", "interpreter"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "interpreter" && (testing.Short() || os.Getenv("GODWIT_SPEC") == "") {
				t.Skip("set GODWIT_SPEC")
			}
			for _, torture := range []int{0, 3} {
				count := &specCount{refused: map[string]int{}}
				for _, f := range specFiles(t) {
					runSpecFile(t, f, engine, torture, count)
				}
				t.Logf("torture every %d: %d modules run, %d assertions, %d yields, %d unwinds, %d traps; refused %v; failed %d",
					torture, count.modules, count.asserts, count.yields, count.unwinds, count.traps, count.refused, count.failed)
				if count.failed > 0 || count.modules == 0 || count.traps == 0 {
					t.Fail()
				}
			}
		})
	}
}

func specRuntime(t *testing.T, dir, engine string) wazero.Runtime {
	ctx := context.Background()
	features := api.CoreFeaturesV2
	config := wazero.NewRuntimeConfig()
	if engine == "interpreter" {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	rt := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(features))
	b, err := os.ReadFile(filepath.Join(dir, "../../testdata/spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.InstantiateWithConfig(ctx, b, wazero.NewModuleConfig()); err != nil {
		t.Fatal(err)
	}
	return rt
}

// runSpecFile runs the commands of one file with both runners and compares.
func runSpecFile(t *testing.T, file, engine string, torture int, count *specCount) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var spec specFile
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file)
	ctx := context.Background()
	plainRT, frozenRT := specRuntime(t, dir, engine), specRuntime(t, dir, engine)
	defer plainRT.Close(ctx)
	defer frozenRT.Close(ctx)
	host, err := freeze.NewHost(ctx, frozenRT)
	if err != nil {
		t.Fatal(err)
	}
	s := &specRun{t: t, dir: dir, file: filepath.Base(dir[:len(dir)-len("/testdata")]) + "/" + filepath.Base(file),
		count: count,
		plain: plainRunner{plainRT}, frozen: frozenRunner{frozenRT, host, torture, count}, named: map[string][2]instance{}}
	for i := range spec.Commands {
		next := ""
		if i+1 < len(spec.Commands) && spec.Commands[i+1].Type == "register" {
			next = spec.Commands[i+1].As
		}
		s.command(&spec.Commands[i], next)
	}
}

type specRun struct {
	t             *testing.T
	dir, file     string
	plain, frozen runner
	last          [2]instance
	named         map[string][2]instance
	count         *specCount
}

func (s *specRun) fail(c *specCommand, format string, args ...any) {
	s.count.failed++
	if s.count.failed <= 60 {
		s.t.Errorf("%s:%d %s %s: %s", s.file, c.Line, c.Type, c.Action.Field, fmt.Sprintf(format, args...))
	}
}

func (s *specRun) command(c *specCommand, registered string) {
	switch c.Type {
	case "module", "assert_uninstantiable":
		b, err := os.ReadFile(filepath.Join(s.dir, c.Filename))
		if err != nil {
			return // a module in text form
		}
		s.module(c, b, registered)
	case "assert_return", "action", "assert_trap", "assert_exhaustion":
		s.action(c)
	}
}

func (s *specRun) module(c *specCommand, b []byte, registered string) {
	p, errP := s.plain.instantiate(b, registered)
	f, errF := s.frozen.instantiate(b, registered)
	if c.Type == "assert_uninstantiable" && errF != nil && strings.Contains(errF.Error(), "out of bounds table access") {
		s.count.traps++ // as specified; plain wazero leaves out the segment instead
		return
	}
	if errors.Is(errF, freeze.ErrRefused) {
		if errP == nil {
			s.count.refused[refusal(errF)]++
		}
		f = nil
	} else if (errP == nil) != (errF == nil) {
		s.fail(c, "%s: plain wazero: %v; instrumented: %v", c.Filename, errP, errF)
	} else if errP == nil {
		s.count.modules++
	}
	if errP != nil {
		return
	}
	s.last = [2]instance{p, f}
	if c.Name != "" {
		s.named[c.Name] = s.last
	}
}

func refusal(err error) string {
	var e *wasm.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return err.Error()
}

func (s *specRun) action(c *specCommand) {
	pair := s.last
	if c.Action.Module != "" {
		pair = s.named[c.Action.Module]
	}
	if pair[0] == nil || pair[1] == nil {
		return
	}
	s.count.asserts++
	if c.Action.Type == "get" {
		p, f := pair[0].module().ExportedGlobal(c.Action.Field), pair[1].module().ExportedGlobal(c.Action.Field)
		if p == nil || f == nil || p.Get() != f.Get() {
			s.fail(c, "global differs")
		}
		return
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.bits()...)
	}
	want, errP := pair[0].call(c.Action.Field, args)
	got, errF := pair[1].call(c.Action.Field, args)
	if errP != nil && errors.Is(errF, freeze.ErrTooDeep) && strings.HasSuffix(reason(errF), reason(errP)) {
		return // the same overflow, known to be the engine's
	}
	if reason(errP) != reason(errF) {
		s.fail(c, "plain wazero: %v; instrumented: %v", errP, errF)
		return
	}
	if errP != nil {
		return
	}
	types := pair[0].module().ExportedFunction(c.Action.Field).Definition().ResultTypes()
	if !sameResults(want, got, types) {
		s.fail(c, "plain wazero: %x; instrumented: %x", want, got)
	}
}

// reason is what an error says before the stack trace, which names other functions.
func reason(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	line, _, _ = strings.Cut(line, " (recovered by wazero)")
	return line
}

// sameResults compares results up to the bits of NaNs and the addresses of references.
func sameResults(a, b []uint64, types []api.ValueType) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for _, t := range types {
		switch t {
		case api.ValueTypeF32:
			if uint32(a[i]) != uint32(b[i]) && !(isNaN32(a[i]) && isNaN32(b[i])) {
				return false
			}
		case api.ValueTypeF64:
			if a[i] != b[i] && !(isNaN64(a[i]) && isNaN64(b[i])) {
				return false
			}
		case api.ValueTypeI32:
			if uint32(a[i]) != uint32(b[i]) {
				return false
			}
		case 0x7b:
			if !sameVector(a[i], b[i]) || !sameVector(a[i+1], b[i+1]) {
				return false
			}
			i++
		case 0x70:
			if (a[i] == 0) != (b[i] == 0) {
				return false
			}
		default:
			if a[i] != b[i] {
				return false
			}
		}
		i++
	}
	return true
}

func sameVector(a, b uint64) bool {
	if a == b || isNaN64(a) && isNaN64(b) {
		return true
	}
	half := func(a, b uint64) bool { return uint32(a) == uint32(b) || isNaN32(a) && isNaN32(b) }
	return half(a, b) && half(a>>32, b>>32)
}

func isNaN32(x uint64) bool { return uint32(x)&0x7fffffff > 0x7f800000 }
func isNaN64(x uint64) bool { return math.IsNaN(math.Float64frombits(x)) }
