package freeze_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"godwit/sandbox/freeze"

	"github.com/tetratelabs/wazero/experimental"
)

// heldMemory is a memory that knows whether it was freed.
type heldMemory struct {
	b     []byte
	freed bool
}

func (h *heldMemory) Reallocate(size uint64) []byte {
	h.b = append(h.b, make([]byte, size-uint64(len(h.b)))...)
	return h.b
}

func (h *heldMemory) Free() { h.freed = true }

// TestResumeCodeIsBounded: a guest that is frozen at many places in one process ends as if it had never been, though of
// the resume functions that takes most are dropped: no more are kept than the bound says or the largest stack
// needed, and their machine code is given back to the system.
func TestResumeCodeIsBounded(t *testing.T) {
	const bound = 64 << 10
	for _, k := range []int{4, 9} {
		g := guests[k]
		t.Run(g.name, func(t *testing.T) {
			want := runPlain(t, build(t, g.source), g.args)
			prog := instrument(t, build(t, g.source))
			whole := runFrozen(t, prog, g.args, freeze.Config{}, nil)
			var held heldMemory
			ctx := experimental.WithMemoryAllocator(context.Background(),
				experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return &held }))
			rt, host := guestRuntime(t)
			c, err := rt.CompileModule(ctx, prog.Wasm)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld()
			m, err := host.Instantiate(ctx, prog, c, freeze.Config{Module: w.config(g.args), Resumes: bound})
			if err != nil {
				t.Fatal(err)
			}
			const freezes = 150
			made, most := 0, 0
			m.FreezeAt(whole.fuel / freezes)
			_, err = m.Call(ctx, "_start")
			for errors.Is(err, freeze.ErrFrozen) {
				m.FreezeAt(m.Fuel() + whole.fuel/freezes)
				_, err = m.Resume(ctx)
				all, needed := m.Kept()
				made, most = made+1, max(most, needed)
				if held.freed && errors.Is(err, freeze.ErrFrozen) {
					t.Fatalf("after %d freezes its memory was freed", made)
				}
				if all > max(bound, most) {
					t.Fatalf("after %d freezes %d bytes are kept; at most %d were needed at once", made, all, most)
				}
			}
			if !exitOK(err) {
				t.Fatalf("after %d freezes: %v", made, err)
			}
			if w.out.String() != want.out || hashMemory(m.Memory(), true) != want.memory || m.Fuel() != whole.fuel {
				t.Errorf("output %q, fuel %d, want %q, %d", w.out.String(), m.Fuel(), want.out, whole.fuel)
			}
			stats := m.Stats()
			t.Logf("%d freezes, %d resume functions, %d dropped, at most %d bytes needed at once", made, stats.Resumes,
				stats.Dropped, most)
			if made < freezes/4 || stats.Dropped < 20 {
				t.Errorf("%d freezes, %d resume functions dropped: too few to tell", made, stats.Dropped)
			}
			checkCodeIsFreed(t, m)
		})
	}
}

// checkCodeIsFreed compares machine code in memory before and after what is kept is dropped as well.
func checkCodeIsFreed(t *testing.T, m *freeze.Machine) {
	t.Helper()
	before, ok := codeInMemory(t)
	if !ok {
		t.Log("this system does not tell how much machine code is in memory")
		return
	}
	kept := m.KeepNothing(t.Context())
	var after int
	for range 10 { // finalizers run some time after a collection
		runtime.GC()
		if after, _ = codeInMemory(t); before-after > kept {
			return
		}
	}
	t.Errorf("machine code of %d bytes before, %d after what was %d bytes of WebAssembly was dropped", before, after, kept)
}

// codeInMemory is the size of all mappings that belong to no file and can be executed.
func codeInMemory(t *testing.T) (bytes int, ok bool) {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to, offset uint64
		var inode int
		var rights, device string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s %x %s %d", &from, &to, &rights, &offset, &device,
			&inode); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if inode == 0 && strings.Contains(rights, "x") {
			bytes += int(to - from)
		}
	}
	return bytes, true
}
