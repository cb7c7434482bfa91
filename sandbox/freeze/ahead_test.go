package freeze_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/sandbox/freeze"
)

// A scribbled memory is written to while it is read, in the middle of pages too, and may tell what was written.
type scribbled struct {
	b     []byte
	dirty []bool // since it was asked
	rng   *rand.Rand
}

const scribbledPage = 64 << 10

func (s *scribbled) scribble() {
	for range s.rng.IntN(4) {
		n := s.rng.IntN(len(s.dirty))
		s.dirty[n] = true
		page := s.b[n*scribbledPage:][:scribbledPage]
		switch s.rng.IntN(4) {
		case 0:
			clear(page)
		case 1:
			page[0]++ // at the end that is read first
		default:
			page[s.rng.IntN(scribbledPage)]++
		}
	}
}

func (s *scribbled) unchanged(memory []byte) []bool {
	same := make([]bool, len(memory)/scribbledPage)
	for n := range same {
		same[n] = !s.dirty[n]
		s.dirty[n] = false
	}
	return same
}

// read is torn by what is written meanwhile.
func (s *scribbled) read(n int, page []byte) {
	b := s.b[n*scribbledPage:][:scribbledPage]
	cut := s.rng.IntN(scribbledPage)
	copy(page[:cut], b)
	s.scribble()
	copy(page[cut:], b[cut:])
	s.scribble()
}

// TestAhead: whatever is written while a part of a checkpoint is made ahead, and wherever that ends, the
// checkpoint is the
// state at the stop, all of it is stored, and of what was stored in time nothing is taken again.
func TestAhead(t *testing.T) {
	for _, told := range []bool{true, false} {
		for seed := range uint64(60) {
			t.Run(fmt.Sprintf("told=%t/%d", told, seed), func(t *testing.T) { testAhead(t, told, seed) })
		}
	}
}

func testAhead(t *testing.T, told bool, seed uint64) {
	const pages = 24
	s := &scribbled{b: make([]byte, pages*scribbledPage), dirty: make([]bool, pages), rng: rand.New(rand.NewPCG(seed, 1))}
	for n := range pages {
		if s.dirty[n] = true; s.rng.IntN(3) > 0 {
			s.b[n*scribbledPage+9] = byte(n + 1)
		}
	}
	r, store := &freeze.Recorder{}, &blocks{m: map[freeze.Hash][]byte{}}
	if told {
		r.Unchanged = s.unchanged
	}
	for range 3 { // checkpoints
		size := len(s.b) - s.rng.IntN(pages/2)*scribbledPage // it may grow
		for range s.rng.IntN(4) {
			ends := s.rng.IntN(2 * pages)
			if _, err := r.Ahead(s.b[:size], s.read, store.put, func(int) bool { ends--; return ends >= 0 }); err != nil {
				t.Fatal(err)
			}
			s.scribble()
		}
		checkAgainstNew(t, r, store, s.b)
		s.scribble()
	}
}

// checkAgainstNew compares a checkpoint with that of a recorder that knows nothing, and reads it back.
func checkAgainstNew(t *testing.T, r *freeze.Recorder, store *blocks, memory []byte) {
	t.Helper()
	state := &freeze.State{Pages: uint32(len(memory) / scribbledPage)}
	got, err := r.Record(state, memory, nil, false, store.put)
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&freeze.Recorder{}).Record(state, memory, nil, false, func(freeze.Hash, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Pages, want.Pages) {
		t.Fatal("the checkpoint is not the state at the stop")
	}
	again := make([]byte, len(memory))
	if err := got.Load(store.get)(func(at uint64, b []byte) error { copy(again[at:], b); return nil }); err != nil ||
		!bytes.Equal(again, memory) {
		t.Fatalf("the memory read back differs: %v", err)
	}
}

// TestAheadLeavesLittle: what nobody wrote to is done, and the caller is told how much is left.
func TestAheadLeavesLittle(t *testing.T) {
	const pages = 16
	s := &scribbled{b: make([]byte, pages*scribbledPage), dirty: make([]bool, pages)}
	for n := range pages {
		s.b[n*scribbledPage], s.dirty[n] = byte(n+1), true
	}
	r := &freeze.Recorder{Unchanged: s.unchanged}
	stored := 0
	store := func(freeze.Hash, []byte) error { stored++; return nil }
	plain := func(n int, page []byte) { copy(page, s.b[n*scribbledPage:]) }
	var told []int
	more := func(left int) bool { told = append(told, left); return true }
	if taken, err := r.Ahead(s.b, plain, store, more); err != nil || taken != pages || stored != pages ||
		told[0] != pages || told[pages-1] != 1 {
		t.Errorf("first %d taken, %d stored, told %v, %v", taken, stored, told, err)
	}
	s.b[3*scribbledPage], s.dirty[3] = 99, true
	s.b[5*scribbledPage], s.dirty[5] = 99, true
	told = nil
	if taken, err := r.Ahead(s.b, plain, store, func(left int) bool { more(left); return false }); err != nil ||
		taken != 0 || !slices.Equal(told, []int{2}) {
		t.Errorf("then %d taken, told %v, %v", taken, told, err)
	}
	taken, err := r.Take(s.b, func() []byte { return make([]byte, scribbledPage) }, store)
	if err != nil || taken.Bytes() != 2*scribbledPage {
		t.Errorf("left for the stop: %d bytes, %v", taken.Bytes(), err)
	}
}
