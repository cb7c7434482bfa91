package freeze_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"godwit/sandbox/freeze"
)

// boundariesOf runs a guest up to so much fuel and gives the fuel at its boundaries.
func boundariesOf(t *testing.T, m *freeze.Machine, every uint64, also func(*freeze.Machine)) (at []uint64) {
	t.Helper()
	m.NoteEvery(every, func(_ context.Context, m *freeze.Machine) error {
		at = append(at, m.Fuel())
		also(m)
		return nil
	})
	if _, err := m.Call(context.Background(), "run"); !errors.Is(err, freeze.ErrKilled) {
		t.Fatal(err)
	}
	return at
}

// TestNoteEvery: boundaries lie where the guest would have been frozen, each once, whatever else is wanted of it.
func TestNoteEvery(t *testing.T) {
	const every, most = 1_000, 20_500
	var want []uint64
	m := machine(t, spin(), freeze.Config{})
	for at := uint64(every); at < most; at += every {
		m.FreezeAt(at)
		var err error
		if at == every {
			_, err = m.Call(context.Background(), "run")
		} else {
			_, err = m.Resume(context.Background())
		}
		if !errors.Is(err, freeze.ErrFrozen) {
			t.Fatal(err)
		}
		want = append(want, m.Fuel())
	}
	none := func(*freeze.Machine) {}
	for name, c := range map[string]struct {
		cfg  freeze.Config
		also func(*freeze.Machine)
	}{
		"alone":    {freeze.Config{}, none},
		"tortured": {freeze.Config{TortureEvery: 1}, none},
	} {
		c.cfg.MaxFuel = most
		if got := boundariesOf(t, machine(t, spin(), c.cfg), every, c.also); !slices.Equal(got, want) {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	tiny := boundariesOf(t, machine(t, spin(), freeze.Config{MaxFuel: 100}), 1, none)
	if again := slices.Compact(slices.Clone(tiny)); len(tiny) == 0 || len(again) < len(tiny) {
		t.Errorf("each unit of fuel: %d", tiny)
	}
	saved := machine(t, spin(), freeze.Config{MaxFuel: 100})
	saved.Checkpoint(func(context.Context, *freeze.Machine) error { return nil }) // at the first
	if got := boundariesOf(t, saved, 1, none); !slices.Equal(got, tiny) {
		t.Errorf("each unit of fuel, and a checkpoint: got %d, want %d", got, tiny)
	}
	small := spin()
	small.Memories[0].Min = 0
	if got := boundariesOf(t, machine(t, small, freeze.Config{MaxFuel: most}), every, none); len(got) > 0 {
		t.Errorf("a guest that cannot be unwound stopped at %d", got)
	}
}

// The spacing can be changed at a boundary, or ended.
func TestNoteEveryOtherSpacing(t *testing.T) {
	got := boundariesOf(t, machine(t, spin(), freeze.Config{MaxFuel: 100_000}), 1_000, func(m *freeze.Machine) {
		next := uint64(5_000)
		if m.Fuel() > 10_000 {
			next = 0
		}
		m.NoteEvery(next, func(_ context.Context, m *freeze.Machine) error {
			if m.Fuel() > 10_000 {
				m.NoteEvery(0, nil)
			}
			return nil
		})
	})
	if len(got) != 1 {
		t.Errorf("the first spacing was used at %d", got)
	}
	m := machine(t, spin(), freeze.Config{})
	m.NoteEvery(1_000, func(context.Context, *freeze.Machine) error { return freeze.ErrKilled })
	if _, err := m.Call(context.Background(), "run"); !errors.Is(err, freeze.ErrKilled) {
		t.Errorf("after an error at a boundary: %v", err)
	}
}

// TestHashStoresNothingAway: the hash of a memory is that of a checkpoint made then, whenever it is asked for, also
// while a part of a checkpoint is made ahead or stored; and a checkpoint has all its pages stored, also those that have
// not changed since a hash.
func TestHashStoresNothingAway(t *testing.T) {
	for _, told := range []bool{true, false} {
		for seed := range uint64(40) {
			t.Run(fmt.Sprintf("told=%t/%d", told, seed), func(t *testing.T) { testHash(t, told, seed) })
		}
	}
}

// A hashed memory is hashed at random times.
type hashed struct {
	*scribbled
	t  *testing.T
	r  *freeze.Recorder
	mu sync.Mutex // of the memory, while pages are stored
}

func (h *hashed) check() {
	h.t.Helper()
	if h.rng.IntN(3) > 0 {
		return
	}
	state := &freeze.State{Pages: uint32(len(h.dirty))}
	got, err := h.r.Hash(state, h.b, nil, false)
	man, err2 := (&freeze.Recorder{}).Record(state, h.b, nil, false, func(freeze.Hash, []byte) error { return nil })
	if err = errors.Join(err, err2); err != nil {
		h.t.Error(err)
		return
	}
	if want, err := man.Hash(); err != nil || got != want {
		h.t.Errorf("the hash is not that of the memory: %v", err)
	}
}

func testHash(t *testing.T, told bool, seed uint64) {
	const pages = 24
	s := &scribbled{b: make([]byte, pages*scribbledPage), dirty: make([]bool, pages), rng: rand.New(rand.NewPCG(seed, 2))}
	for n := range pages {
		if s.dirty[n] = true; s.rng.IntN(3) > 0 {
			s.b[n*scribbledPage+9] = byte(n + 1)
		}
	}
	h := &hashed{scribbled: s, t: t, r: &freeze.Recorder{}}
	if told {
		h.r.Unchanged = s.unchanged
	}
	store := &blocks{m: map[freeze.Hash][]byte{}}
	for range 4 { // checkpoints
		for range s.rng.IntN(3) {
			s.scribble()
			h.check()
		}
		for range s.rng.IntN(3) {
			ends := s.rng.IntN(2 * pages)
			more := func(int) bool { h.check(); ends--; return ends >= 0 }
			if _, err := h.r.Ahead(s.b, s.read, store.put, more); err != nil {
				t.Fatal(err)
			}
			s.scribble()
		}
		h.check()
		if s.rng.IntN(2) == 0 {
			checkAgainstNew(t, h.r, store, s.b)
			continue
		}
		h.checkpoint(store)
	}
}

// checkpoint makes a checkpoint during which the guest goes on.
func (h *hashed) checkpoint(store *blocks) {
	memory := slices.Clone(h.b)
	taken, err := h.r.Take(h.b, func() []byte { return make([]byte, scribbledPage) }, store.put)
	if err != nil {
		h.t.Fatal(err)
	}
	man, err := h.r.Finish(taken, &freeze.State{Pages: uint32(len(h.dirty))}, nil, false,
		func(hash freeze.Hash, page []byte) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.scribble()
			h.check()
			return store.put(hash, page)
		})
	if err != nil {
		h.t.Fatal(err)
	}
	again := make([]byte, len(memory))
	if err := man.Load(store.get)(func(at uint64, b []byte) error { copy(again[at:], b); return nil }); err != nil ||
		!slices.Equal(again, memory) {
		h.t.Fatalf("the memory read back differs: %v", err)
	}
}

// A hash that is asked for between Take and Finish waits for the pages that were taken: of them nobody tells again that
// they were written.
func TestHashWaitsForWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, written := make([]byte, 2*scribbledPage), true
		r := &freeze.Recorder{Unchanged: func([]byte) []bool {
			was := written
			written = false
			return []bool{!was, !was}
		}}
		none := func(freeze.Hash, []byte) error { return nil }
		state := &freeze.State{Pages: 2}
		memory[0] = 1
		if _, err := r.Record(state, memory, nil, false, none); err != nil {
			t.Fatal(err)
		}
		memory[0], written = 2, true
		taken, err := r.Take(memory, func() []byte { return make([]byte, scribbledPage) }, none)
		if err != nil {
			t.Fatal(err)
		}
		hash := make(chan freeze.Hash, 1)
		go func() {
			h, err := r.Hash(state, memory, nil, false)
			if err != nil {
				t.Error(err)
			}
			hash <- h
		}()
		synctest.Wait()
		man, err := r.Finish(taken, state, nil, false, none)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := man.Hash(); err != nil || <-hash != want {
			t.Errorf("the hash is not that of the checkpoint: %v", err)
		}
	})
}

