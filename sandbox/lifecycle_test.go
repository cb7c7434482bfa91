package sandbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"godwit/task"
)

// onlyChild waits until p has a child, and returns it.
func onlyChild(t *testing.T, p *Pool) *child {
	t.Helper()
	for t.Context().Err() == nil {
		p.mu.Lock()
		for c := range p.children {
			p.mu.Unlock()
			return c
		}
		p.mu.Unlock()
		runtime.Gosched()
	}
	t.Fatal("no child")
	return nil
}

func TestWarmStreamIsReused(t *testing.T) {
	p := newTestPool(t)
	tk := noop.task(t, "a")
	run(t, p, tk)
	first := onlyChild(t, p)
	run(t, p, tk)
	if onlyChild(t, p) != first || len(p.children) != 1 {
		t.Error("the second task of a module got a process of its own")
	}
	run(t, p, exit(0).task(t, "b"))
	if len(p.children) != 2 {
		t.Errorf("%d children after tasks of two modules, want 2", len(p.children))
	}
}

func TestIdleChildrenEnd(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.IdleFor = time.Millisecond })
	run(t, p, noop.task(t, "a"))
	for t.Context().Err() == nil {
		p.mu.Lock()
		n := len(p.children)
		p.mu.Unlock()
		if n == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Error("the child is still there")
}

func TestMaxIdle(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.MaxIdle = 1 })
	for i := range int32(3) {
		run(t, p, exit(i).task(t, "a"))
	}
	if len(p.children) != 1 || len(p.idle) != 1 {
		t.Errorf("%d children, %d idle, want 1", len(p.children), len(p.idle))
	}
	none := newTestPool(t, func(c *Config) { c.MaxIdle = -1 })
	run(t, none, noop.task(t, "a"))
	if len(none.children) != 0 {
		t.Errorf("%d children, want none", len(none.children))
	}
}

func TestLostChild(t *testing.T) {
	p := newTestPool(t)
	tk := noop.task(t, "a")
	run(t, p, tk)
	idle := onlyChild(t, p)
	if err := idle.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-idle.exited
	if rep := run(t, p, tk); rep.Outcome != task.Completed {
		t.Errorf("after an idle child was lost: %v %s", rep.Outcome, rep.Message)
	}
	q := newTestPool(t)
	go func() { _ = onlyChild(t, q).cmd.Process.Kill() }()
	if rep := run(t, q, forever.task(t, "b")); rep.Outcome != task.HostError || rep.Message == "" {
		t.Errorf("when a child is killed: got %v %q", rep.Outcome, rep.Message)
	}
}

// A paused task uses no time of its limit: paused for three times its limit,
// it is alive; resumed, it is late.
func TestPause(t *testing.T) {
	p := newTestPool(t)
	p.Pause()
	tk := forever.task(t, "a")
	tk.Limits.Wall = 50 * time.Millisecond
	done := make(chan Report, 1)
	go func() {
		rep, _ := p.Run(t.Context(), tk)
		done <- rep
	}()
	select {
	case rep := <-done:
		t.Errorf("ended while paused: %v %s", rep.Outcome, rep.Message)
	case <-time.After(3 * tk.Limits.Wall):
	}
	p.Resume()
	if rep := <-done; rep.Outcome != task.TimedOut {
		t.Errorf("got %v, want timed out", rep.Outcome)
	}
}

// Memory of one task never shows in the next, though a stream reuses it.
func TestMemoryIsFresh(t *testing.T) {
	const at = 40 // fails unless what it finds there is zero, then writes
	g := guest{pages: 40, imports: []string{"proc_exit"}, code: cat(
		i32(at), []byte{0x28, 2, 0, 0x04, 0x40}, i32(9), call(0), []byte{0x0b},
		i32(at), i32(77), []byte{0x36, 2, 0},
		i32(40*pageSize-8), i32(77), []byte{0x36, 2, 0})}
	small := g
	small.pages = 1
	small.code = g.code[:len(g.code)-len(i32(40*pageSize-8))-len(i32(77))-3]
	p := newTestPool(t)
	for _, g := range []guest{g, small} {
		tk := g.task(t, "a")
		for i := range 3 {
			if rep := run(t, p, tk); rep.Outcome != task.Completed {
				t.Errorf("run %d of %d pages: %v, code %d", i, g.pages, rep.Outcome, rep.ExitCode)
			}
		}
	}
}

func TestInputsReachTheTask(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.InputCache = 1 })
	echo := guest{imports: []string{"fd_read", "fd_write"}, pages: 1, data: vec(string(make([]byte, 8))),
		code: cat(i32(0), i32(0), i32(1), i32(8), call(0), drop1, i32(1), i32(0), i32(1), i32(8), call(1), drop1)}
	path := filepath.Join(t.TempDir(), "in")
	tk := echo.task(t, "a")
	for _, content := range []string{"contents", "changed!"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Hour)
		if content == "changed!" {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}
		for _, in := range []*Input{{Path: path}, {Data: []byte(content)}} {
			tk.Stdin = in
			if rep := run(t, p, tk); !bytes.Equal(rep.Outputs[0].Data, []byte(content)) {
				t.Errorf("got %q, want %q", rep.Outputs[0].Data, content)
			}
		}
	}
	tk.Stdin = &Input{Name: "gone", Path: filepath.Join(t.TempDir(), "gone")}
	if rep, err := p.Run(t.Context(), tk); !errors.Is(err, os.ErrNotExist) || rep.Outcome != task.HostError {
		t.Errorf("a missing input: got %v, %v", rep.Outcome, err)
	}
	tk = noop.task(t, "b")
	tk.Files = []Input{{Name: "../x"}}
	if _, err := p.Run(t.Context(), tk); err == nil {
		t.Error("an input that leaves the sandbox: no error")
	}
	if _, err := newTestPool(t, func(c *Config) { c.Command = []string{path} }).Run(t.Context(),
		noop.task(t, "c")); err == nil {
		t.Error("a child that cannot start: no error")
	}
}
