package node

import (
	"reflect"
	"testing"
	"time"

	"godwit/task"
)

// The book tells a crash from a goodbye, and counts no time in which nobody was
// there to be led.
func TestLeadBook(t *testing.T) {
	ids := []task.PeerID{"a", "b", "c"}
	begun := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	const s = time.Second
	type at struct {
		after  time.Duration
		host   int
		kind   leadKind
		leader task.PeerID
	}
	all := []at{{0, 0, begins, ""}, {0, 1, begins, ""}, {0, 2, begins, ""}, {s, 0, follows, "a"}, {s, 1, follows, "a"},
		{s, 2, follows, "a"}}
	for _, c := range []struct {
		what       string
		then       []at
		watched    time.Duration
		leaderless []time.Duration
		nobody     []time.Duration
		changes    map[string][]time.Duration
		alone      int
	}{
		{"nothing happens", nil, 59 * s, nil, nil, map[string][]time.Duration{}, 0},
		{"the leader crashes", []at{{10 * s, 0, crashed, ""}, {13 * s, 1, follows, "b"}, {14 * s, 2, follows, "b"}},
			59 * s, []time.Duration{4 * s}, []time.Duration{3 * s}, map[string][]time.Duration{byCrash: {4 * s}}, 0},
		{"the leader says goodbye", []at{{10 * s, 0, goodbye, ""}, {11 * s, 1, follows, "b"}, {12 * s, 2, follows, "b"},
			{12 * s, 0, stopped, ""}},
			59 * s, []time.Duration{s}, nil, map[string][]time.Duration{byGoodbye: {2 * s}}, 0},
		{"its owner returns, and leaves again",
			[]at{{10 * s, 0, inUse, ""}, {11 * s, 0, idle, ""}, {20 * s, 0, inUse, ""}, {21 * s, 2, follows, "c"},
				{21 * s, 1, follows, "c"}, {21 * s, 0, follows, "c"}},
			59 * s, nil, nil, map[string][]time.Duration{byOwner: {s}}, 0},
		{"another crashes", []at{{10 * s, 1, crashed, ""}}, 59 * s, nil, nil, map[string][]time.Duration{}, 0},
		{"all go", []at{{10 * s, 1, crashed, ""}, {10 * s, 2, crashed, ""}, {20 * s, 0, crashed, ""},
			{40 * s, 1, begins, ""}, {56 * s, 1, follows, "b"}},
			24 * s, []time.Duration{s}, []time.Duration{s}, map[string][]time.Duration{}, 1},
	} {
		b := &leadBook{ids: ids}
		for _, e := range append(all[:len(all):len(all)], c.then...) {
			b.add(leadNote{begun.Add(e.after), e.host, e.kind, e.leader})
		}
		r := b.report(begun.Add(time.Minute))
		if r.watched != c.watched || r.alone != c.alone || !reflect.DeepEqual(r.leaderless, c.leaderless) ||
			!reflect.DeepEqual(r.nobody, c.nobody) || !reflect.DeepEqual(r.changes, c.changes) {
			t.Errorf("%s: %+v", c.what, r)
		}
	}
}
