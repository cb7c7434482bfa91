package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// An execution is one run of an instrumented guest in a child.
type execution struct {
	req   *runReq
	from  []byte // manifest to go on from; empty begins
	state *wasi.State
	mail  *mailbox
	out   *outbox

	before time.Duration // CPU that this process had used when the task came

	begins  func() ([sha256.Size]byte, error) // digest of state at the task's beginning
	program *freeze.Program
	module  [sha256.Size]byte // hash of the original
	mem     *memories
	machine *freeze.Machine
	starts  bool // in the start function, not in _start

	recorder freeze.Recorder
	last     lastSaved
	known    known          // to the parent
	ready    readiness      // for the next checkpoint
	saving   atomic.Bool    // one is asked for or on its way
	wanted   atomic.Bool    // one that stops the guest later than now is asked for
	awaited  atomic.Bool    // the one that is made ready waits for a boundary
	writing  sync.WaitGroup // checkpoint on its way to the parent

	noted      uint64 // fuel at the last boundary, or at the beginning
	boundaries int    // that were noted

	live uint64 // bytes of the heap after the last collection between two thaws

	restore time.Duration
	kept    [sha256.Size]byte // hash of the checkpoint of a frozen guest
}

// A lastSaved is the checkpoint that a running guest was saved in last.
type lastSaved struct {
	made   bool
	fuel   uint64       // at that
	copied atomic.Int64 // bytes copied for that; -1 before the first
	// sentAhead counts pages sent ahead since; whoever uses the recorder may.
	sentAhead int
}

// The marks that a checkpoint carries beside what the guest could see.
const (
	markRefused uint64 = 1 << iota // it was refused memory
	markStarts                     // it is in the start function
)

// errRestore is wrapped by errors about the checkpoint to go on from.
var errRestore = errors.New("restore")

// begin makes the machine, at the task's beginning or where it was frozen.
func (x *execution) begin(ctx context.Context, e *engine) error {
	x.recorder.Unchanged = x.mem.unchanged
	x.recorder.Module = x.module
	x.last.copied.Store(-1)
	if x.req.Staged {
		if err := x.standBy(ctx, e); err != nil {
			return fmt.Errorf("%w: %w", errRestore, err)
		}
		return nil
	}
	if len(x.from) == 0 {
		m, err := e.host.Instantiate(ctx, x.program, e.code, x.config())
		x.machine, x.starts = m, x.program.Layout.Start
		return err
	}
	since := time.Now()
	if err := x.thaw(ctx, e); err != nil {
		return fmt.Errorf("%w: %w", errRestore, err)
	}
	x.restore = time.Since(since)
	return nil
}

func (x *execution) config() freeze.Config {
	return freeze.Config{Module: instanceConfig(), NotStopped: x.notStopped}
}

// thaw restores the checkpoint.
func (x *execution) thaw(ctx context.Context, e *engine) error {
	man, err := freeze.DecodeManifest(x.from)
	if err != nil {
		return err
	}
	if err := x.fits(man); err != nil {
		return err
	}
	hashes, err := blocksOf(man)
	if err != nil {
		return err
	}
	s := &supplier{x: x, want: hashes}
	begins, err := x.begins()
	if err != nil {
		return err
	}
	marks, err := x.state.Load(man.System, begins, s.page)
	if err != nil {
		return err
	}
	if x.machine, err = e.host.Restore(ctx, x.program, e.code, x.config(), &man.State,
		x.recorder.Load(man, s.block)); err != nil {
		return err
	}
	x.restored(marks)
	return nil
}

// fits reports why the task cannot go on from a checkpoint.
func (x *execution) fits(man *freeze.Manifest) error {
	if err := man.Fits(x.program, x.module); err != nil {
		return err
	}
	if len(man.State.Frames) == 0 {
		return errors.New("it is of a task that has ended")
	}
	if limit := x.req.Limits.Memory; int64(man.State.Pages) > limit/pageSize {
		return fmt.Errorf("its memory of %d bytes is over the limit of %d", int64(man.State.Pages)*pageSize, limit)
	}
	return nil
}

