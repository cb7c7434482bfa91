package sandbox

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/task"
)

// cpuTicks is what a process has used so far.
func cpuTicks(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}

// runForever starts a task that never ends and returns its child once it has
// used CPU.
func runForever(t *testing.T, p *Pool) (*child, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	tk := forever.task(t, "busy")
	go func() { _, _ = p.Run(ctx, tk); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	c := onlyChild(t, p)
	awaitWork(t, c)
	return c, cancel
}

// awaitWork waits until a child uses CPU.
func awaitWork(t *testing.T, c *child) {
	t.Helper()
	before := cpuTicks(t, c.cmd.Process.Pid)
	for cpuTicks(t, c.cmd.Process.Pid) < before+2 {
		if t.Context().Err() != nil {
			t.Fatal("the child does not work")
		}
		waitBriefly()
	}
}

// Pause stops every thread, and no CPU time is used until Resume. On a busy
// machine a thread of the idle class is shown as stopped only when its turn
// comes, after Pause has given up waiting: it does not run until then either.
func TestPauseStops(t *testing.T) {
	p := newTestPool(t)
	c, _ := runForever(t, p)
	pid := c.cmd.Process.Pid
	for range 3 {
		began := time.Now()
		p.Pause()
		t.Logf("stopped in %v", time.Since(began))
		for !isStopped(pid) {
			if t.Context().Err() != nil {
				t.Fatal("the child is not stopped")
			}
			waitBriefly()
		}
		used := cpuTicks(t, pid)
		<-time.After(100 * time.Millisecond)
		if now := cpuTicks(t, pid); now != used {
			t.Errorf("a paused child used %d ticks", now-used)
		}
		p.Resume()
		awaitWork(t, c)
	}
}

// The owner's pause and the throttle both hold: neither undoes the other's.
func TestThrottle(t *testing.T) {
	p := newTestPool(t)
	c, _ := runForever(t, p)
	p.Throttle(0.5)
	awaitWork(t, c) // it goes on
	for !isStopped(c.cmd.Process.Pid) {
		waitBriefly() // and stands still
	}
	p.Pause()
	for !isStopped(c.cmd.Process.Pid) {
		waitBriefly()
	}
	used := cpuTicks(t, c.cmd.Process.Pid)
	<-time.After(throttlePeriod)
	if now := cpuTicks(t, c.cmd.Process.Pid); now != used {
		t.Errorf("paused and throttled, the child used %d ticks", now-used)
	}
	p.Throttle(1)
	if now := cpuTicks(t, c.cmd.Process.Pid); now != used || !isStopped(c.cmd.Process.Pid) {
		t.Error("without throttle, the owner's pause is gone too")
	}
	p.Resume()
	awaitWork(t, c)
}

// A pool closes while its children are stopped, and one that is started while
// paused is stopped.
func TestCloseWhilePaused(t *testing.T) {
	var started []int
	p := newTestPool(t, func(c *Config) { c.Started = func(pid int) { started = append(started, pid) } })
	p.Pause()
	tk := forever.task(t, "late")
	done := make(chan error, 1)
	go func() {
		rep, err := p.Run(t.Context(), tk)
		if rep.Outcome != task.Interrupted {
			t.Errorf("got %v", rep.Outcome)
		}
		done <- err
	}()
	c := onlyChild(t, p)
	for !isStopped(c.cmd.Process.Pid) {
		waitBriefly()
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != ErrClosed {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	if len(started) != 1 || started[0] != c.cmd.Process.Pid {
		t.Errorf("Started was told of %v, want %d", started, c.cmd.Process.Pid)
	}
}

// frozenStill runs two tasks that never end, has them stand still, and freezes
// the first.
func frozenStill(t *testing.T, p *Pool, still func(), module guest) (rep Report, frozen, other *child) {
	t.Helper()
	other, _ = runForever(t, p)
	tk := module.task(t, "leaving")
	now := make(chan struct{})
	began := make(chan struct{})
	tk.Pages, tk.Freeze, tk.OnBegin = &MemoryStore{}, now, func() { close(began) }
	done := make(chan Report, 1)
	go func() {
		rep, err := p.Run(t.Context(), tk)
		if err != nil {
			t.Error(err)
		}
		done <- rep
	}()
	<-began
	p.mu.Lock()
	for c := range p.children {
		if c != other {
			frozen = c
		}
	}
	p.mu.Unlock()
	still()
	for !isStopped(frozen.cmd.Process.Pid) || !isStopped(other.cmd.Process.Pid) {
		waitBriefly()
	}
	close(now)
	return <-done, frozen, other
}

// TestFreezeOutOfPause: a task is frozen while all stand still; the others go on
// standing still, and nothing is left of its process.
func TestFreezeOutOfPause(t *testing.T) {
	p := newTestPool(t)
	rep, frozen, other := frozenStill(t, p, p.Pause,
		guest{pages: 1, locals: 1, code: cat(loop(i32(0), i32(1), []byte{0x36, 2, 0}))})
	if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		t.Fatalf("got %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	<-frozen.exited
	used := cpuTicks(t, other.cmd.Process.Pid)
	<-time.After(50 * time.Millisecond)
	if now := cpuTicks(t, other.cmd.Process.Pid); now != used || !isStopped(other.cmd.Process.Pid) {
		t.Errorf("the other task used %d ticks", now-used)
	}
	p.Resume()
	awaitWork(t, other)
}

// TestFreezeOutOfThrottle: the same of tasks that stand still most of the time.
func TestFreezeOutOfThrottle(t *testing.T) {
	p := newTestPool(t)
	rep, frozen, other := frozenStill(t, p, func() { p.Throttle(0.02) }, forever)
	if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		t.Fatalf("got %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	<-frozen.exited
	for !isStopped(other.cmd.Process.Pid) {
		waitBriefly()
	}
	p.Throttle(1)
	awaitWork(t, other)
}

// TestNotFrozenStandsStill: a task that cannot be frozen where it is stands
// still again.
func TestNotFrozenStandsStill(t *testing.T) {
	small := guest{pages: 1, code: loop()}.bytes()
	memory := []byte{5, 3, 1, 0, 1} // one memory, of one page
	at := bytes.Index(small, memory)
	small[at+4] = 0
	tk := moduleTask(t, small, "small")
	now, began := make(chan struct{}), make(chan struct{})
	tk.Pages, tk.Freeze, tk.OnBegin = &MemoryStore{}, now, func() { close(began) }
	said := make(lines, 1)
	p := newTestPool(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(said, nil)) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _, _ = p.Run(ctx, tk); close(done) }()
	<-began
	c := onlyChild(t, p)
	p.Pause()
	close(now)
	if line := <-said; !strings.Contains(line, "was to be frozen") {
		t.Errorf("said %q", line)
	}
	for !isStopped(c.cmd.Process.Pid) {
		waitBriefly()
	}
	cancel()
	<-done
}

// lines are what a log says.
type lines chan string

func (l lines) Write(b []byte) (int, error) { l <- string(b); return len(b), nil }

// A task that is frozen before its process can take it is let go on for that.
func TestFreezeBeforeItBegins(t *testing.T) {
	p := newTestPool(t)
	p.Pause()
	now := make(chan struct{})
	close(now)
	tk := moduleTask(t, traveller(t, "go"), "job/1") // its module does not fit into a pipe
	tk.Args, tk.Pages, tk.Freeze = []string{"mixed", "300"}, &MemoryStore{}, now
	if rep := run(t, p, tk); rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		t.Errorf("got %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
}

// BenchmarkStandstill is the time from the owner's touch being known to every
// sandbox standing still.
func BenchmarkStandstill(b *testing.B) {
	p := newTestPool(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	const tasks = 2
	done := make(chan struct{}, tasks)
	for range tasks {
		tk := forever.task(b, "busy")
		go func() { _, _ = p.Run(ctx, tk); done <- struct{}{} }()
	}
	for {
		p.mu.Lock()
		n := len(p.children)
		p.mu.Unlock()
		if n == tasks {
			break
		}
		waitBriefly()
	}
	<-time.After(100 * time.Millisecond)
	worst := time.Duration(0)
	for b.Loop() {
		began := time.Now()
		p.Pause()
		worst = max(worst, time.Since(began))
		b.StopTimer()
		p.Resume()
		<-time.After(5 * time.Millisecond)
		b.StartTimer()
	}
	b.ReportMetric(float64(worst)/1e6, "worst-ms")
	cancel()
	for range tasks {
		<-done
	}
}
