package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wall"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// programName is what a guest finds as its first argument.
const programName = "task.wasm"

// childProcs is the GOMAXPROCS of a child: one for the guest, whose compiled
// code cannot be preempted, one to notice that the parent is gone.
const childProcs = 2

// Main is what a child runs: it serves tasks from stdin until stdin ends,
// answers on stdout, and returns the process's exit code. It changes its
// process for good (priority, limits, no more files: see wall) and ends it with os.Exit when stdin ends
// during a task, since a running guest cannot be stopped from within.
func Main(stdin io.Reader, stdout io.Writer) int {
	runtime.GOMAXPROCS(childProcs)
	confine()
	s := &server{out: &outbox{w: stdout}, contents: map[string][]byte{}, borrowed: map[string]bool{},
		wall: wall.Shut(borrowFrom), in: newInbox(stdin)}
	for {
		f, err := s.in.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "sandbox: reading from the parent:", err)
			}
			return 0
		}
		if err := s.handle(f); errors.Is(err, errDone) {
			return 0
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "sandbox:", err)
			return 1
		}
	}
}

// A server is the state of a child between tasks.
type server struct {
	in       *inbox
	out      *outbox
	wall     wall.State
	engine   *engine
	loadFor  time.Duration     // of processor time, that a module may take
	contents map[string][]byte // by key: modules not compiled yet, what was kept of them, inputs
	borrowed map[string]bool   // those of contents that lie in files of the host
	before   time.Duration     // CPU used when the task at hand came
	garbage  garbage
}

// errDone says that the child has nothing more to do: with it goes the memory of
// a task that was frozen, and nobody waits for that.
var errDone = errors.New("the task was frozen")

// transient marks keys of contents that are for the next run only.
const transient = "once/"

func (s *server) handle(f frame) error {
	switch {
	case f.Setup != nil:
		s.engine, s.loadFor = newEngine(f.Setup.Interpret), f.Setup.LoadFor
		return s.out.event(event{Wall: &s.wall})
	case f.Put != nil:
		if len(f.body) >= largePut { // it grew as it came
			s.garbage.collect(collectAfter)
		}
		return s.put(f.Put, f.body)
	case f.Drop != nil:
		for _, k := range f.Drop.Keys {
			s.drop(k)
		}
	case f.Check != nil:
		if s.loadFor == 0 {
			return errors.New("check before setup")
		}
		return s.check(f.Check)
	case f.Run != nil:
		defer s.in.during(f)()
		return s.run(f)
	}
	return nil
}

// run runs one task and answers. An error ends the child.
func (s *server) run(f frame) error {
	if s.engine == nil {
		return errors.New("run before setup")
	}
	s.before = cpuTime()
	resp, outputs, err := s.execute(context.Background(), f)
	f.mail.end()
	if err != nil {
		resp = response{Outcome: task.HostError, Message: clip(err.Error())}
	}
	resp.CPU = cpuTime() - s.before
	if err := s.out.event(event{End: &resp}, outputs...); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	if resp.Outcome == task.Interrupted {
		return errDone
	}
	for k := range s.contents {
		if strings.HasPrefix(k, transient) {
			delete(s.contents, k)
		}
	}
	s.garbage.collect(collectAfter)
	return nil
}

// execute returns what to answer. The error is the host's.
func (s *server) execute(ctx context.Context, f frame) (response, [][]byte, error) {
	r := f.Run
	if s.engine.module != r.Module {
		s.garbage.letLie(false)
		err := s.load(ctx, r)
		var bad *ModuleError
		if errors.As(err, &bad) {
			return response{Outcome: task.InvalidModule, Message: clip(bad.full())}, nil, nil
		}
		if err != nil {
			return response{}, nil, err
		}
		debug.FreeOSMemory() // compiling leaves much behind
	}
	if r.Ready {
		return response{Outcome: task.Completed}, nil, nil
	}
	if s.engine.program == nil && !r.Off {
		message := clip(fmt.Sprintf("%v; where the job says `checkpoint: off` it runs all the same", s.engine.refused))
		return response{Outcome: task.InvalidModule, Message: message}, nil, nil
	}
	state, err := s.state(r)
	if err != nil {
		return response{}, nil, err
	}
	s.garbage.letLie(true)
	resp, end, err := s.play(ctx, f, state)
	resp.PeakMemory = int64(s.engine.mem.size)
	if err != nil || end == nil {
		return resp, nil, err
	}
	return s.judge(resp, *end, r, state)
}

