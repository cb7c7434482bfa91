package exec

import (
	"context"
	"crypto/sha256"
	"time"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
	"godwit/task"
)

// A saving is how the state of an attempt is kept: what its Runner gets, and what is
// done with the states that it tells of.
type saving struct {
	State
	before time.Duration // CPU time that the state to go on from stands for
	making
	word      func(snapshot) []byte
	pages     *pageStore
	costs     *saveCosts // of its job
	left      *workLeft  // told of each state; nil: nobody asks
	made      int        // checkpoints
	keeps     *keptRun   // the states at its boundaries; nil where nobody may want them
	marks     []message.Mark
	controls  *controls
	taken     func(s snapshot) // keeps a state here
	stays     func(why string) // called when it could not stop with its state
	stopClock func()           // see over; nil for none
	refused   func()           // called when nobody can go on from the state it was to; nil for none
}

// A making is how the run of an attempt came to a state.
type making struct {
	chain  []task.Link // of the run; empty for one that began with the task, or has no receipt
	engine string      // that runs it, and pass: see task.Trail; "" and 0 while nobody says
	pass   uint32
	// trail are the boundaries that it came to, and spacing how far they lie apart at first; 0 while none are noted.
	trail   []task.Boundary
	spacing uint64
}

// came takes in a boundary.
func (m *making) came(b task.Boundary) {
	if n := len(m.trail); n > 0 && b.Fuel <= m.trail[n-1].Fuel { // the task begins anew
		m.trail = nil
	}
	m.trail = append(m.trail, b)
	if len(m.trail) > 2*task.MaxBoundaries {
		m.trail = task.ThinBoundaries(m.trail, m.base(), task.SpacingAt(m.spacing, b.Fuel))
	}
}

// base is the fuel that the run began with.
func (m *making) base() uint64 {
	if len(m.chain) == 0 {
		return 0
	}
	return m.chain[0].Fuel
}

// vouches adds to what is said of a state how it was made. It returns the boundaries of that.
func (m *making) vouches(s *task.State) (of []task.Boundary) {
	s.Prior, s.Engine, s.Pass = task.PriorOf(m.chain), m.engine, m.pass
	if m.spacing == 0 || m.pass == 0 {
		return nil
	}
	for _, b := range m.trail {
		if b.Fuel <= s.Fuel {
			of = append(of, b)
		}
	}
	of = task.ThinBoundaries(of, m.base(), task.SpacingAt(m.spacing, s.Fuel))
	s.Boundaries, s.Root = uint32(len(of)), task.TrailRoot(of)
	return of
}

// newSaving returns that of an attempt, whose lease says that so much work is left. Blocks
// come and go while ctx lasts. stays is called when the attempt could not stop with its
// state, and never can.
func (c *core) newSaving(
	ctx context.Context, a *attempt, job *Job, left time.Duration, stays func(why string),
) *saving {
	s := &saving{stays: stays, pages: c.newPages(ctx, job.sealer), costs: &job.saves, left: newWorkLeft(left),
		controls: a.controls}
	s.pages.ahead = a.controls.ahead
	if job.spec.Replicas > 1 {
		a.controls.meets()
	}
	s.State = State{
		Every: job.spec.Checkpoint.Every, Pages: s.pages, Stop: a.stop, Save: a.controls.save, Due: a.controls.due,
		Share:        a.controls.share,
		OnCheckpoint: s.checkpoint, OnFrozen: s.frozen, OnNotSaved: s.notSaved,
	}
	s.OnEngine = func(engine string, pass uint32) { s.engine, s.pass = engine, pass }
	if job.spec.Replicas > 1 || job.spec.Verify != nil {
		s.spacing = job.spec.Spacing()
		s.OnBoundary = func(b task.Boundary) {
			if s.came(b); job.spec.Replicas > 1 {
				s.marks = message.AddMarks(s.marks, []message.Mark{{Fuel: b.Fuel, State: b.State}})
			}
		}
	}
	s.taken = func(state snapshot) { c.keepState(a, s, state) }
	s.word = func(state snapshot) []byte { return c.wordOf(a, s, state) }
	return s
}

// state is what the Runner gets; nil if the attempt's state is not saved.
func (s *saving) state() *State {
	if s == nil {
		return nil
	}
	return &s.State
}

// checkpoint tells of a state that the task goes on from.
func (s *saving) checkpoint(manifest []byte, fuel uint64, cpu time.Duration) {
	s.left.did(cpu)
	state := snapshot{manifest: manifest, fuel: fuel, cpu: s.before + cpu, pages: s.pages}
	if to := s.controls.leaves(); to != nil {
		state.word = s.word(state)
		to.checkpoint(state)
		return
	}
	s.taken(state)
}

// frozen tells of the state that the task has stopped with. Where it goes on
// elsewhere nothing is kept here.
func (s *saving) frozen(manifest []byte, fuel uint64, cpu time.Duration) {
	state := snapshot{manifest: manifest, fuel: fuel, cpu: s.before + cpu, pages: s.pages}
	if to := s.controls.leaves(); to != nil {
		state.word = s.word(state)
		if to.final(state) {
			return
		}
	}
	s.taken(state)
}

// notSaved tells that a checkpoint could not be made, or, with freeze, that the task
// could not be stopped with its state, and never can be here. It goes on.
func (s *saving) notSaved(why string, freeze bool) {
	switch to := s.controls.leaves(); {
	case to == nil:
	case freeze:
		to.tell(handover.NotFrozen{Reason: why})
	default:
		to.tell(handover.NotSaved{Reason: why})
	}
	if freeze {
		s.stays(why)
	}
}

// keepState keeps a state among the blocks and tells the worker, on the goroutine of the
// attempt's run.
func (c *core) keepState(a *attempt, s *saving, state snapshot) {
	if s.made++; s.made > 1 {
		s.costs.storedNew(s.pages.stored.Swap(0))
	} else {
		s.pages.stored.Store(0)
	}
	a.controls.note(s.pages.size(state.manifest))
	root, err := s.pages.tree(state.manifest)
	if err != nil {
		c.Content.Failed(err)
		c.Log.Warn("a checkpoint could not be stored", "task", a.name.Task.String(), "err", err)
		return
	}
	marks := s.marks
	s.marks = nil
	c.report(a.of, message.Checkpointed{
		Task: a.name.Task, Attempt: a.name.Attempt, Marks: marks,
		Checkpoint: *c.vouched(a, message.Checkpoint{CID: root, Fuel: state.fuel, CPU: state.cpu}, state.manifest, s),
	})
}

// vouched has this node vouch for a state that the attempt came to, or that came here for it.
func (c *core) vouched(a *attempt, s message.Checkpoint, manifest []byte, by *saving) *message.Checkpoint {
	if a.receipt == nil || !s.Valid() {
		return &s
	}
	state := s.ToVouch(a.name.Task, sha256.Sum256(manifest), by.chain)
	a.vouches(&state)
	if of := by.vouches(&state); by.keeps != nil && c.kept.tell(by.keeps, of) {
		c.saveKept(by.keeps)
	}
	v, err := task.Vouch(c.Key, a.receipt, state)
	if err != nil {
		c.Log.Error("vouching for a checkpoint", "task", a.name.Task.String(), "err", err)
	}
	s.Voucher, s.Before = v, a.shown(by.chain)
	return &s
}
