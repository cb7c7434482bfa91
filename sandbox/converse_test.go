package sandbox

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// saying puts together what a child sends.
func saying(t testing.TB, frames ...any) []byte {
	var b bytes.Buffer
	for _, f := range frames {
		var err error
		switch f := f.(type) {
		case event:
			err = writeFrame(&b, f)
		case withBody:
			err = writeFrame(&b, f.event, f.body...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

type withBody struct {
	event event
	body  [][]byte
}

// listener is the parent's side of a conversation with a child that has sent
// all it will ever send, and takes what it is told.
func listener(t testing.TB, said []byte) *conversation {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	tk := Task{Name: "job/1", Saving: Saving{Pages: &MemoryStore{}}, Outputs: []string{"stdout", "out/*"},
		Limits: Limits{Memory: 1 << 20, Files: 1 << 16, Output: 1 << 16}.withDefaults()}
	c := &child{process: &process{in: null, out: bufio.NewReader(bytes.NewReader(said)), stderr: &firstWords{}}}
	v := &conversation{c: c, t: tk, since: time.Now()}
	v.asked.Store(3)
	return v
}

// aCheckpoint is a manifest of two pages with their blocks, as a child sends it.
func aCheckpoint(t testing.TB) (blocks withBody, manifest []byte) {
	t.Helper()
	st := wasi.New("job/1", nil, nil, Limits{}.withDefaults().wasi())
	begins, err := st.Digest()
	if err != nil {
		t.Fatal(err)
	}
	system, err := st.Save(begins, 0, func([sha256.Size]byte, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	memory := bytes.Repeat([]byte{1, 2, 3, 4}, pageSize/2)
	memory[5] = 9
	man, err := (&freeze.Recorder{}).Record(&freeze.State{Fuel: 7, Pages: 2}, memory, system, false,
		func(h freeze.Hash, p []byte) error {
			b := freeze.Compress(p)
			blocks.event.Blocks = append(blocks.event.Blocks, len(b))
			blocks.body = append(blocks.body, slices.Clone(h[:]), b)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = man.Encode(); err != nil {
		t.Fatal(err)
	}
	return blocks, manifest
}

// FuzzConversation: whatever a child sends, its parent stores no false block,
// passes on no checkpoint that it does not hold all of, and comes to an end.
func FuzzConversation(f *testing.F) {
	blocks, man := aCheckpoint(f)
	end := withBody{event{End: &response{Outcome: task.Completed, Outputs: []outputSize{{"stdout", 2}}}},
		[][]byte{[]byte("ok")}}
	frozen := withBody{event{Saved: &saved{Frozen: true}}, [][]byte{man}}
	passing := withBody{event{Saved: &saved{Pause: 1}}, [][]byte{man}}
	f.Add(saying(f, event{Began: true}, blocks, passing, end))
	f.Add(saying(f, blocks, frozen, event{End: &response{Outcome: task.Interrupted}}))
	f.Add(saying(f, blocks, withBody{event{Want: 1}, blocks.body[:1]}, event{Not: &notSaved{Why: "no room"}},
		event{Fuel: 9}, end))
	f.Add(saying(f, frozen))
	f.Add(saying(f, boundaryAt(100), boundaryAt(1<<63), end))
	f.Add(saying(f, event{End: &response{Refused: "damaged", TooDeep: true}}))
	f.Fuzz(func(t *testing.T, said []byte) {
		v := listener(t, said)
		store := v.t.Pages.(*MemoryStore)
		whole := func(manifest []byte) {
			hashes, err := PagesOf(manifest)
			if err != nil {
				t.Errorf("a checkpoint passed on: %v", err)
			}
			for _, h := range hashes {
				if !store.Has(h) {
					t.Errorf("a checkpoint passed on without its block %x", h[:8])
				}
			}
		}
		passed := 0
		v.t.OnCheckpoint = func(m []byte, _ uint64, _ time.Duration) { whole(m); passed++ }
		v.t.OnFuel = func(uint64) {}
		v.t.Spacing, v.trail.spacing = 100, 100
		rep, err := v.listen()
		for h, b := range store.blocks {
			if _, err := freeze.Decompress(b, h); err != nil {
				t.Errorf("a false block was stored: %v", err)
			}
		}
		if passed > 3 {
			t.Errorf("%d checkpoints passed on of the 3 asked for", passed)
		}
		if err != nil {
			return
		}
		if len(rep.Frozen) > 0 {
			whole(rep.Frozen)
		}
		for k, b := range rep.Trail {
			if b.Fuel > rep.Fuel || k > 0 && b.Fuel <= rep.Trail[k-1].Fuel || k >= task.MaxBoundaries {
				t.Errorf("a trail of a hostile child, with fuel %d: %v", rep.Fuel, rep.Trail)
			}
		}
		if rep.Outcome == task.Interrupted != (len(rep.Frozen) > 0) || len(rep.Message) > task.MaxMessage ||
			len(rep.NotFrozen) > task.MaxMessage {
			t.Errorf("report of a hostile child: %+v", rep)
		}
	})
}

// TestConversations: what is said in good order is taken, and the like of it
// that is not, is not.
func TestConversations(t *testing.T) {
	blocks, man := aCheckpoint(t)
	end := withBody{event{End: &response{Outcome: task.Completed}}, nil}
	stop := withBody{event{End: &response{Outcome: task.Interrupted}}, nil}
	passing := withBody{event{Saved: &saved{}}, [][]byte{man}}
	frozen := withBody{event{Saved: &saved{Frozen: true}}, [][]byte{man}}
	swapped := withBody{blocks.event, [][]byte{blocks.body[2], blocks.body[1], blocks.body[0], blocks.body[3]}}
	for name, c := range map[string]struct {
		said []any
		ok   bool
	}{
		"checkpoint and end":    {[]any{blocks, passing, end}, true},
		"frozen":                {[]any{blocks, frozen, stop}, true},
		"four of three":         {[]any{blocks, passing, passing, passing, passing, end}, false},
		"no blocks":             {[]any{passing, end}, false},
		"false blocks":          {[]any{swapped, passing, end}, false},
		"interrupted, no state": {[]any{stop}, false},
		"frozen twice":          {[]any{blocks, frozen, frozen, stop}, false},
		"gone on after frozen":  {[]any{blocks, frozen, end}, false},
		"nothing":               {[]any{event{}}, false},
		"not to the end":        {[]any{blocks}, false},
	} {
		_, err := listener(t, saying(t, c.said...)).listen()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := listener(t, saying(t, boundaryAt(1<<20), end))
	if _, err := v.listen(); err == nil {
		t.Error("a boundary that no one asked for: no error")
	}
	v = listener(t, saying(t, withBody{event{Blocks: []int{math.MaxInt}}, [][]byte{make([]byte, 40)}}))
	if _, err := v.listen(); err == nil || err == io.EOF {
		t.Errorf("a block longer than its frame: %v", err)
	}
}

// boundaryAt is a boundary as a child sends it.
func boundaryAt(fuel uint64) withBody {
	return withBody{event{Boundary: &boundary{Fuel: fuel}}, [][]byte{make([]byte, sha256.Size)}}
}

// TestBoundariesOfALiar: boundaries where none can be are not taken. The spacing is 100, and the run began at 250.
func TestBoundariesOfALiar(t *testing.T) {
	ended := func(fuel uint64) withBody {
		return withBody{event{End: &response{Outcome: task.Completed, Fuel: fuel}}, nil}
	}
	var many []any
	for k := uint64(3); k <= 40; k++ {
		many = append(many, boundaryAt(k*100))
	}
	for name, c := range map[string]struct {
		said []any
		ok   bool
	}{
		"good":                  {[]any{boundaryAt(300), boundaryAt(401), boundaryAt(777), ended(900)}, true},
		"none":                  {[]any{ended(900)}, true},
		"before the beginning":  {[]any{boundaryAt(200), ended(900)}, false},
		"the beginning":         {[]any{boundaryAt(250), ended(900)}, false},
		"before the first":      {[]any{boundaryAt(299), ended(900)}, false},
		"twice":                 {[]any{boundaryAt(300), boundaryAt(300), ended(900)}, false},
		"descending":            {[]any{boundaryAt(501), boundaryAt(400), ended(900)}, false},
		"two for one multiple":  {[]any{boundaryAt(300), boundaryAt(399), ended(900)}, false},
		"after the end":         {[]any{boundaryAt(300), boundaryAt(901), ended(900)}, false},
		"after the doubling":    {append(many[:30:30], boundaryAt(3301), ended(5000)), false},
		"too many":              {append(many[:len(many):len(many)], ended(5000)), false},
		"a state that is short": {[]any{withBody{boundaryAt(300).event, [][]byte{{1}}}, ended(900)}, false},
		"no state":              {[]any{boundaryAt(300).event, ended(900)}, false},
	} {
		v := listener(t, saying(t, c.said...))
		v.t.Spacing, v.trail = 100, trail{spacing: 100, base: 250}
		heard := 0
		v.t.OnBoundary = func(task.Boundary) { heard++ }
		rep, err := v.listen()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && (heard != len(c.said)-1 || len(rep.Trail) != heard) {
			t.Errorf("%s: %d boundaries heard, %d reported", name, heard, len(rep.Trail))
		}
	}
}
