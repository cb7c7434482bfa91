package exec

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// goroutines are those in which here was called.
type goroutines struct {
	mu  sync.Mutex
	all map[string]bool
}

func (g *goroutines) here() {
	b := make([]byte, 64)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all[name] = true
}

// Attempts one after the other run in one goroutine, those at once in as many, and all end with the Executor.
func TestHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &core{hands: make(chan func())}
		c.ctx, c.halt = context.WithCancel(t.Context())
		g, ran := goroutines{all: map[string]bool{}}, 0
		for range 50 {
			c.hand(func() { g.here(); ran++ })
			synctest.Wait()
		}
		if ran != 50 || len(g.all) != 1 {
			t.Errorf("%d attempts ran, in %d goroutines, want 50 in 1", ran, len(g.all))
		}
		all := make(chan struct{})
		for range 3 {
			c.hand(func() { g.here(); <-all })
		}
		synctest.Wait()
		if len(g.all) != 3 {
			t.Errorf("three attempts at once run in %d goroutines", len(g.all))
		}
		close(all)
		c.halt()
		c.group.Wait() // or the bubble would not end
	})
}
