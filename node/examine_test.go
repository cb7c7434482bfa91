package node

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// An Examine is answered to the machine that had it, by the content of a block; one that cannot be
// answered says why.
func TestExamineIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 1)
		p := s.peers[0]
		p.runner.output = 2000
		p.start()
		id := p.submit(1, time.Second)
		p.finish(id, 1)
		for _, tt := range []struct {
			index     uint64
			condition string
			meets     bool
			err       string
		}{
			{0, "stdout matches (?s).{100}", true, ""},
			{0, "stdout contains what is not there", false, ""},
			{0, "stdout matches (", false, "no regular expression"},
			{7, "stdout contains x", false, "not found"},
		} {
			to := &listening{}
			e := message.Examine{Task: task.TaskID{Job: id, Index: tt.index}, Condition: tt.condition}
			p.onLoop(t, func() { p.doFor(t.Context(), pending{of: p.ordered()[0], machine: e, from: to}, nil) })
			s.until("the question is answered", func() (answered bool) {
				p.onLoop(t, func() { answered = len(to.heard) > 0 })
				return answered
			})
			got := to.heard[0].(message.Examined)
			if got.Meets != tt.meets || !strings.Contains(got.Err, tt.err) || (tt.err == "") != (got.Err == "") {
				t.Errorf("%q of task %d: %v, %q", tt.condition, tt.index, got.Meets, got.Err)
			}
		}
	})
}

// What a sealed result has inline is opened first.
func TestSealedResultMeets(t *testing.T) {
	key := newKey()
	sealer, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed := sealer.SealFile([]byte("FOUND"))
	c, err := blocks.CIDOfBytes(sealed)
	if err != nil {
		t.Fatal(err)
	}
	held := message.TaskSummary{Results: []task.Result{{Outcome: task.Completed,
		Outputs: []task.Output{{Name: task.Stdout, CID: c, Size: int64(len(sealed)), Inline: sealed}}}}}
	for of, want := range map[string]bool{string(key): true, string(newKey()): false} {
		e := message.Examine{Key: []byte(of), Condition: "stdout matches ^FOUND$"}
		if met, err := (&content{}).meets(t.Context(), &held, &e); met != want || (err == nil) != want {
			t.Errorf("%v, %v", met, err)
		}
	}
}
