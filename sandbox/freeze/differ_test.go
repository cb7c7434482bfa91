package freeze_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"godwit/sandbox/freeze"

	"github.com/tetratelabs/wazero"
)

// Bounds on what is done with one module, so that many modules are tried.
const (
	differFuel     = 200_000          // a module that uses more is left out
	runawayFuel    = 2 * differFuel   // a run that uses more goes wrong
	differChain    = 40               // moves of one run
	differSingles  = 6                // runs that move once
	differPatience = 20 * time.Second // for one run; longer means that it does not end
)

// differTorture is how often a run is unwound in place, by engine: the compiler takes long for resume functions.
var differTorture = [2]int{150, 500}

// outcome is all that can be seen of a run.
type outcome struct {
	calls   []called
	memory  []byte
	trace   uint64
	fuel    []uint64 // after each call
	polls   []uint64 // fuel used where it was frozen
	states  []string // what it was then: sums of frames, globals and memory
	unwinds int
}

type called struct {
	results []uint64
	why     string // it failed
}

// difference is two outcomes that should be the same and are not.
type difference struct {
	way    string // of running it
	detail string
}

func (d *difference) Error() string { return d.way + ": " + d.detail }

// errSkip is wrapped by errors about modules that are not compared.
var errSkip = errors.New("not compared")

// differ compares runs of one module.
type differ struct {
	module  []byte
	options freeze.Options
	raw     bool   // float results differ between engines unless made canonical: compare with what is so at once
	only    string // way that is tried; empty for all
	choice  func(int) int

	e        *engines
	prog     *freeze.Program
	loaded   *freeze.Program // as it comes from a cache
	compiled [2]wazero.CompiledModule
	args     [][]uint64
	memory   bool
	atOnce   *outcome // raw: moved at every poll, with each NaN made canonical where it is made
	runs     int
	unwinds  int
}