// restored notes what a checkpoint that is in place says beside the guest's
// state. The recorder knows the pages; what is written from here on the tracker
// sees.
func (x *execution) restored(marks uint64) {
	x.last.copied.Store(0)
	x.starts = marks&markStarts != 0
	x.mem.refused = marks&markRefused != 0
	if x.req.tracks() {
		x.mem.unchanged(x.machine.Memory())
	}
}

// blocksOf lists the blocks that a checkpoint refers to, in the order in which
// thaw needs them: those of files before those of memory.
func blocksOf(man *freeze.Manifest) ([][sha256.Size]byte, error) {
	hashes, err := wasi.Blocks(man.System)
	if err != nil {
		return nil, err
	}
	for _, p := range man.Pages {
		hashes = append(hashes, p.Hash)
	}
	return hashes, nil
}

// A supplier asks the parent for blocks, many at a time, in the order in which
// they will be wanted.
type supplier struct {
	x    *execution
	want [][sha256.Size]byte // not asked for yet
	have [][]byte            // arrived; belong to the hashes wanted next
}

// block gives the compressed block of the next hash.
func (s *supplier) block(h [sha256.Size]byte) ([]byte, error) {
	if len(s.have) == 0 {
		n := min(len(s.want), maxBatch)
		if n == 0 {
			return nil, errors.New("a block that the checkpoint did not list")
		}
		var body []byte
		for _, w := range s.want[:n] {
			body = append(body, w[:]...)
			s.x.known.add(w)
		}
		s.want = s.want[n:]
		if err := s.x.out.event(event{Want: n}, body); err != nil {
			return nil, err
		}
		var err error
		if s.have, err = s.x.mail.answer(n); err != nil {
			return nil, err
		}
	}
	b := s.have[0]
	s.have = s.have[1:]
	return b, nil
}

// page gives the content of the next hash, checked.
func (s *supplier) page(h [sha256.Size]byte) ([]byte, error) {
	b, err := s.block(h)
	if err != nil {
		return nil, err
	}
	return freeze.Decompress(b, h)
}

// play runs the guest until it ends or is frozen. A guest that cannot be
// frozen after all goes on, and the parent is told.
func (x *execution) play(ctx context.Context) error {
	x.stopNext()
	x.noteBoundaries()
	x.mail.attach(x.machine, x.saveSoon)
	defer func() {
		room, _ := x.ready.take(true)
		room.free()
	}()
	defer x.mail.attach(nil, nil)
	defer x.tellFuel()()
	frozen := len(x.from) > 0 || x.req.Staged
	for {
		err := x.step(ctx, frozen)
		if !errors.Is(err, freeze.ErrFrozen) {
			return err
		}
		if x.mail.ordered() || x.due() {
			not := x.keep(ctx)
			if not == nil {
				return err
			}
			x.ready.letGo()
			if err := x.out.event(event{Not: &notSaved{Why: clip(not.Error()), Freeze: true}}); err != nil {
				return err
			}
			x.mail.forget()
			x.req.FreezeAt = 0
		}
		x.stopNext()
		x.tidy()
		frozen = true
	}
}

// tidy collects garbage between two thaws in place: each may have compiled
// resume functions, which takes many times their size, and no garbage is collected while a guest
// runs. Nothing runs now that a collection would have to wait for.
func (x *execution) tidy() {
	if heapBytes() > tidyAfter+2*x.live {
		runtime.GC()
		x.live = heapBytes()
	}
}

// tidyAfter is how many bytes of garbage a guest that thaws in place lets lie.
const tidyAfter = 32 << 20