// load makes the module ready, and tells the parent what is to be kept of that: now, since what comes once a guest has
// run may be the guest's.
func (s *server) load(ctx context.Context, r *runReq) error {
	l := loading{key: r.Module, compilers: r.Compilers,
		verdict: s.contents[verdictPart.key()], code: s.contents[codePart.key()]}
	copy(l.sum[:], r.Sum)
	wasm := s.contents[r.Module]
	for _, k := range []string{r.Module, verdictPart.key(), codePart.key()} {
		delete(s.contents, k)
	}
	stop := s.limitLoad(wasm)
	m, err := s.engine.load(ctx, wasm, l)
	stop()
	if err != nil {
		return err
	}
	if m.verdict != nil {
		err = s.out.pieces(verdictPart, m.verdict.parts())
	}
	if m.code != nil {
		err = errors.Join(err, s.out.pieces(codePart, m.code.parts()))
	}
	return errors.Join(err, s.out.event(event{Loaded: true}))
}

// loadTick is how often a child looks what compiling has taken: by a fast machine some 5 MiB of memory in that time.
const loadTick = 5 * time.Millisecond

// What a module may take to compile, of processor time. Real programs take at most 1 s for each
// MiB, and at most 2 s if they are smaller than that: a machine of a tenth of the speed may have
// them, while a module made to be dear costs a volunteer a minute.
const (
	loadForAny = time.Minute
	loadForMiB = 10 * time.Second
)

// loadFor is how much processor time a module of so many bytes may take, at most the pool's.
func loadFor(bytes int, most time.Duration) time.Duration {
	return min(most, loadForAny+time.Duration(bytes>>10)*(loadForMiB>>10))
}

// Above how much memory a child that compiles collects garbage all the time, up to half of its
// time, rather than let it double. Real programs take some 17 bytes for each of theirs. What needs
// loadBeyond more all the same is made to be dear: a function of 1,000,000 calls, of 2 MB, takes 1.9 GB.
const (
	loadWithin        = 256 << 20
	loadWithinForByte = 32
	loadBeyond        = 16 << 20
)

// inMemory is what the Go runtime holds, what it has given back left out.
func inMemory() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
}

// limitLoad ends the process, with an answer, if a module takes longer than it may, or more memory, until the
// function it returns is called. The engine cannot be interrupted. A module that takes long is not at fault: another
// machine may be quick enough.
func (s *server) limitLoad(wasm []byte) (stop func()) {
	done, most := make(chan struct{}), loadFor(len(wasm), s.loadFor)
	within := loadWithin + loadWithinForByte*int64(len(wasm))
	standard := debug.SetMemoryLimit(within)
	end := func(outcome task.Outcome, format string, args ...any) {
		message := fmt.Sprintf(format, args...) + "; " + heaviestFunction(wasm)
		_ = s.out.event(event{End: &response{Outcome: outcome, Message: clip(message)}})
		os.Exit(1)
	}
	go func() {
		tick := time.NewTicker(loadTick)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if cpuTime()-s.before > most {
				end(task.HostError, "the module was not compiled after %v of processor time", most)
			}
			if n := inMemory(); n > within+loadBeyond {
				end(task.OutOfMemory, "the module takes more than %s to compile", task.FormatSize(within+loadBeyond))
			}
		}
	}()
	return func() {
		debug.SetMemoryLimit(standard)
		close(done)
	}
}

// play runs the guest. The ending is nil if the answer is complete.
func (s *server) play(ctx context.Context, f frame, state *wasi.State) (response, *ending, error) {
	e := s.engine
	e.mem.size = 0
	ctx, refusal, err := e.prepare(ctx, state, f.Run.Limits.Memory)
	if err != nil || refusal != nil {
		return response{}, refusal, err
	}
	if e.program == nil && f.Run.Staged {
		return response{Outcome: task.HostError, Refused: clip(e.refused.Error())}, nil, nil
	}
	frozen := false
	defer func() {
		if !frozen {
			e.mem.Free() // for an instance that never came to be
		}
	}()
	if e.program == nil {
		err := e.plain(ctx)
		return response{}, &ending{err: err, refused: e.mem.refused}, nil
	}
	begins, err := s.begins(f.Run, state)
	if err != nil {
		return response{}, nil, err
	}
	x := &execution{before: s.before, req: f.Run, from: f.body, state: state, mail: f.mail, out: s.out,
		program: e.program, module: e.sum, mem: &e.mem, begins: begins}
	if err := x.begin(ctx, e); errors.Is(err, errRestore) {
		return response{Outcome: task.HostError, Refused: clip(err.Error()), TooDeep: errors.Is(err, freeze.ErrTooDeep)},
			nil, nil
	} else if err != nil {
		return response{}, &ending{err: err, refused: e.mem.refused}, nil
	}
	defer func() {
		if !frozen { // or the process ends
			x.machine.Close(ctx)
		}
	}()
	if f.Run.Tell {
		if err := s.out.event(event{Began: true}); err != nil {
			return response{}, nil, err
		}
	}
	end := x.play(ctx)
	var resp response
	resp, frozen = x.answer(ctx, end)
	if frozen {
		return resp, nil, nil
	}
	if errors.Is(end, freeze.ErrTooDeep) {
		return response{Outcome: task.HostError, Refused: clip(end.Error()), TooDeep: true}, nil, nil
	}
	return resp, &ending{err: end, refused: e.mem.refused}, nil
}

