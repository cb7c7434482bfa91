package sandbox

import (
	"context"
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