// tellFuel tells the parent from time to time how much fuel the guest has used,
// until the function it returns is called.
func (x *execution) tellFuel() (stop func()) {
	every := x.req.FuelEvery
	if every <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		told := uint64(0)
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			}
			if used := x.machine.Fuel(); used > told {
				told = used
				_ = x.out.event(event{Fuel: used}) // without a parent the child ends anyway
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// step runs the guest from its beginning, or on from where it is frozen.
func (x *execution) step(ctx context.Context, frozen bool) (err error) {
	m := x.machine
	if frozen {
		_, err = m.Resume(ctx)
	} else {
		err = m.Start(ctx)
	}
	if err != nil || frozen && !x.starts {
		return err
	}
	x.starts = false
	_, err = m.Call(ctx, startFunction)
	return err
}

// due reports whether the task is to be frozen for the fuel it has used.
func (x *execution) due() bool { return x.req.FreezeAt > 0 && x.machine.Fuel() >= x.req.FreezeAt }

// stopNext sets the fuel at which the guest is stopped next.
func (x *execution) stopNext() {
	at, every := x.req.FreezeAt, x.req.ThawEvery
	if every > 0 {
		next := (x.machine.Fuel()/every + 1) * every
		if at == 0 || next < at {
			at = next
		}
	}
	x.machine.FreezeAt(at)
}

// marks are what a checkpoint carries for the next execution.
func (x *execution) marks() uint64 {
	var m uint64
	if x.mem.refused {
		m |= markRefused
	}
	if x.starts {
		m |= markStarts
	}
	return m
}

// send sends a block that the parent does not have.
func (x *execution) send(h [sha256.Size]byte, page []byte) error {
	if x.known.add(h) {
		return nil
	}
	return x.out.block(h, page)
}

// keep sends the checkpoint of a frozen guest.
// What is done ahead ends, and is of use.
func (x *execution) keep(ctx context.Context) error {
	since := time.Now()
	x.ready.halt()
	x.writing.Wait()
	b, err := x.described(ctx)
	if err != nil {
		return err
	}
	x.kept = sha256.Sum256(b)
	return x.out.event(event{Saved: &saved{Frozen: true, Pause: time.Since(since)}}, b)
}

// described sends the blocks of the guest as it is now, where they are wanted, and returns the manifest.
func (x *execution) described(ctx context.Context) ([]byte, error) {
	send := x.send
	if x.req.Unkept {
		send = func([sha256.Size]byte, []byte) error { return nil }
	}
	man, err := x.record(ctx, send)
	if err != nil {
		return nil, err
	}
	b, err := man.Encode()
	if err != nil {
		return nil, err
	}
	if len(b) > freeze.MaxManifest {
		return nil, fmt.Errorf("the stack and files take %d bytes to describe, the most is %d", len(b), freeze.MaxManifest)
	}
	return b, nil
}

// record makes the manifest of the guest as it is now.
func (x *execution) record(ctx context.Context, store func([sha256.Size]byte, []byte) error) (*freeze.Manifest, error) {
	s, system, err := x.small(ctx, store)
	if err != nil {
		return nil, err
	}
	return x.recorder.Record(s, x.machine.Memory(), system, x.program.Layout.Options.KeepNaNs, store)
}

// small is all of the state but the memory.
func (x *execution) small(ctx context.Context, store func([sha256.Size]byte, []byte) error) (*freeze.State, []byte,
	error) {
	s, err := x.machine.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	begins, err := x.begins()
	if err != nil {
		return nil, nil, err
	}
	system, err := x.state.Save(begins, x.marks(), store)
	return s, system, err
}

// hash is that of the state now. A guest that cannot be described, since it
// holds references to things outside it, has none.
func (x *execution) hash(ctx context.Context) (h [sha256.Size]byte, err error) {
	s, system, err := x.small(ctx, nil)
	if err != nil {
		return h, err
	}
	return x.recorder.Hash(s, x.machine.Memory(), system, x.program.Layout.Options.KeepNaNs)
}

// answer is what the parent is told of a guest that stopped. frozen is false
// if it ended and is to be judged.
func (x *execution) answer(ctx context.Context, err error) (resp response, frozen bool) {
	x.ready.halt()
	x.writing.Wait()
	resp.Fuel, resp.Restore = x.machine.Fuel(), x.restore
	if errors.Is(err, freeze.ErrFrozen) {
		resp.Outcome, resp.Hash = task.Interrupted, x.kept[:]
		return resp, true
	}
	if x.hashesEnd() {
		if h, err := x.hash(ctx); err == nil {
			resp.Hash = h[:]
		}
	}
	return resp, false
}
