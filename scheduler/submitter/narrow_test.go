package submitter

import (
	"fmt"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// Who left a wrong state is shown by what it ran itself: from the task's beginning, or from the state that it went
// on from, where that is still to be had.
func TestPartsOfChains(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong uint64 // fuel of the state that is; 0 for the end
		named bool   // the states' blocks are
		want  *task.PartProof
		from  uint64
	}{
		"the first":                    {10, true, &task.PartProof{First: 0, Last: 1}, 0},
		"the first, whose is nowhere":  {10, false, &task.PartProof{First: 0, Last: 1}, 0},
		"the second":                   {20, true, &task.PartProof{First: 1, Last: 2}, 10},
		"the third":                    {30, true, &task.PartProof{First: 2, Last: 3}, 20},
		"from a state that nobody has": {20, false, nil, 0},
		"the end":                      {0, true, nil, 0}, // it has no boundaries
	} {
		b := newAuditBench(t, 20, "full")
		r := wayTo{receipt: true, left: []int{5, 6, 7}}.result(b)
		for k := range r.Trail.Began {
			if l := &r.Trail.Began[k]; tt.named {
				l.CID = task.RawCID(fmt.Append(nil, l.Fuel))
			}
		}
		b.deliver(0, nil, r)
		var from *message.Began
		b.comes(func(a message.Audit) []byte {
			if a.From != nil {
				from = a.From
			}
			if a.StopAt == tt.wrong {
				return []byte("another state")
			}
			return nil
		})
		w := b.held(0).Refuted
		if w == nil || (w.Proof == nil) != (tt.want == nil) || w.Proof != nil && (w.Proof.First != tt.want.First ||
			w.Proof.Last != tt.want.Last) {
			t.Errorf("%s: %+v", name, w)
			continue
		}
		if (from == nil) != (tt.from == 0) || from != nil && (from.Fuel != tt.from || w.StateOf() != from.CID ||
			string(from.Hash) != string(hashAt(tt.from))) {
			t.Errorf("%s: it ran from %+v", name, from)
		}
		if w.Proof != nil {
			if part, err := w.Result.Segment(w.Proof, task.DefaultSpacing); err != nil || part.By != w.By {
				t.Errorf("%s: %+v, %v", name, part, err)
			}
		}
	}
}
