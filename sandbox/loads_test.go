package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/experimental"

	"godwit/sandbox/freeze"
	decoder "godwit/sandbox/wasm"
	"godwit/task"
)

// A module that is made ready runs its first task in the process that compiled it.
func TestPrepare(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.CacheDir = t.TempDir() })
	tk := noop.task(t, "a")
	if err := p.Prepare(t.Context(), tk.Module, tk.ModulePath); err != nil {
		t.Fatal(err)
	}
	ready := onlyChild(t, p)
	if len(p.idle) != 1 || ready.made != nil || !ready.ready {
		t.Error("the process that was made ready does not wait for a task")
	}
	if rep := run(t, p, tk); rep.Outcome != task.Completed {
		t.Errorf("the task ended %v %s", rep.Outcome, rep.Message)
	}
	if onlyChild(t, p) != ready || len(p.children) != 1 {
		t.Error("the first task got a process of its own")
	}
	if err := p.Prepare(t.Context(), tk.Module, tk.ModulePath); err != nil || len(p.children) != 1 {
		t.Errorf("made ready again: %v, %d processes, want the one that waits", err, len(p.children))
	}
}

// What cannot run is not told by who makes it ready: it costs a process, and its first task says so.
func TestPrepareBad(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.CacheDir = t.TempDir() })
	bad := moduleTask(t, []byte("\x00asm\x01\x00\x00\x00\x01\x7f"), "a")
	if err := p.Prepare(t.Context(), bad.Module, bad.ModulePath); err != nil {
		t.Error(err)
	}
	if rep := run(t, p, bad); rep.Outcome != task.InvalidModule {
		t.Errorf("got %v, want an invalid module", rep.Outcome)
	}
	if err := p.Prepare(t.Context(), "none", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a module that is not there was made ready")
	}
}

// Many tasks of a module that nobody has seen have it compiled once: the others wait.
func TestCompiledOnce(t *testing.T) {
	dir := t.TempDir()
	p := newTestPool(t, func(c *Config) { c.CacheDir = dir })
	salt := make([]byte, 8)
	rand.Read(salt)
	wasm := append(noop.bytes(), 0, byte(2+len(salt)), 1, 's') // a custom section
	tk := moduleTask(t, append(wasm, salt...), "a")
	over, other := p.loads.begin(tk.Module)
	if other != nil {
		t.Fatal("somebody compiles it already")
	}
	var g sync.WaitGroup
	var fresh = make(chan bool, 4)
	for range cap(fresh) {
		g.Go(func() {
			c, err := p.obtain(t.Context(), &tk)
			if err != nil {
				t.Error(err)
				return
			}
			fresh <- c != nil
			c.loadOver()
			p.discard(c)
		})
	}
	select {
	case <-fresh:
		t.Error("a task did not wait for the process that compiles its module")
	default:
	}
	over()
	g.Wait()
	if len(fresh) != cap(fresh) {
		t.Errorf("%d of %d tasks went on when it was compiled", len(fresh), cap(fresh))
	}
	if len(p.loads.under) != 0 {
		t.Errorf("%d modules still count as being compiled", len(p.loads.under))
	}
}

// Whoever waits for a module gives up with its context, and a process that is lost holds nobody up.
func TestWaitForModule(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.CacheDir = t.TempDir() })
	tk := forever.task(t, "a")
	_, _ = p.loads.begin(tk.Module)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := p.obtain(ctx, &tk); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", c, err)
	}

	q := newTestPool(t, func(c *Config) { c.CacheDir = t.TempDir() })
	go func() { _ = onlyChild(t, q).cmd.Process.Kill() }()
	run(t, q, tk)
	if len(q.loads.under) != 0 {
		t.Error("a lost process is still waited for")
	}
}

// How many cores a load may have: its own, and what is free.
func TestCompilers(t *testing.T) {
	for _, test := range []struct {
		cores, busy, want int
	}{{0, 1, 1}, {1, 1, 1}, {2, 1, 2}, {2, 2, 1}, {8, 1, childProcs}, {8, 7, 2}, {8, 8, 1}, {8, 20, 1}} {
		p := NewPool(Config{Cores: func() int { return test.cores }})
		p.loads.busy.Store(int32(test.busy))
		if got := p.compilers(); got != test.want {
			t.Errorf("%d cores, %d busy: %d, want %d", test.cores, test.busy, got, test.want)
		}
	}
	if got := NewPool(Config{}).compilers(); got != 1 {
		t.Errorf("cores that nobody tells: %d, want 1", got)
	}
}

