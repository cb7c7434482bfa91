package ending

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"godwit/task"
	"godwit/trace"
)

// manyMembers are so many that are always there, of which one in ten is twice as fast.
func manyMembers(n int) (out []Member) {
	for i := range n {
		m := Member{Peer: task.PeerID(fmt.Sprintf("m%05d", i)), State: trace.Available, Slots: 1, Memory: 1 << 30, Speed: 1,
			Since: noon.Add(-time.Hour)}
		if i%10 == 9 {
			m.Speed = 2
		}
		out = append(out, m)
	}
	return out
}

// Of very many members some are looked at: any for many tasks, the fastest of those that are there for few.
func TestSomeOfMany(t *testing.T) {
	all := manyMembers(6000)
	for i := range 1000 {
		all[i].State = trace.Unavailable
	}
	for _, c := range []struct {
		name    string
		members []Member
		tasks   float64
		share   float64
	}{
		{"as many as are looked at", all[:mostKnown], 1e6, 1},
		{"many tasks", all, 1e6, mostKnown / 6000.},
		{"few tasks", all, 10, 1},
	} {
		got, share := some(c.members, c.tasks)
		if len(got) != mostKnown || share != c.share {
			t.Errorf("%s: %d members, a share of %v, want %d and %v", c.name, len(got), share, mostKnown, c.share)
		}
	}
	got, _ := some(all, 10)
	if slices.ContainsFunc(got[:500], func(m Member) bool { return m.State != trace.Available || m.Speed != 2 }) {
		t.Error("few tasks are not given the fastest of those that are there")
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	if again, _ := some(backwards, 1e6); len(again) > 0 {
		was, _ := some(all, 1e6)
		if !slices.EqualFunc(was, again, func(a, b Member) bool { return a.Peer == b.Peer }) {
			t.Error("members in another order are other members")
		}
	}
	idle := manyMembers(2 * mostKnown)
	for i := range idle[mostKnown:] {
		idle[i].Slots = 0
	}
	if got, share := some(idle, 1e6); len(got) != mostKnown || share != 1 {
		t.Errorf("of those that lend something %d are left, a share of %v", len(got), share)
	}
}

// A job of a million tasks ends when the capacity of all says, though some members are looked at only.
func TestManyMembersDoTheirShare(t *testing.T) {
	const members, tasks = 5000, 1_000_000
	f := ahead(t, &Job{Waiting: tasks, Ended: ended(30, 10*time.Minute)}, &Swarm{Members: manyMembers(members)})
	const speed = 1.1 // one in ten is twice as fast
	want := tasks * 600 / (members * speed)
	if math.Abs(f.Median/want-1) > 0.15 {
		t.Errorf("it ends after %.0f s in the middle, and all members need %.0f s", f.Median, want)
	}
}
