package node

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	for total, want := range map[int64]int64{1 << 30: 320 << 20, 24 << 30: 320 << 20, 128 << 30: 1 << 30} {
		if got := memoryLimit(total); got != want {
			t.Errorf("of %d bytes a node has %d, want %d", total, got, want)
		}
	}
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	if got := LimitMemory(); got < leastLimit || debug.SetMemoryLimit(-1) != got {
		t.Errorf("the limit is %d, said to be %d", debug.SetMemoryLimit(-1), got)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	if got := LimitMemory(); got != 0 {
		t.Errorf("a limit of %d in place of the environment's", got)
	}
}
