package freeze_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"testing"

	"godwit/sandbox/freeze"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// stage is the outside of one run of a generated module, across all its instances. What its functions answer depends on
// which module calls them, as it does for a host that keeps files or arguments with each instance.
type stage struct {
	main  api.Module // the instance that may call
	calls uint64
	trace uint64 // of all calls: a hash of their order, arguments and what they saw
}

type stageKey struct{}

// errStage is what the host function "fail" fails with.
var errStage = errors.New("the host refuses")

func (s *stage) note(xs ...uint64) {
	h := fnv.New64a()
	for _, x := range append(xs, s.trace) {
		var b [8]byte
		for k := range b {
			b[k] = byte(x >> (8 * k))
		}
		h.Write(b[:])
	}
	s.trace = h.Sum64()
	s.calls++
}

// pages is how much memory the caller has, in pages.
func pages(mod api.Module) uint64 { return uint64(mod.Memory().Size()) >> 16 }

const (
	stageStranger = 0xbad // what "who" adds for a caller that is not the guest
	stageFails    = 63    // what "fail" fails for
)

// addStage puts the host functions into a runtime.
func addStage(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(genHostModule)
	types := func(ts []byte) []api.ValueType { return ts }
	for k, f := range []func(*stage, api.Module, []uint64){stageWho, stageMix, stageFail, stagePeek, stagePoke} {
		t := genHostTypes[k]
		b = b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module,
			stack []uint64) {
			f(ctx.Value(stageKey{}).(*stage), mod, stack)
		}), types(valBytes(t.Params)), types(valBytes(t.Results))).Export(genHostNames[k])
	}
	_, err := b.Instantiate(ctx)
	return err
}

func stageWho(s *stage, mod api.Module, stack []uint64) {
	s.note(genWho)
	x := s.calls
	if mod != s.main || mod.Name() != s.main.Name() {
		x += stageStranger << 8
	}
	stack[0] = uint64(uint32(x))
}

func stageMix(s *stage, mod api.Module, stack []uint64) {
	x := math.Float64frombits(stack[1])
	if x != x {
		x = math.NaN()
	}
	s.note(genMix, uint64(uint32(stack[0])), math.Float64bits(x), stack[2])
	stack[0], stack[1] = s.trace, uint64(uint32(s.trace>>7))&0xff
}

func stageFail(s *stage, _ api.Module, stack []uint64) {
	s.note(genFail, uint64(uint32(stack[0])))
	if uint32(stack[0]) == stageFails {
		panic(errStage)
	}
}

func stagePeek(s *stage, mod api.Module, stack []uint64) {
	x, ok := mod.Memory().ReadUint32Le(uint32(stack[0]) & (genMemory - 1))
	s.note(genPeek, uint64(uint32(stack[0])), uint64(x), pages(mod))
	if ok {
		stack[0] = uint64(x)
	}
}

func stagePoke(s *stage, mod api.Module, stack []uint64) {
	ok := mod.Memory().WriteUint64Le(uint32(stack[0])&(genMemory-1), stack[1])
	s.note(genPoke, uint64(uint32(stack[0])), stack[1])
	if !ok {
		s.note(genPoke)
	}
}

// engines are runtimes with the host functions, one for each way to run code.
type engines struct {
	plain [2]wazero.Runtime // these end when their context does
	ours  [2]wazero.Runtime
	hosts [2]*freeze.Host
}

const (
	compiler    = 0
	interpreter = 1
)

var engineNames = [2]string{"compiler", "interpreter"}

func newEngines(ctx context.Context) (*engines, error) {
	e := &engines{}
	for k, c := range []wazero.RuntimeConfig{wazero.NewRuntimeConfig(), wazero.NewRuntimeConfigInterpreter()} {
		e.ours[k] = wazero.NewRuntimeWithConfig(ctx, c)
		e.plain[k] = wazero.NewRuntimeWithConfig(ctx, c.WithCloseOnContextDone(true))
		for _, rt := range []wazero.Runtime{e.ours[k], e.plain[k]} {
			if err := addStage(ctx, rt); err != nil {
				return nil, err
			}
		}
		h, err := freeze.NewHost(ctx, e.ours[k])
		if err != nil {
			return nil, err
		}
		e.hosts[k] = h
	}
	return e, nil
}

func (e *engines) close(ctx context.Context) {
	for k := range e.ours {
		if e.ours[k] != nil {
			e.ours[k].Close(ctx)
			e.plain[k].Close(ctx)
		}
	}
}

// TestStageTellsCallers checks that the host functions are of use: another caller gets another answer.
func TestStageTellsCallers(t *testing.T) {
	ctx := context.Background()
	e, err := newEngines(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close(ctx)
	mod, err := e.plain[compiler].Instantiate(ctx, newGenerator(1).module())
	if err != nil {
		t.Fatal(err)
	}
	var got [2]uint64
	for k, main := range []api.Module{mod, nil} {
		s := &stage{main: main}
		stack := []uint64{0}
		if main == nil {
			s.main = e.plain[compiler].Module(genHostModule)
		}
		stageWho(s, mod, stack)
		got[k] = stack[0]
	}
	if got[0] == got[1] {
		t.Fatalf("both callers were told %x", got[0])
	}
}
