package sandbox

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/task"
)

// trailed are tasks of some 50 to 400 million units of fuel, and with the long arguments of more than 400 million.
var trailed = []struct {
	source     string
	args, long []string
}{
	{"mixed.c", []string{"5000", "4"}, []string{"5000", "30"}},
	{"tides.c", []string{"4"}, []string{"40"}}, // its memory grows, and pages become zeros
	{"go", []string{"mixed", "3000"}, []string{"mixed", "3000"}},
}

// trailedTask has a trail, and uses so many spacings of fuel.
func trailedTask(t *testing.T, source string, args []string, spacings uint64) (tk Task, undisturbed Report) {
	t.Helper()
	tk = moduleTask(t, traveller(t, source), "job/"+source)
	tk.Limits.Memory = 128 << 20
	tk.Args, tk.Outputs, tk.StateHash = args, []string{"stdout", "stderr", "*"}, true
	whole := run(t, newTestPool(t), tk)
	tk.StateHash, tk.Spacing = false, max(whole.Fuel/spacings, MinSpacing)
	rep := run(t, newTestPool(t), tk)
	same(t, rep, whole)
	if n := uint64(len(rep.Trail)); rep.Outcome != task.Completed || n < task.MinIntervals || n > task.MaxBoundaries ||
		rep.StateHash != whole.StateHash || uint64(rep.Boundaries.Count) < n || rep.Boundaries.Longest <= 0 {
		t.Fatalf("undisturbed: %v %s, fuel %d, %d boundaries of %+v, state %x, want %x", rep.Outcome, rep.Message, rep.Fuel,
			n, rep.Boundaries, rep.StateHash[:4], whole.StateHash[:4])
	}
	return tk, rep
}

func sameTrail(t *testing.T, got, want []task.Boundary) {
	t.Helper()
	if !slices.Equal(got, want) {
		k := 0
		for k < min(len(got), len(want)) && got[k] == want[k] {
			k++
		}
		t.Errorf("%d boundaries, want %d; they part at number %d", len(got), len(want), k)
	}
}

// after gives the boundaries beyond a fuel.
func after(trail []task.Boundary, fuel uint64) []task.Boundary {
	k, _ := slices.BinarySearchFunc(trail, fuel+1, func(b task.Boundary, at uint64) int {
		if b.Fuel < at {
			return -1
		}
		return 1
	})
	return trail[k:]
}

// TestBoundaries: the states of a trail are those of a run that just stops there, and whatever happens to the task, it
// has the same trail.
func TestBoundaries(t *testing.T) {
	sources := trailed
	if raceEnabled {
		sources = sources[:2] // Go's runtime takes minutes
	}
	for _, c := range sources {
		t.Run(c.source, func(t *testing.T) {
			tk, want := trailedTask(t, c.source, c.args, 100)
			t.Run("states", func(t *testing.T) { stopsAt(t, tk, want) })
			t.Run("interpreted", func(t *testing.T) {
				if raceEnabled {
					t.Skip("the interpreter takes minutes")
				}
				p := newTestPool(t, func(c *Config) { c.Interpret = func() bool { return true } })
				sameTrail(t, run(t, p, tk).Trail, want.Trail)
			})
			t.Run("thawed", func(t *testing.T) {
				thawed := tk
				thawed.ThawEvery = tk.Spacing*3/7 | 1
				sameTrail(t, run(t, newTestPool(t), thawed).Trail, want.Trail)
			})
			t.Run("not tracked", func(t *testing.T) { sameTrail(t, untracked(t, tk).Trail, want.Trail) })
			t.Run("saved", func(t *testing.T) { savedOnTheWay(t, tk, want) })
			t.Run("saved at boundaries", func(t *testing.T) {
				tk, want := trailedTask(t, c.source, c.long, 100)
				savedAtBoundaries(t, tk, want)
			})
			t.Run("moved", func(t *testing.T) { movedOnTheWay(t, tk, want) })
		})
	}
}

