package sandbox

import (
	"math/rand/v2"
	"testing"
)

// TestTrackerSeesEveryWrite: every page written between two looks is reported,
// in memory never touched before too, and no other after the first look.
func TestTrackerSeesEveryWrite(t *testing.T) {
	const pages = 300
	m := memories{}
	if err := m.begin(pages * pageSize); err != nil {
		t.Fatal(err)
	}
	defer unreserve(m.buf)
	rng := rand.New(rand.NewPCG(1, 2))
	if m.unchanged(m.buf); m.tracker == nil {
		t.Skip("this kernel does not tell which pages were written")
	}
	defer m.tracker.close()
	for turn := range 20 {
		wrote := map[int]bool{}
		size := (turn + 1) * pages / 20
		for range rng.IntN(40) {
			n := rng.IntN(size)
			wrote[n] = true
			m.buf[n*pageSize+rng.IntN(pageSize)]++
		}
		if turn == 10 {
			m.buf[0] = 0 // the same as before is written too
			wrote[0] = true
		}
		seen := 0
		for n, same := range m.unchanged(m.buf[:size*pageSize]) {
			if wrote[n] == same {
				t.Errorf("turn %d: page %d: written %t, reported as the same %t", turn, n, wrote[n], same)
			}
			seen++
		}
		if seen != size {
			t.Fatalf("turn %d: told of %d pages of %d", turn, seen, size)
		}
	}
}

// blind has the kernel tell nothing.
func blind() { theWatcher = func() *watcher { return nil } }