// judge completes the answer about a guest that came to its end.
func (s *server) judge(resp response, end ending, r *runReq, state *wasi.State) (response, [][]byte, error) {
	resp.Outcome, resp.ExitCode, resp.Message = end.judge()
	if resp.Outcome != task.Completed && resp.Outcome != task.OverQuota {
		resp.Message = withLastWords(resp.Message, state.Stderr())
	}
	resp.Message = clip(resp.Message)
	var outputs [][]byte
	if resp.Outputs, outputs = collectOutputs(state, r.Outputs, resp.Outcome); len(outputs) > task.MaxOutputs {
		resp.Outcome, resp.Message = task.OverQuota, fmt.Sprintf("over quota: more than %d outputs", task.MaxOutputs)
		resp.ExitCode, resp.Outputs, outputs = 0, nil, nil
	}
	return resp, outputs, nil
}

// state makes the world of a task.
func (s *server) state(r *runReq) (*wasi.State, error) {
	env := make([]string, len(r.Env))
	for i, e := range r.Env {
		env[i] = e.Name + "=" + e.Value
	}
	st := wasi.New(r.Name, append([]string{programName}, r.Args...), env, r.Limits.wasi())
	for _, f := range r.Files {
		data, ok := s.contents[f.Key]
		if !ok {
			return nil, fmt.Errorf("input %q did not arrive", f.Name)
		}
		if err := st.AddInput(f.Name, data); err != nil {
			return nil, err
		}
	}
	if r.Stdin != "" {
		data, ok := s.contents[r.Stdin]
		if !ok {
			return nil, errors.New("standard input did not arrive")
		}
		st.SetStdin(data)
	}
	return st, nil
}

// largePut is from what size on content that came may have left much garbage.
const largePut = 1 << 20

// hashLate is up to how many bytes of inputs are hashed once the state of a task is described, which most short tasks
// never are: it takes the guest no longer than a page or two. More are hashed before it runs.
const hashLate = 64 << 10

// begins is the digest of a task's world as it is before the task runs.
func (s *server) begins(r *runReq, state *wasi.State) (func() ([sha256.Size]byte, error), error) {
	bytes := len(s.contents[r.Stdin])
	for _, f := range r.Files {
		bytes += len(s.contents[f.Key])
	}
	if bytes > hashLate {
		now, err := state.Digest()
		return func() ([sha256.Size]byte, error) { return now, nil }, err
	}
	return sync.OnceValues(func() (begins [sha256.Size]byte, err error) {
		fresh, err := s.state(r) // the contents stay as they are while the task runs
		if err != nil {
			return begins, err
		}
		return fresh.Digest()
	}), nil
}

// collectOutputs returns the files that match, sorted by name, and of a task that did not
// complete the end of its standard error. A file whose name not every system could hold is
// no output.
func collectOutputs(s *wasi.State, patterns []string, came task.Outcome) (sizes []outputSize, data [][]byte) {
	var files []File
	stderr := s.Stderr()
	if came != task.Completed {
		stderr = stderr[max(0, len(stderr)-task.MaxLastWords):]
	}
	add := func(name string, data []byte) {
		if task.MatchOutput(patterns, name) {
			files = append(files, File{name, data})
		}
	}
	s.Written(func(name string, data []byte) {
		stream := name == task.Stdout || name == task.Stderr
		if !stream && task.ValidSandboxPath(name) == nil {
			add(name, data)
		}
	})
	add(task.Stdout, s.Stdout())
	add(task.Stderr, stderr)
	if came != task.Completed && !slices.Contains(patterns, task.Stderr) && len(files) < task.MaxOutputs &&
		len(stderr) > 0 {
		files = append(files, File{task.Stderr, stderr})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		sizes = append(sizes, outputSize{f.Name, int64(len(f.Data))})
		data = append(data, f.Data)
	}
	return sizes, data
}