// What was hashed and not stored is stored ahead, so that nothing is left for the stop.
func TestAheadStoresWhatWasHashed(t *testing.T) {
	const pages = 8
	s := &scribbled{b: make([]byte, pages*scribbledPage), dirty: make([]bool, pages)}
	for n := range pages {
		s.b[n*scribbledPage], s.dirty[n] = byte(n+1), true
	}
	r, stored := &freeze.Recorder{Unchanged: s.unchanged}, 0
	store := func(freeze.Hash, []byte) error { stored++; return nil }
	if _, err := r.Hash(&freeze.State{Pages: pages}, s.b, nil, false); err != nil {
		t.Fatal(err)
	}
	left := 0
	taken, err := r.Ahead(s.b, func(n int, page []byte) { copy(page, s.b[n*scribbledPage:]) }, store,
		func(n int) bool { left = max(left, n); return true })
	if err != nil || taken != pages || stored != pages || left != pages {
		t.Errorf("%d pages taken, %d stored, told of %d, %v", taken, stored, left, err)
	}
	rest, err := r.Take(s.b, func() []byte { return make([]byte, scribbledPage) }, store)
	if err != nil || rest.Bytes() != 0 {
		t.Errorf("%d bytes are left for the stop, %v", rest.Bytes(), err)
	}
}
