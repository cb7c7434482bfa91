package exec

import "sync"

// A Gate holds up what waits before it while it is shut. The zero value is open. It is
// safe for any goroutine.
type Gate struct {
	mu      sync.Mutex
	stopped chan struct{} // closed by Resume; nil while it is open
	halt    chan struct{} // closed by Pause; nil until somebody waits for it
}

// Pause shuts the gate.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped != nil {
		return
	}
	g.stopped = make(chan struct{})
	if g.halt != nil {
		close(g.halt)
		g.halt = nil
	}
}

// Resume opens the gate.
func (g *Gate) Resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped != nil {
		close(g.stopped)
		g.stopped = nil
	}
}

// Turns returns what is closed at the next Resume, nil while the gate is open, and
// what is closed at the next Pause.
func (g *Gate) Turns() (stopped, halt <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.halt == nil && g.stopped == nil {
		g.halt = make(chan struct{})
	}
	return g.stopped, g.halt
}
