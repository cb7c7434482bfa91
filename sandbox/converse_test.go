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
	v := &conversation{c: c, t: tk}
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
	v := listener(t, saying(t, withBody{event{Blocks: []int{math.MaxInt}}, [][]byte{make([]byte, 40)}}))
	if _, err := v.listen(); err == nil || err == io.EOF {
		t.Errorf("a block longer than its frame: %v", err)
	}
}
