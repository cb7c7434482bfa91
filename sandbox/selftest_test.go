package sandbox

import (
	"context"
	"errors"
	"testing"
)

// A machine comes to what every machine does, by the compiler and by the interpreter, and says so where it
// was not tried.
func TestSelfTest(t *testing.T) {
	if err := newTestPool(t).SelfTest(t.Context()); err != nil {
		t.Error(err)
	}
	p := newTestPool(t, func(c *Config) { c.Interpret = func() bool { return true } })
	if err := p.SelfTest(t.Context()); err != nil {
		t.Errorf("interpreted: %v", err)
	}
	p.Pause()
	if err := p.SelfTest(t.Context()); !errors.Is(err, ErrUntested) {
		t.Errorf("while nothing may run: %v", err)
	}
	p.Resume()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.SelfTest(ctx); !errors.Is(err, ErrUntested) {
		t.Errorf("not tried: %v", err)
	}
}
