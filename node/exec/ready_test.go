package exec

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// An eager Runner notes what it makes ready, and takes a second for it.
type eager struct {
	Sleeper
	mu   sync.Mutex
	made []string // contents of the modules
}

func (r *eager) Ready(_ context.Context, _ task.CID, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, string(b))
	return nil
}

func (r *eager) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

// A program is made ready while the owner lends a core that is free, one at a time; nothing of it is left behind.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := newFakeHost(), &eager{}
		x := h.executor(t, r)
		store := func(content string) task.CID {
			c, err := h.blocks.ImportBytes(t.Context(), []byte(content))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b := store("a"), store("b")
		h.on(func() { Ready(x, a) }) // no core is lent
		lend := func(cores int) {
			h.on(func() {
				x.Lend(owner.Decision{Cores: cores})
				x.Fit()
			})
		}
		lend(1)
		h.on(func() {
			Ready(x, a)
			Ready(x, b) // another is on its way
		})
		synctest.Wait()
		if held := h.holding(); held[a] != 1 {
			t.Errorf("while it is made ready, %d hold the program", held[a])
		}
		time.Sleep(2 * time.Second)
		h.on(func() { Ready(x, b) })
		time.Sleep(2 * time.Second)
		if made, want := r.all(), []string{"a", "b"}; !slices.Equal(made, want) {
			t.Errorf("made ready: %q, want %q", made, want)
		}
		if len(h.holding()) != 0 || h.space.used != 0 {
			t.Errorf("left behind: %v held, %d bytes staged", h.holding(), h.space.used)
		}

		id := h.prepared(t, x, 1, time.Minute)
		h.do(x, message.Start{Task: task.TaskID{Job: id}, Attempt: as(1)})
		h.on(func() { Ready(x, a) }) // the core is taken
		time.Sleep(2 * time.Second)
		if made := r.all(); len(made) != 2 {
			t.Errorf("made ready beside a task on the only core: %q", made)
		}
		lend(2)
		h.on(func() { Ready(x, task.CID("none")) }) // which costs nothing
		synctest.Wait()
	})
}