// The code is the same bytes, however many goroutines compile it.
func TestCodeOfManyCompilers(t *testing.T) {
	prog, err := freeze.Instrument(manyFunctions(), freeze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	codeOf := func(compilers int) []byte {
		e := newEngine(false)
		if e.cache == nil {
			t.Skip("the engine takes no code from outside")
		}
		e.cache.begin(code{})
		if err := e.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer e.unload(t.Context())
		if _, err := e.rt.CompileModule(experimental.WithCompilationWorkers(t.Context(), compilers), prog.Wasm); err != nil {
			t.Fatal(err)
		}
		made := e.cache.end()
		if made == nil {
			t.Skip("no code is made on this machine")
		}
		return made.data
	}
	one := codeOf(1)
	for range 3 {
		if !bytes.Equal(one, codeOf(2)) {
			t.Fatal("two goroutines compile it to other code than one")
		}
	}
}

// manyFunctions is a module of functions that call each other.
func manyFunctions() []byte {
	m, err := decoder.Decode(speedModule(1))
	if err != nil {
		panic(err)
	}
	start := m.Code[0]
	for i := range 200 {
		body := decoder.AppendUnsigned(decoder.AppendOp(nil, decoder.OpCall), uint64(i)) // the one before
		m.Funcs = append(m.Funcs, 0)
		m.Code = append(m.Code, decoder.Code{Body: append(body, start.Body...), Locals: start.Locals})
	}
	return decoder.Encode(m)
}

// A module that is validated while it is worked on comes to the same, and one that is not valid is refused as such.
func TestValidatedMeanwhile(t *testing.T) {
	wasm := manyFunctions()
	_, one, err := instrumented(t.Context(), wasm, freeze.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, two, err := instrumented(t.Context(), wasm, freeze.Options{}, 2)
	if err != nil || !slices.EqualFunc(one.parts(), two.parts(), bytes.Equal) {
		t.Errorf("validated meanwhile the module becomes another: %v", err)
	}
	m, err := decoder.Decode(wasm)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range [][]byte{
		{byte(decoder.OpEnd), byte(decoder.OpEnd)},
		{byte(decoder.OpCall), 0xff, 0xff, 0x03, byte(decoder.OpEnd)},
		{byte(decoder.OpI64Add), byte(decoder.OpEnd)},
		{byte(decoder.OpLocalGet), 0x7f, byte(decoder.OpEnd)},
	} {
		m.Code[3].Body = body
		bad := decoder.Encode(m)
		for workers := 1; workers <= 2; workers++ {
			_, v, err := instrumented(t.Context(), bad, freeze.Options{}, workers)
			var e *ModuleError
			if v != nil || !errors.As(err, &e) || e.Kind != Malformed {
				t.Errorf("body %x with %d workers: %v", body, workers, err)
			}
		}
	}
	if err := caught(func() error { panic("no") }); err == nil {
		t.Error("a panic is no error")
	}
}

// A module of functions that take the compiler much memory is compiled one at a time.
func TestCompilersFor(t *testing.T) {
	if got := compilersFor(manyFunctions(), 2); got != 2 {
		t.Errorf("light functions: %d at once, want 2", got)
	}
	heavy := speedModule(1)
	m, err := decoder.Decode(heavy)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	for range 10_000 {
		body = append(decoder.AppendOp(body, decoder.OpBlock), 0x40) // without a result
		body = decoder.AppendOp(body, decoder.OpEnd)
	}
	m.Code[0].Body = append(body, m.Code[0].Body...)
	if got := compilersFor(decoder.Encode(m), 2); got != 1 {
		t.Errorf("a heavy function: %d at once, want 1", got)
	}
	if got := compilersFor([]byte("no module"), 2); got != 1 {
		t.Errorf("no module: %d at once, want 1", got)
	}
}
