package wire

import (
	"bufio"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

// A bound holds after the first block's worth, and none costs nothing.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := NewPace()
		w := bufio.NewWriter(io.Discard)
		took := func(f func(n int) error, blocks int) time.Duration {
			t.Helper()
			begun := time.Now()
			for range blocks {
				if err := f(MaxBlock); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(begun)
		}
		up := func(n int) error { return pace.Sent(t.Context(), w, n) }
		down := func(n int) error { return pace.Received(t.Context(), n) }
		if d := took(up, 100) + took(down, 100); d != 0 {
			t.Errorf("without bounds, transfers waited %v", d)
		}
		pace.Set(MaxBlock/2, 2*MaxBlock)
		if d := took(up, 11); d < 20*time.Second || d > 23*time.Second {
			t.Errorf("11 blocks at half a block a second took %v", d)
		}
		if d := took(down, 11); d < 5*time.Second || d > 6*time.Second {
			t.Errorf("11 blocks at two blocks a second took %v", d)
		}
		pace.Set(0, 0)
		if pace.Up.Limit() != rate.Inf || took(up, 100)+took(down, 100) != 0 {
			t.Error("a bound that was lifted holds")
		}
	})
}
