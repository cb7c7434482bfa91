package freeze_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"godwit/sandbox/freeze"
)

// blocks is a store of compressed pages.
type blocks struct {
	mu sync.Mutex
	m  map[freeze.Hash][]byte
}

func (s *blocks) put(h freeze.Hash, page []byte) error {
	b := freeze.Compress(page)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[h] = b
	return nil
}

func (s *blocks) get(h freeze.Hash) ([]byte, error) {
	if b, ok := s.m[h]; ok {
		return b, nil
	}
	return nil, errors.New("no such block")
}

// frozenGuest runs a guest for some fuel and freezes it.
func frozenGuest(t testing.TB, g guest, fuel uint64) (*freeze.Program, *freeze.Machine, *world, freeze.Hash) {
	ctx := context.Background()
	code := build(t, g.source)
	prog := instrument(t, code)
	rt, host := guestRuntime(t)
	c, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	m, err := host.Instantiate(ctx, prog, c, freeze.Config{Module: w.config(g.args)})
	if err != nil {
		t.Fatal(err)
	}
	m.FreezeAt(fuel)
	if _, err := m.Call(ctx, "_start"); !errors.Is(err, freeze.ErrFrozen) {
		t.Fatal(err)
	}
	return prog, m, w, sha256.Sum256(code)
}

func record(t testing.TB, m *freeze.Machine, r *freeze.Recorder, s *blocks) *freeze.Manifest {
	state, err := m.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	man, err := r.Record(state, m.Memory(), nil, false, s.put)
	if err != nil {
		t.Fatal(err)
	}
	return man
}

func TestCheckpointGoesOnElsewhere(t *testing.T) {
	ctx := context.Background()
	g := guests[4]
	want := runPlain(t, build(t, g.source), g.args)
	prog, m, w, id := frozenGuest(t, g, 50_000)
	store := &blocks{m: map[freeze.Hash][]byte{}}
	b, err := record(t, m, &freeze.Recorder{Module: id}, store).Encode()
	if err != nil {
		t.Fatal(err)
	}
	man, err := freeze.DecodeManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := man.Fits(prog, id); err != nil {
		t.Fatal(err)
	}
	rt, host := guestRuntime(t)
	c, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	m2, err := host.Restore(ctx, prog, c, freeze.Config{Module: w.config(g.args)}, &man.State, man.Load(store.get))
	if err != nil {
		t.Fatal(err)
	}
	// The state just restored is the state that was recorded.
	h1, _ := man.Hash()
	h2, _ := record(t, m2, &freeze.Recorder{Module: id}, store).Hash()
	if h1 != h2 {
		t.Fatal("the restored state has another hash")
	}
	if _, err := m2.Resume(ctx); !exitOK(err) {
		t.Fatal(err)
	}
	if w.out.String() != want.out || hashMemory(m2.Memory(), true) != want.memory {
		t.Fatalf("output %q, want %q", w.out.String(), want.out)
	}
}

func TestLaterCheckpointStoresWhatChanged(t *testing.T) {
	mem := make([]byte, 64*65536)
	rnd := rand.NewChaCha8([32]byte{})
	rnd.Read(mem[:32*65536])
	r := &freeze.Recorder{}
	store := &blocks{m: map[freeze.Hash][]byte{}}
	s := &freeze.State{Pages: 64}
	first, err := r.Record(s, mem, nil, false, store.put)
	if err != nil || len(store.m) != 32 || len(first.Pages) != 32 {
		t.Fatalf("%v: %d blocks, %d pages", err, len(store.m), len(first.Pages))
	}
	before := maps.Clone(store.m)
	mem[5*65536+17]++
	clear(mem[7*65536 : 8*65536])
	second, err := r.Record(s, mem, nil, false, store.put)
	if err != nil || len(store.m) != len(before)+1 || len(second.Pages) != 31 {
		t.Fatalf("%v: %d blocks, %d pages", err, len(store.m), len(second.Pages))
	}
	again := make([]byte, len(mem))
	if err := second.Load(store.get)(func(at uint64, b []byte) error { copy(again[at:], b); return nil }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, mem) {
		t.Fatal("the memory read back differs")
	}
}

func TestForgedCheckpointsAreRefused(t *testing.T) {
	prog, m, _, id := frozenGuest(t, guests[0], 2_000)
	store := &blocks{m: map[freeze.Hash][]byte{}}
	good := record(t, m, &freeze.Recorder{Module: id}, store)
	b, _ := good.Encode()
	for _, c := range []struct {
		name, want string
		forge      func(*freeze.Manifest)
	}{
		{"other module", "of module", func(m *freeze.Manifest) { m.Module[0]++ }},
		{"other pass", "pass version", func(m *freeze.Manifest) { m.Pass++ }},
		{"no frame above a call", "innermost",
			func(m *freeze.Manifest) { m.State.Frames = m.State.Frames[trailing(m.State.Frames):] }},
		{"point that is not there", "safe point", func(m *freeze.Manifest) { m.State.Frames[len(m.State.Frames)-5] = 0x7f }},
		{"size of another frame", "bytes", func(m *freeze.Manifest) { m.State.Frames[len(m.State.Frames)-4] ^= 8 }},
		{"frame cut short", "cut short",
			func(m *freeze.Manifest) { m.State.Frames = m.State.Frames[len(m.State.Frames)-3:] }},
		{"global missing", "globals", func(m *freeze.Manifest) { m.State.Globals = nil }},
		{"references from nowhere", "references", func(m *freeze.Manifest) { m.State.Refs[0] = []freeze.Reference{1} }},
		{"page outside", "outside", func(m *freeze.Manifest) { m.Pages[0].Number = 1 << 15 }},
		{"too many pages", "pages", func(m *freeze.Manifest) { m.State.Pages = 1 << 20 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			forged, err := freeze.DecodeManifest(b)
			if err != nil {
				t.Fatal(err)
			}
			c.forge(forged)
			e, _ := forged.Encode()
			forged, err = freeze.DecodeManifest(e)
			if err == nil {
				err = forged.Fits(prog, id)
			}
			if !errors.Is(err, freeze.ErrCheckpoint) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want a refusal with %q", err, c.want)
			}
		})
	}
	for n := range b {
		if _, err := freeze.DecodeManifest(b[:n]); !errors.Is(err, freeze.ErrCheckpoint) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for h, block := range store.m {
		block = bytes.Clone(block)
		block[len(block)/2] ^= 1
		if _, err := freeze.Decompress(block, h); !errors.Is(err, freeze.ErrCheckpoint) {
			t.Fatalf("damaged page: %v", err)
		}
	}
}