// stopsAt checks a trail against runs that are frozen at its multiples.
func stopsAt(t *testing.T, tk Task, want Report) {
	every := task.SpacingAt(tk.Spacing, want.Fuel)
	tk.Spacing, tk.Pages = 0, &MemoryStore{}
	for _, b := range []task.Boundary{want.Trail[0], want.Trail[len(want.Trail)/2], want.Trail[len(want.Trail)-1]} {
		tk.FreezeAtFuel = b.Fuel / every * every
		if rep := run(t, newTestPool(t), tk); rep.Fuel != b.Fuel || rep.StateHash != b.State || rep.Trail != nil {
			t.Errorf("frozen at %d: fuel %d, state %x; the trail has fuel %d, state %x", tk.FreezeAtFuel, rep.Fuel,
				rep.StateHash[:4], b.Fuel, b.State[:4])
		}
		tk.From = nil
	}
}

// mostRuns is how often a task is run until a state of it is saved.
const mostRuns = 20

// savedOnTheWay asks for a checkpoint as soon as there is one. Every state that was saved must go on to the same end
// with the rest of the trail, in a process that has nothing but what was stored.
func savedOnTheWay(t *testing.T, tk Task, want Report) {
	saved, store, save := tk, &MemoryStore{}, (chan struct{})(nil)
	var manifests [][]byte
	var fuels []uint64
	told := uint64(0)
	saved.Pages = store
	saved.OnBoundary = func(b task.Boundary) { told = b.Fuel }
	saved.OnCheckpoint = func(b []byte, fuel uint64, _ time.Duration) {
		if due := fuel / tk.Spacing * tk.Spacing; task.SpacingAt(tk.Spacing, fuel) == tk.Spacing && told < due {
			t.Errorf("a state at fuel %d came after a boundary at %d, and before that at %d", fuel, told, due)
		}
		manifests, fuels = append(manifests, b), append(fuels, fuel)
		save <- struct{}{}
	}
	for range mostRuns { // a short one may end before it has read that it is to be saved
		save = make(chan struct{}, 1)
		save <- struct{}{} // the order is sent right behind the task
		told, saved.Save = 0, save
		rep := run(t, newTestPool(t), saved)
		same(t, rep, want)
		sameTrail(t, rep.Trail, want.Trail)
		if len(manifests) > 0 {
			break
		}
	}
	if len(manifests) == 0 {
		t.Fatal("no state was saved")
	}
	t.Logf("%d states", len(manifests))
	for _, k := range []int{0, len(manifests) / 2, len(manifests) - 1} {
		from := tk
		from.Pages, from.From = store, manifests[k]
		rep := run(t, newTestPool(t), from)
		same(t, rep, want)
		sameTrail(t, rep.Trail, after(want.Trail, fuels[k]))
	}
}

// savedAtBoundaries asks for checkpoints that are to be where others come too: their states are those of boundaries. The
// task goes on from a state, because a process reads orders for such a task before its guest runs, and has fuel for many
// times the work of making a state ready. So it meets a boundary however fast or busy the machine is.
func savedAtBoundaries(t *testing.T, tk Task, want Report) {
	tk.Pages, tk.FreezeAtFuel = &MemoryStore{}, want.Fuel/10
	begun := run(t, newTestPool(t), tk)
	saved, due := tk, make(chan struct{}, 1)
	saved.FreezeAtFuel, saved.From, saved.Due = 0, begun.Frozen, due
	states := map[uint64][sha256.Size]byte{} // at the boundaries so far, by fuel
	met, all := 0, 0
	saved.OnBoundary = func(b task.Boundary) { states[b.Fuel] = b.State }
	saved.OnCheckpoint = func(b []byte, fuel uint64, _ time.Duration) { // later boundaries may have come before it
		all++
		if state, is := states[fuel]; is {
			if met++; sha256.Sum256(b) != state {
				t.Errorf("the state saved at fuel %d is not that of the boundary there", fuel)
			}
		}
		due <- struct{}{}
	}
	due <- struct{}{}
	rep := run(t, newTestPool(t), saved)
	same(t, rep, want)
	sameTrail(t, rep.Trail, after(want.Trail, begun.Fuel))
	if t.Logf("%d of %d states at boundaries", met, all); met == 0 || met < all/2 {
		t.Error("others come to none of most states")
	}
}

