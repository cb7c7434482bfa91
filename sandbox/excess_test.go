package sandbox

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// What a child holds beside its task's memory is seen while it runs, under the task's name, and
// while it waits for another.
func TestExcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process holds")
	}
	p := newTestPool(t)
	if got := p.Excess(); len(got) != 0 {
		t.Fatalf("without a child: %v", got)
	}
	tk := forever.task(t, "spinner")
	tk.Limits.Memory = 1 << 20 // the Go runtime of the child alone has more
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run(ctx, tk)
		ended <- err
	}()
	seen := int64(0)
	for seen == 0 && len(ended) == 0 {
		seen = p.Excess()["spinner"]
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	const most = 200 << 20
	if seen <= 0 || seen > most {
		t.Errorf("beside its task a child had %d bytes", seen)
	}
	run(t, p, guest{}.task(t, "short"))
	if got := p.Excess(); len(got) != 1 || got[""] <= 0 || got[""] > most {
		t.Errorf("a child that waits has %v", got)
	}
}
