package node

import (
	"context"
	"errors"
	"testing"
)

// A caller whose context ends does not wait for a loop that is busy, and its function never runs.
func TestCallGivesUpWithItsContext(t *testing.T) {
	c := &core{inbox: make(chan post, 1), stopped: make(chan struct{}), intake: newIntake()}
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	done := make(chan error)
	ways := map[string]func() error{
		"do":   func() error { return c.do(ctx, func() { ran = true }) },
		"doOf": func() error { return c.doOf(ctx, "peer", func() { ran = true }) },
	}
	for _, way := range ways {
		go func() { done <- way() }()
	}
	own := <-c.inbox
	<-c.intake.ready
	peers, _ := c.intake.take()
	cancel()
	for range ways {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
	own.call()
	peers.call()
	if ran {
		t.Error("the function ran after its caller had given up")
	}
}

// A caller whose context ends while its function runs waits for the function, which may write the caller's variables.
func TestCallWaitsForWhatHasBegun(t *testing.T) {
	c := &core{inbox: make(chan post, 1), stopped: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	done := make(chan error)
	go func() { done <- c.do(ctx, func() { cancel(); ran = true }) }()
	(<-c.inbox).call()
	if err := <-done; err != nil || !ran {
		t.Errorf("got %v, ran: %v; want nil, true", err, ran)
	}
}
