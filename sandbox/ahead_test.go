package sandbox

import (
	"crypto/sha256"
	"testing"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// TestCheckpointsMadeAhead: the states of a large program that writes all over its
// memory while they are taken are those of one that just stops there, and so is
// that of one that is frozen meanwhile.
func TestCheckpointsMadeAhead(t *testing.T) {
	tk := moduleTask(t, traveller(t, "busy.c"), "job/1")
	tk.Args, tk.Limits.Memory = []string{"80", "1000000000"}, 128<<20
	check := func(manifest []byte) {
		t.Helper()
		man, err := freeze.DecodeManifest(manifest)
		if err != nil {
			t.Fatal(err)
		}
		plain := tk
		plain.Pages, plain.FreezeAtFuel = &MemoryStore{}, man.State.Fuel
		if rep := run(t, newTestPool(t), plain); rep.Fuel != man.State.Fuel || rep.StateHash != sha256.Sum256(manifest) {
			t.Errorf("at fuel %d the state is %x, want %x at %d", man.State.Fuel, sha256.Sum256(manifest), rep.StateHash,
				rep.Fuel)
		}
	}
	end, save := make(chan struct{}), make(chan struct{}, 1)
	saved := tk
	saved.Pages, saved.Freeze, saved.Save = &MemoryStore{}, end, save
	saved.OnBegin = func() { save <- struct{}{} }
	var states [][]byte
	saved.OnCheckpoint = func(b []byte, _ uint64, _ time.Duration) {
		switch states = append(states, b); len(states) {
		case 1:
			save <- struct{}{}
		case 2:
			close(end)
		}
	}
	rep := run(t, newTestPool(t), saved)
	if len(states) < 2 || rep.Outcome != task.Interrupted {
		t.Fatalf("%v %s %s, %d states", rep.Outcome, rep.Message, rep.NotFrozen, len(states))
	}
	for _, state := range states[:2] {
		check(state)
	}
	now, once := make(chan struct{}), make(chan struct{}, 1)
	frozen := tk
	frozen.Pages = &countedBlocks{MemoryStore: &MemoryStore{}, at: 100, do: func() { close(now) }}
	frozen.Freeze, frozen.Save = now, once
	frozen.OnBegin = func() { once <- struct{}{} }
	frozen.OnCheckpoint = func([]byte, uint64, time.Duration) { // one at the very beginning has a few blocks alone
		select {
		case once <- struct{}{}:
		default:
		}
	}
	if rep = run(t, newTestPool(t), frozen); rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		t.Fatalf("not frozen while a state was taken: %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	check(rep.Frozen)
}

// countedBlocks does something when so many blocks have come.
type countedBlocks struct {
	*MemoryStore
	n, at int
	do    func()
}

func (c *countedBlocks) Put(h [32]byte, b []byte) error {
	if c.n++; c.n == c.at {
		c.do()
	}
	return c.MemoryStore.Put(h, b)
}

// TestRounds: rounds end when what is left can be copied, and a guest that writes
// more than that as fast as it is sent is slowed.
func TestRounds(t *testing.T) {
	const copies, fits, tooMuch = aheadOver / pageSize, aheadFits / pageSize, 2 * copyMost / pageSize
	for name, c := range map[string]struct {
		changed []int // in each round
		share   float64
	}{
		"quiet":                {[]int{8 * tooMuch, copies}, 0},
		"busy":                 {[]int{8 * tooMuch, tooMuch, fits, copies}, 0},
		"busy, but it fits":    {[]int{tooMuch, fits - 1, fits - 2}, 0},
		"all of it":            {[]int{tooMuch, tooMuch, fits}, 1. / slowBy},
		"all of it, and fast":  {[]int{tooMuch, tooMuch, tooMuch, copies}, slowest},
		"little in the memory": {[]int{copies}, 0},
	} {
		r := rounds{x: &execution{mail: newMailbox()}, share: 1}
		for k, changed := range c.changed {
			if again, last := r.wants(changed), k == len(c.changed)-1; again == last {
				t.Errorf("%s: round %d of %v: another one: %t", name, k, c.changed, again)
			}
		}
		if got := r.x.mail.slowed; got != c.share {
			t.Errorf("%s: slowed to %v, want %v", name, got, c.share)
		}
	}
}
