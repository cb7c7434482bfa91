package sandbox

import (
	"testing"
	"time"

	"godwit/task"
)

// TestCheckpointsMadeAhead: a large program that writes all over its memory
// while its states are taken goes on from any of them as if nothing had been, and
// so does one that is frozen meanwhile.
func TestCheckpointsMadeAhead(t *testing.T) {
	tk := moduleTask(t, traveller(t, "busy.c"), "job/1")
	tk.Args, tk.Limits.Memory, tk.StateHash = []string{"96", "6000"}, 128<<20, true
	want := run(t, newTestPool(t), tk)
	if want.Outcome != task.Completed {
		t.Fatalf("%v %s", want.Outcome, want.Message)
	}
	saves := tk
	var states [][]byte
	saves.Pages, saves.Every = newBlockMap(), 100*time.Millisecond
	saves.OnCheckpoint = func(b []byte, _ uint64, _ time.Duration) { states = append(states, b) }
	got := run(t, newTestPool(t), saves)
	same(t, got, want)
	if len(states) == 0 {
		t.Fatal("it ended before its first checkpoint")
	}
	onwards := tk
	onwards.Pages = saves.Pages
	for _, state := range [][]byte{states[0], states[len(states)-1]} {
		onwards.From = state
		same(t, run(t, newTestPool(t), onwards), want)
	}
	freeze, save := make(chan struct{}), make(chan struct{}, 1)
	frozen := tk
	sent := &countedBlocks{blockMap: newBlockMap(), at: 100, do: func() { close(freeze) }}
	frozen.Pages, frozen.Freeze, frozen.Save = sent, freeze, save
	frozen.OnBegin = func() { save <- struct{}{} }
	rep := run(t, newTestPool(t), frozen)
	if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		t.Fatalf("not frozen while a state was taken: %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	onwards.From, onwards.Pages = rep.Frozen, sent
	same(t, run(t, newTestPool(t), onwards), want)
}

// countedBlocks does something when so many blocks have come.
type countedBlocks struct {
	*blockMap
	n, at int
	do    func()
}

func (c *countedBlocks) Put(h [32]byte, b []byte) error {
	if c.n++; c.n == c.at {
		c.do()
	}
	return c.blockMap.Put(h, b)
}
