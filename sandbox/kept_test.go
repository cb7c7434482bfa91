package sandbox

import (
	"testing"
	"time"

	"godwit/task"
)

// TestKeptStates: the states at boundaries come as they are hashed, whatever else is saved meanwhile; from each of them
// the next interval alone is run again, with nothing kept of it, and ends in the state of the next.
func TestKeptStates(t *testing.T) {
	c := trailed[1]
	tk, want := trailedTask(t, c.source, c.args, 12)
	for name, saves := range map[string]bool{"alone": false, "beside checkpoints": true} {
		t.Run(name, func(t *testing.T) {
			store, save := &MemoryStore{}, make(chan struct{}, 1)
			kept := map[task.Boundary][]byte{}
			keep := tk
			keep.Pages, keep.OnState = store, func(at task.Boundary, manifest []byte) bool {
				kept[at] = manifest
				return true
			}
			if saves {
				keep.Save = save
				keep.OnBegin = func() { save <- struct{}{} }
				keep.OnCheckpoint = func([]byte, uint64, time.Duration) { save <- struct{}{} }
			}
			rep := run(t, newTestPool(t), keep)
			same(t, rep, want)
			sameTrail(t, rep.Trail, want.Trail)
			for k, b := range want.Trail[1:] {
				again := tk
				again.From, again.Pages, again.FreezeAtFuel = kept[want.Trail[k]], Unkept{From: store}, b.Fuel
				if len(again.From) == 0 {
					t.Fatalf("the state at boundary %d was not kept", k)
				}
				if got := run(t, newTestPool(t), again); got.StateHash != b.State || got.Fuel != b.Fuel {
					t.Fatalf("interval %d ends at fuel %d in state %x, want %d, %x", k+1, got.Fuel, got.StateHash[:4], b.Fuel,
						b.State[:4])
				}
			}
			last := tk
			last.From, last.Pages, last.StateHash = kept[want.Trail[len(want.Trail)-1]], Unkept{From: store}, true
			if got := run(t, newTestPool(t), last); got.StateHash != want.StateHash || got.Fuel != want.Fuel {
				t.Errorf("the last interval ends at fuel %d, want %d", got.Fuel, want.Fuel)
			}
		})
	}
}

// TestEnoughStates: nothing comes after the state with which there were enough, and the trail is the same.
func TestEnoughStates(t *testing.T) {
	c := trailed[0]
	tk, want := trailedTask(t, c.source, c.args, 12)
	store, states := &MemoryStore{}, 0
	tk.Pages, tk.OnState = store, func(task.Boundary, []byte) bool {
		states++
		return false
	}
	rep := run(t, newTestPool(t), tk)
	sameTrail(t, rep.Trail, want.Trail)
	if states != 1 || store.Bytes() == 0 {
		t.Errorf("%d states came", states)
	}
}

// A child that ran a stranger's program says nothing of a state that is taken for true.
func TestFalseStates(t *testing.T) {
	store := &MemoryStore{}
	v := &conversation{since: time.Now(), trail: trail{spacing: MinSpacing}}
	good := []byte("no manifest")
	for name, tt := range map[string]struct {
		keeps bool
		fuel  uint64
		body  []byte
	}{
		"not asked for": {false, MinSpacing, good},
		"no manifest":   {true, MinSpacing, good},
		"nothing":       {true, MinSpacing, nil},
	} {
		v.t = Task{Saving: Saving{Pages: store}, Trailing: Trailing{Spacing: MinSpacing}}
		if tt.keeps {
			v.t.OnState = func(task.Boundary, []byte) bool { t.Error(name + ": it is kept"); return true }
		}
		if err := v.boundary(&boundary{Fuel: tt.fuel, Kept: true}, tt.body); err == nil {
			t.Error(name + ": it is taken")
		}
	}
}