// compare runs the module in all ways. The error is a *difference, or wraps errSkip, or says that the module is
// not valid.
func (d *differ) compare(ctx context.Context) error {
	var err error
	if d.e, err = newEngines(ctx); err != nil {
		return err
	}
	defer d.e.close(ctx)
	if err := d.prepare(ctx); err != nil {
		return err
	}
	whole := d.way("whole on the compiler",
		func() *outcome { return d.whole(ctx, compiler, freeze.Config{MaxFuel: differFuel}) })
	for _, c := range whole.calls {
		if strings.Contains(c.why, freeze.ErrKilled.Error()) {
			return fmt.Errorf("%w: %s", errSkip, c.why)
		}
	}
	judge := d.judge
	if d.raw {
		judge = d.judgeRaw
	}
	if err := judge(ctx, whole); err != nil {
		return err
	}
	for _, w := range d.ways(ctx, whole) {
		if d.only != "" && d.only != w.name {
			continue
		}
		got := d.way(w.name, w.run)
		if err := d.same(w.name, whole, got, true); err != nil {
			return err
		}
		if w.name == movedAlways && d.raw {
			if err := d.same(w.name, d.atOnce, got, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare instruments and compiles.
func (d *differ) prepare(ctx context.Context) (err error) {
	c, err := d.e.plain[compiler].CompileModule(ctx, d.module)
	if err != nil {
		return fmt.Errorf("not a valid module: %w", err)
	}
	f := c.ExportedFunctions()["run"]
	if f == nil || c.ExportedFunctions()["dump"] == nil {
		return errors.New("not a module to be compared")
	}
	d.memory = len(c.ExportedMemories()) > 0
	for _, first := range []uint64{5, 2} {
		var args []uint64
		for k := range f.ParamTypes() {
			args = append(args, first+uint64(k)<<33)
		}
		d.args = append(d.args, args)
	}
	defer func() {
		if p := recover(); p != nil {
			err = &difference{"instrument", fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	if d.prog, err = freeze.Instrument(d.module, d.options); err != nil {
		return &difference{"instrument", err.Error()}
	}
	if d.loaded, err = freeze.Load(d.module, d.prog.Wasm, d.prog.Layout); err != nil {
		return &difference{"load", err.Error()}
	}
	for k := range d.compiled {
		if d.compiled[k], err = d.e.ours[k].CompileModule(ctx, d.prog.Wasm); err != nil {
			return &difference{"compile", err.Error()}
		}
	}
	return nil
}

// judge compares the instrumented run with those of plain wazero.
func (d *differ) judge(ctx context.Context, whole *outcome) error {
	var plain [2]*outcome
	for k := range plain {
		var err error
		if plain[k], err = d.plain(ctx, k); err != nil {
			return err
		}
		d.runs++
	}
	if err := d.same("wazero", plain[compiler], plain[interpreter], false); err != nil {
		return fmt.Errorf("%w: wazero's engines differ: %w", errSkip, err)
	}
	return d.same("whole", plain[compiler], whole, false)
}

// judgeRaw compares the instrumented run with one in which each NaN is made canonical where it is made: nothing
// may tell
// whether that is done there or where it is seen.
func (d *differ) judgeRaw(ctx context.Context, whole *outcome) error {
	prog, err := freeze.InstrumentAtOnce(d.module, d.options)
	if err != nil {
		return &difference{"instrument at once", err.Error()}
	}
	at := *d
	at.prog = prog
	at.loaded = prog
	for k := range at.compiled {
		if at.compiled[k], err = d.e.ours[k].CompileModule(ctx, prog.Wasm); err != nil {
			return &difference{"compile at once", err.Error()}
		}
	}
	d.atOnce = d.way("at once", func() *outcome { return at.moved(ctx, everyPoll) })
	return d.same("at once", d.atOnce, whole, true)
}

// movedAlways is the way in which the guest is moved at every poll.
const movedAlways = "moved at every poll"

type way struct {
	name string
	run  func() *outcome
}

// ways lists how the instrumented module is run: whole, taken apart at every poll and every third, moved at every poll
// from one engine to the other, and moved once.
func (d *differ) ways(ctx context.Context, whole *outcome) []way {
	ways := []way{{"whole on the interpreter", func() *outcome { return d.whole(ctx, interpreter, freeze.Config{}) }}}
	for k, name := range engineNames {
		ways = append(ways, way{"every poll on the " + name, func() *outcome {
			return d.whole(ctx, k, freeze.Config{TortureEvery: 1, TortureMost: differTorture[k]})
		}})
	}
	if d.only != "" || d.choice(3) == 0 {
		ways = append(ways, way{"every third poll", func() *outcome {
			return d.whole(ctx, compiler, freeze.Config{TortureEvery: 3, TortureMost: differTorture[compiler]})
		}})
	}
	var polls []uint64
	ways = append(ways, way{movedAlways, func() *outcome {
		o := d.moved(ctx, everyPoll)
		polls = o.polls
		return o
	}})
	if d.only == "" {
		for range differSingles {
			ways = append(ways, way{"moved once", func() *outcome {
				if len(polls) == 0 {
					return whole
				}
				return d.once(ctx, polls[d.choice(len(polls))])
			}})
		}
		return ways
	}
	return append(ways, way{"moved once", func() *outcome { return d.anyOnce(ctx, whole) }})
}

// everyPoll has the guest moved at every poll, but not for ever.
func everyPoll(fuel uint64, moves int) uint64 {
	if moves == differChain {
		return 0
	}
	return fuel + 1
}

// once moves the guest at the first poll at which it has used so much fuel.
func (d *differ) once(ctx context.Context, at uint64) *outcome {
	return d.moved(ctx, func(_ uint64, n int) uint64 {
		if n > 0 {
			return 0
		}
		return at
	})
}

// anyOnce looks for a poll at which one move makes a difference.
func (d *differ) anyOnce(ctx context.Context, whole *outcome) *outcome {
	o := d.moved(ctx, everyPoll)
	for _, at := range o.polls {
		if got := d.once(ctx, at); d.same("", whole, got, true) != nil {
			return got
		}
	}
	return whole
}

// way runs the module in one way; a panic is an outcome like others.
func (d *differ) way(name string, run func() *outcome) (o *outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = &outcome{calls: []called{{why: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}}}
		}
	}()
	d.runs++
	o = run()
	d.unwinds += o.unwinds
	return o
}

// plain runs the module as it is.
func (d *differ) plain(ctx context.Context, engine int) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, differPatience)
	defer cancel()
	s := &stage{}
	ctx = context.WithValue(ctx, stageKey{}, s)
	mod, err := d.e.plain[engine].InstantiateWithConfig(ctx, d.module, wazero.NewModuleConfig().WithName("plain"))
	if err != nil {
		return nil, fmt.Errorf("not a valid module: %w", err)
	}
	defer mod.Close(ctx)
	s.main = mod
	o := &outcome{}
	for _, args := range d.args {
		results, err := mod.ExportedFunction("run").Call(ctx, args...)
		o.calls = append(o.calls, called{results, cause(err)})
	}
	results, err := mod.ExportedFunction("dump").Call(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: the plain module does not end", errSkip)
	}
	o.calls = append(o.calls, called{results, cause(err)})
	if d.memory {
		b, _ := mod.Memory().Read(0, mod.Memory().Size())
		o.memory = bytes.Clone(b)
	}
	o.trace = s.trace
	return o, nil
}

// cause is why a call failed, without what differs between engines.
func cause(err error) string {
	if errors.Is(err, errStage) {
		return errStage.Error()
	}
	return reason(err)
}

// same reports how two outcomes differ.
func (d *differ) same(way string, want, got *outcome, fuel bool) error {
	differs := func(format string, args ...any) error { return &difference{way, fmt.Sprintf(format, args...)} }
	for k := range max(len(want.calls), len(got.calls)) {
		if k >= len(want.calls) || k >= len(got.calls) {
			return differs("%d calls, want %d: %v", len(got.calls), len(want.calls), got.calls)
		}
		w, g := want.calls[k], got.calls[k]
		if w.why != g.why {
			return differs("call %d: %q, want %q", k, g.why, w.why)
		}
		if w.why == "" && (!slices.Equal(w.results, g.results)) {
			return differs("call %d: %x, want %x", k, g.results, w.results)
		}
		if fuel && want.fuel[k] != got.fuel[k] {
			return differs("call %d: fuel %d, want %d", k, got.fuel[k], want.fuel[k])
		}
	}
	if want.states != nil && got.states != nil && !slices.Equal(want.states, got.states) {
		return differs("frozen at %v, it had other frames, globals or memory", got.polls)
	}
	if want.trace != got.trace {
		return differs("the host saw other calls")
	}
	if len(want.memory) != len(got.memory) {
		return differs("memory of %d bytes, want %d", len(got.memory), len(want.memory))
	}
	for k := range want.memory {
		if want.memory[k] != got.memory[k] {
			return differs("memory at %#x: %x, want %x", k, got.memory[k], want.memory[k])
		}
	}
	return nil
}
