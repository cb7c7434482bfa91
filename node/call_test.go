package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A caller of a loop that never answers gives up in time, and its function does not run afterwards.
func TestCallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &core{inbox: make(chan post, 1), looks: make(chan post), first: make(chan post), stopped: make(chan struct{}),
			intake: newIntake()}
		for name, ask := range map[string]func(context.Context, func()) error{
			"do":      c.do,
			"look":    c.look,
			"doFirst": c.doFirst,
			"doOf":    func(ctx context.Context, f func()) error { return c.doOf(ctx, "peer", f) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			begun := time.Now()
			err := ask(ctx, func() { t.Errorf("%s: an abandoned function runs", name) })
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
				t.Errorf("%s: %v after %v, want the deadline's error after a minute", name, err, time.Since(begun))
			}
		}
		(<-c.inbox).call()
	})
}

// A function that the loop has begun ends before its caller goes on, which reads what the function writes.
func TestCallThatBeganIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &core{inbox: make(chan post), stopped: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		over := false
		go func() { (<-c.inbox).call() }()
		err := c.do(ctx, func() {
			cancel()
			time.Sleep(time.Second)
			over = true
		})
		if err != nil || !over {
			t.Errorf("the caller went on with %v before its function had ended: %v", err, over)
		}
	})
}
