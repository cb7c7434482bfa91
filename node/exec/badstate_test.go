package exec

import (
	"crypto/sha256"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/owner"
	"godwit/sandbox/freeze"
	"godwit/scheduler/message"
	"godwit/task"
)

// A state that nobody can go on from is called bad, with the receipt of the lease that names it,
// and the task begins anew. One that nobody has just now is not.
func TestCallsBadStates(t *testing.T) {
	tree := func(h *fakeHost, name, manifest string) task.CID {
		c, err := h.blocks.ImportBytes(t.Context(), []byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		root, err := h.blocks.PutTree(t.Context(), []blocks.Link{{Name: name, CID: c, Size: int64(len(manifest))}})
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	lacks := func([]byte) ([][sha256.Size]byte, error) { return [][sha256.Size]byte{{1}}, nil }
	later, err := (&freeze.Manifest{Format: freeze.CheckpointVersion, Pass: freeze.PassVersion + 1}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	// A manifest, for which its worker vouches as it is, unless another test says what for.
	type state struct {
		manifest string
		tree     func(h *fakeHost) task.CID // nil: one with the manifest
	}
	whole := func(manifest string) state { return state{manifest: manifest} }
	slept := string(waitedState(10 * time.Second))
	for name, tt := range map[string]struct {
		state state
		of    func([]byte) ([][sha256.Size]byte, error) // the pages of a state; nil for none
		bad   bool
	}{
		"good":                         {whole(slept), nil, false},
		"of another version":           {whole(string(later)), nil, false},
		"of another, and lacks a page": {whole(string(later)), lacks, false},
		"lacks a page":                 {whole(string(waitedState(0))), lacks, true},
		"of no task":                   {whole("nothing"), nil, true},
		"of more work":                 {whole(string(waitedState(time.Hour))), nil, true},
		"not what was vouched for": {state{"another", func(h *fakeHost) task.CID { return tree(h, manifestName, slept) }},
			nil, true},
		"no manifest": {state{tree: func(h *fakeHost) task.CID {
			return tree(h, strings.Repeat("00", sha256.Size), "")
		}}, nil, true},
		"an odd page": {state{tree: func(h *fakeHost) task.CID { return tree(h, "page", "") }}, nil, true},
		"no tree": {state{tree: func(h *fakeHost) task.CID {
			c, err := h.blocks.ImportBytes(t.Context(), []byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}}, nil, true},
		"nobody has it": {state{tree: func(*fakeHost) task.CID { return task.RawCID([]byte("elsewhere")) }}, nil, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newFakeHost()
			x := h.executor(t, &pagedSleeper{of: tt.of})
			id := task.TaskID{Job: h.prepared(t, x, 1, time.Minute)}
			h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
			root := func() task.CID { return tree(h, manifestName, tt.state.manifest) }
			if tt.state.tree != nil {
				root = func() task.CID { return tt.state.tree(h) }
			}
			from := &message.Checkpoint{CID: root(), Fuel: 1}
			receipt, err := task.NewReceipt(x.Key, x.Self, id, x.Self, task.Receipt{Epoch: 1, Seq: 1, From: from.CID})
			if err != nil {
				t.Fatal(err)
			}
			vouched := from.ToVouch(id, sha256.Sum256([]byte(tt.state.manifest)), nil)
			if from.Voucher, err = task.Vouch(x.Key, receipt, vouched); err != nil {
				t.Fatal(err)
			}
			h.do(x, message.Start{Task: id, Attempt: as(1), From: from, Receipt: receipt})
			<-time.After(2 * time.Minute)
			bad := 0
			for _, ev := range h.heard() {
				if ev, ok := ev.(message.StateBad); ok {
					bad++
					if err := ev.Word.Verify(task.State{Task: id, CID: from.CID, Bad: true}); err != nil || ev.Attempt != as(1) {
						t.Errorf("%s: its word is %+v: %v", name, ev, err)
					}
				}
			}
			if got := h.ended(); len(got) != 1 || got[0].Result.Outcome != task.Completed || (bad == 1) != tt.bad || bad > 1 {
				t.Errorf("%s: called bad %d times, ended %+v", name, bad, got)
			}
		})
	}
}

// A pagedSleeper's states have pages.
type pagedSleeper struct {
	Sleeper
	of func([]byte) ([][sha256.Size]byte, error)
}

func (s *pagedSleeper) Pages(state []byte) ([][sha256.Size]byte, error) {
	if s.of == nil {
		return s.Sleeper.Pages(state)
	}
	return s.of(state)
}
