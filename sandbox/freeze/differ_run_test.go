package freeze_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"godwit/sandbox/freeze"
)

// guestName names every instance, so that the resume functions of one run serve another.
const guestName = "guest"

// guestRun is a run of an instrumented module, across its instances.
type guestRun struct {
	d      *differ
	ctx    context.Context
	stage  *stage
	m      *freeze.Machine
	engine int
	out    *outcome
	// next says, from the fuel used and the number of moves so far, from what fuel on to freeze the guest; 0 for not.
	next func(fuel uint64, moves int) uint64
}

// whole runs the module in one instance.
func (d *differ) whole(ctx context.Context, engine int, cfg freeze.Config) *outcome {
	r := &guestRun{d: d, stage: &stage{}, engine: engine, out: &outcome{}, next: func(uint64, int) uint64 { return 0 }}
	return r.run(ctx, cfg)
}

// moved runs the module, moving it when next says.
func (d *differ) moved(ctx context.Context, next func(uint64, int) uint64) *outcome {
	r := &guestRun{d: d, stage: &stage{}, engine: compiler, out: &outcome{}, next: next}
	return r.run(ctx, freeze.Config{})
}

func (r *guestRun) run(ctx context.Context, cfg freeze.Config) *outcome {
	ctx, cancel := context.WithTimeout(ctx, differPatience)
	defer cancel()
	r.ctx = context.WithValue(ctx, stageKey{}, r.stage)
	cfg.Name = guestName
	if cfg.MaxFuel == 0 {
		cfg.MaxFuel = runawayFuel
	}
	m, err := r.d.e.hosts[r.engine].Instantiate(r.ctx, r.d.prog, r.d.compiled[r.engine], cfg)
	if err != nil {
		return &outcome{calls: []called{{why: err.Error()}}}
	}
	r.take(m)
	defer func() { r.m.Close(r.ctx) }()
	for k, args := range r.d.args {
		r.note(r.call("run", args))
		if k == 0 && r.next(r.m.Fuel(), 0) > 0 { // once between calls too
			if err := r.move(); err != nil {
				r.note(nil, fmt.Errorf("between calls: %w", err))
			}
		}
	}
	r.note(r.call("dump", nil))
	r.out.memory = bytes.Clone(r.m.Memory())
	r.out.trace = r.stage.trace
	r.out.unwinds += r.m.Stats().Unwinds
	return r.out
}

func (r *guestRun) take(m *freeze.Machine) { r.m, r.stage.main = m, m.Module() }

func (r *guestRun) note(results []uint64, err error) {
	r.out.calls = append(r.out.calls, called{results, cause(err)})
	r.out.fuel = append(r.out.fuel, r.m.Fuel())
}

// call calls an export and moves the guest as often as it is frozen.
func (r *guestRun) call(export string, args []uint64) ([]uint64, error) {
	r.m.FreezeAt(r.next(r.m.Fuel(), len(r.out.polls)))
	results, err := r.m.Call(r.ctx, export, args...)
	for errors.Is(err, freeze.ErrFrozen) {
		r.out.polls = append(r.out.polls, r.m.Fuel())
		if err := r.move(); err != nil {
			return nil, fmt.Errorf("move: %w", err)
		}
		r.m.FreezeAt(r.next(r.m.Fuel(), len(r.out.polls)))
		results, err = r.m.Resume(r.ctx)
	}
	return results, err
}

// move takes the guest to a new instance, on the other engine.
func (r *guestRun) move() error {
	state, err := r.m.State(r.ctx)
	if err != nil {
		return err
	}
	memory := bytes.Clone(r.m.Memory())
	sum := sha256.New()
	fmt.Fprint(sum, state.Fuel, state.Frames, state.Globals)
	sum.Write(memory)
	r.out.states = append(r.out.states, string(sum.Sum(nil)))
	r.out.unwinds += r.m.Stats().Unwinds
	r.m.Close(r.ctx)
	r.engine = 1 - r.engine
	m, err := r.d.e.hosts[r.engine].Restore(r.ctx, r.d.loaded, r.d.compiled[r.engine],
		freeze.Config{Name: guestName, MaxFuel: runawayFuel}, state,
		func(put func(uint64, []byte) error) error { return put(0, memory) })
	if err != nil {
		return err
	}
	r.take(m)
	return nil
}