// movedOnTheWay takes a task to a new process again and again.
func movedOnTheWay(t *testing.T, tk Task, want Report) {
	tk.Pages = &MemoryStore{}
	var parts []task.Boundary
	for hops := uint64(1); ; hops++ {
		tk.FreezeAtFuel = hops * (want.Fuel / 9)
		rep := run(t, newTestPool(t, func(c *Config) { c.MaxIdle = -1 }), tk)
		parts = append(parts, rep.Trail...)
		if rep.Outcome != task.Interrupted {
			same(t, rep, want)
			if hops < 9 {
				t.Errorf("it moved %d times", hops-1)
			}
			break
		}
		if n := len(rep.Trail); n > 0 && rep.Trail[n-1].Fuel > rep.Fuel {
			t.Errorf("frozen at fuel %d with a boundary at %d", rep.Fuel, rep.Trail[n-1].Fuel)
		}
		tk.From = rep.Frozen
	}
	sameTrail(t, ThinTrail(parts, tk.Spacing, want.Fuel), want.Trail)
}

// A task that is frozen at a boundary has noted it, whoever goes on does not again, and its state is what was frozen.
func TestFrozenAtABoundary(t *testing.T) {
	tk, want := trailedTask(t, "mixed.c", []string{"5000", "4"}, 40)
	at := want.Trail[4]
	every := task.SpacingAt(tk.Spacing, want.Fuel)
	tk.Pages, tk.FreezeAtFuel = &MemoryStore{}, at.Fuel/every*every
	rep := run(t, newTestPool(t), tk)
	if n := len(rep.Trail); n == 0 || rep.Trail[n-1] != at || rep.StateHash != at.State {
		t.Fatalf("frozen at fuel %d with state %x; %d boundaries", rep.Fuel, rep.StateHash[:4], n)
	}
	tk.From, tk.FreezeAtFuel = rep.Frozen, 0
	sameTrail(t, run(t, newTestPool(t), tk).Trail, after(want.Trail, at.Fuel))
	staged, err := inStages(t, newTestPool(t), tk, Stage{Manifest: rep.Frozen}, Stage{Manifest: rep.Frozen, Last: true})
	if err != nil {
		t.Fatal(err)
	}
	sameTrail(t, staged.Trail, after(want.Trail, at.Fuel))
}

// TestShortTasks: one that ends before it has used eight spacings has no trail and no hash, and one that used more has.
func TestShortTasks(t *testing.T) {
	tk := moduleTask(t, traveller(t, "mixed.c"), "job/1")
	tk.Args = []string{"2000", "3"}
	fuel := run(t, newTestPool(t), tk).Fuel
	for _, c := range []struct {
		spacing uint64
		long    bool
	}{{0, false}, {1 << 62, false}, {fuel/task.MinIntervals + 1, false}, {fuel / task.MinIntervals, true}} {
		tk.Spacing = c.spacing
		rep := run(t, newTestPool(t), tk)
		if (len(rep.Trail) > 0) != c.long || (rep.StateHash != [32]byte{}) != c.long {
			t.Errorf("fuel %d, spacing %d: %d boundaries, state %x", rep.Fuel, c.spacing, len(rep.Trail), rep.StateHash[:4])
		}
	}
	tk.Spacing = MinSpacing - 1
	if _, err := newTestPool(t).Run(t.Context(), tk); err == nil || !strings.Contains(err.Error(), "boundaries") {
		t.Errorf("a spacing that is too small: %v", err)
	}
}

// TestBoundariesAhead: so it is with a memory so large that most of a state is sent while the task runs.
func TestBoundariesAhead(t *testing.T) {
	tk, want := trailedTask(t, "busy.c", []string{"66", "4000"}, 20)
	savedOnTheWay(t, tk, want)
}

// untracked runs a task in a process that nobody tells which pages were written.
func untracked(t *testing.T, tk Task) Report {
	t.Helper()
	return run(t, newTestPool(t, func(c *Config) { c.Command = []string{c.Command[0], blindVerb} }), tk)
}