// A manifest of a million pages is refused before there is room for them: no memory has as many.
func TestManifestOfAMillionPages(t *testing.T) {
	const pages = 1_000_000
	man := freeze.Manifest{Format: freeze.CheckpointVersion, State: freeze.State{Pages: pages}}
	for n := range uint32(pages) {
		man.Pages = append(man.Pages, freeze.Page{Number: n})
	}
	b, err := man.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = freeze.DecodeManifest(b)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, freeze.ErrCheckpoint) || !strings.Contains(err.Error(), "list of 1000000 pages") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(b))/2 {
		t.Errorf("reading %d bytes takes %d", len(b), took)
	}
}

// trailing gives where the second frame, from the inside, begins.
func trailing(frames []byte) int {
	for n := 8; n < len(frames); n += 8 {
		size := int(frames[n-4]) | int(frames[n-3])<<8
		if size == n-8 {
			return n
		}
	}
	return 0
}

func FuzzCheckpoint(f *testing.F) {
	prog, m, _, id := frozenGuest(f, guests[0], 2_000)
	man := record(f, m, &freeze.Recorder{Module: id}, &blocks{m: map[freeze.Hash][]byte{}})
	b, _ := man.Encode()
	f.Add(b, man.State.Frames)
	f.Fuzz(func(t *testing.T, b, frames []byte) {
		if m, err := freeze.DecodeManifest(b); err == nil {
			m.Fits(prog, id)
		}
		s := man.State
		s.Frames = frames
		prog.Check(&s)
	})
}

func BenchmarkSecondCheckpoint(b *testing.B) {
	mem := make([]byte, 512<<20)
	rand.NewChaCha8([32]byte{}).Read(mem)
	r := &freeze.Recorder{}
	store := &blocks{m: map[freeze.Hash][]byte{}}
	s := &freeze.State{Pages: uint32(len(mem) / 65536)}
	if _, err := r.Record(s, mem, nil, false, store.put); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		stored := len(store.m)
		for p := range len(mem) / 65536 / 100 {
			mem[p*100*65536+n%65536]++
		}
		b.StartTimer()
		if _, err := r.Record(s, mem, nil, false, store.put); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(store.m)-stored), "pages")
	}
}

// TestThawedGuestKnowsItsPages: the first checkpoint after a thaw is one after the manifest, and stores nothing that
// has not changed.
func TestThawedGuestKnowsItsPages(t *testing.T) {
	ctx := context.Background()
	prog, m, w, id := frozenGuest(t, guests[4], 50_000)
	store := &blocks{m: map[freeze.Hash][]byte{}}
	man := record(t, m, &freeze.Recorder{Module: id}, store)
	rt, host := guestRuntime(t)
	c, err := rt.CompileModule(ctx, prog.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	r := &freeze.Recorder{Module: id}
	thawed, err := host.Restore(ctx, prog, c, freeze.Config{Module: w.config(nil)}, &man.State, r.Load(man, store.get))
	if err != nil {
		t.Fatal(err)
	}
	again := &blocks{m: map[freeze.Hash][]byte{}}
	got := record(t, thawed, r, again)
	want, _ := man.Hash()
	if h, err := got.Hash(); err != nil || h != want || len(again.m) != 0 {
		t.Errorf("state %x, want %x; %d pages stored, want none; %v", h[:4], want[:4], len(again.m), err)
	}
	thawed.Memory()[70_000]++
	if got = record(t, thawed, r, again); len(again.m) != 1 {
		t.Errorf("%d pages stored of one that changed", len(again.m))
	}
	if h, _ := got.Hash(); h == want {
		t.Error("the change is not in the hash")
	}
}

// A checkpoint of another version is none of this program's, and may be good elsewhere; one
// that is damaged is good nowhere.
func TestForeign(t *testing.T) {
	for name, c := range map[string]struct {
		m    freeze.Manifest
		want bool
	}{
		"ours":           {freeze.Manifest{Format: freeze.CheckpointVersion, Pass: freeze.PassVersion}, false},
		"another format": {freeze.Manifest{Format: freeze.CheckpointVersion + 1, Pass: freeze.PassVersion}, true},
		"another pass":   {freeze.Manifest{Format: freeze.CheckpointVersion, Pass: freeze.PassVersion + 1}, true},
	} {
		b, err := c.m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if freeze.Foreign(b) != c.want || freeze.Foreign(b[:len(b)-1]) {
			t.Errorf("%s: %v, cut short %v", name, freeze.Foreign(b), freeze.Foreign(b[:len(b)-1]))
		}
	}
}
