package sandbox

import (
	"context"
	"errors"
	"os"
	"testing"
)

// The confinement is also reported while the owner has suspended all tasks.
func TestWallWhilePaused(t *testing.T) {
	p := newTestPool(t)
	p.Pause()
	if _, err := p.Wall(t.Context()); err != nil {
		t.Errorf("got %v, want a report", err)
	}
}

// A child that never runs, because something else has stopped it, does not block the caller.
func TestWallOfStoppedChild(t *testing.T) {
	stopped := make(chan int, 1)
	p := newTestPool(t, func(c *Config) {
		c.Started = func(pid int) {
			self, err := os.FindProcess(pid)
			if err != nil || suspend(self) != nil {
				t.Error("the child was not stopped")
			}
			stopped <- pid
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := p.Wall(ctx)
		done <- err
	}()
	for pid := <-stopped; !isStopped(pid); {
		waitBriefly()
	}
	cancel()
	if err := <-done; !errors.Is(err, ErrUntested) {
		t.Errorf("got %v, want ErrUntested", err)
	}
	if n := len(p.children); n != 0 {
		t.Errorf("%d children remain", n)
	}
}
