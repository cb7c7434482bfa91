package main

import (
	"strings"
	"testing"
)

func TestDoubles(t *testing.T) {
	stints := func(second int) map[uint64][]stint {
		return map[uint64][]stint{3: {
			{node: 0, task: 3, from: 0, to: 500, began: at(0), ended: at(1000), seen: at(1000)},
			{node: 1, task: 3, from: 400, to: 900, began: at(second), ended: at(2000), seen: at(2000)},
		}}
	}
	log := func(first, then attemptView) jobView {
		first.Worker, then.Worker = "a", "b"
		return jobView{List: []taskView{{Index: 3, Attempts: []attemptView{first, then}}}}
	}
	ran := attemptView{Start: at(390), End: at(2000), Outcome: "completed"}
	for name, c := range map[string]struct {
		second    int
		job       jobView
		count     int
		explained bool
		says      string
	}{
		"one after the other":  {1010, log(attemptView{}, ran), 0, false, ""},
		"too short to be told": {990, log(attemptView{}, ran), 0, false, ""},
		"thought lost": {400, log(attemptView{Start: at(-10), End: at(300), Outcome: "lost", Reason: "silent"},
			ran), 1, true, "n0 ended as lost 0.1 s before: silent"},
		"lost before it ran": {400, log(attemptView{Start: at(-90), End: at(-10), Outcome: "lost", Reason: "silent"},
			ran), 1, true, "n0 ended as lost"},
		"superseded": {400, log(attemptView{Start: at(-10), End: at(2000), Outcome: "completed"},
			attemptView{Start: at(390), End: at(500), Outcome: "superseded"}), 1, true, "n1 ended as superseded"},
		"a copy": {400, log(attemptView{Start: at(-10), End: at(2000), Outcome: "completed"},
			attemptView{Start: at(390), Reason: "a copy, of which the first result counts"}), 1, true, "a copy"},
		"nobody knew of it": {400, log(attemptView{Start: at(5000)}, ran), 1, true, "no lease of n0"},
		"handed over": {400, log(attemptView{Start: at(-10), End: at(380), Outcome: "moved"}, ran), 1, false,
			"n0 ended as moved"},
	} {
		got := doubles(stints(c.second), c.job, []string{"a", "b"})
		if len(got) != c.count {
			t.Errorf("%s: %d times", name, len(got))
			continue
		}
		var r report
		r.doubled(got)
		if kept := r.Promises[len(r.Promises)-1].Kept; kept == (c.count > 0 && !c.explained) {
			t.Errorf("%s: kept %t", name, kept)
		}
		if c.count > 0 && !strings.Contains(got[0].why, c.says) {
			t.Errorf("%s: %s", name, got[0].why)
		}
	}
}
