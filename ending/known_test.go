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

const mostKnown = 512

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
		got, share := some(c.members, c.tasks, mostKnown)
		if len(got) != mostKnown || share != c.share {
			t.Errorf("%s: %d members, a share of %v, want %d and %v", c.name, len(got), share, mostKnown, c.share)
		}
	}
	got, _ := some(all, 10, mostKnown)
	if slices.ContainsFunc(got[:500], func(m Member) bool { return m.State != trace.Available || m.Speed != 2 }) {
		t.Error("few tasks are not given the fastest of those that are there")
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	if again, _ := some(backwards, 1e6, mostKnown); len(again) > 0 {
		was, _ := some(all, 1e6, mostKnown)
		if !slices.EqualFunc(was, again, func(a, b Member) bool { return a.Peer == b.Peer }) {
			t.Error("members in another order are other members")
		}
	}
	idle := manyMembers(2 * mostKnown)
	for i := range idle[mostKnown:] {
		idle[i].Slots = 0
	}
	if got, share := some(idle, 1e6, mostKnown); len(got) != mostKnown || share != 1 {
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

// Of a job with many rounds of tasks fewer members, and fewer days, tell the same as many do.
func TestFewMembersTellTheSame(t *testing.T) {
	swarm := &Swarm{Members: hourly(1000, 40*time.Minute), Detect: 10 * time.Second}
	job := &Job{Waiting: manyRounds * 1000, Ended: ended(30, 10*time.Minute)}
	if got := newCrowd(noon, swarm, float64(job.Waiting)).bounds; got != manyBounds {
		t.Fatalf("of %d tasks on 1000 slots are looked at %+v", job.Waiting, got)
	}
	few := ahead(t, job, swarm)
	defer func(was bounds) { manyBounds = was }(manyBounds)
	manyBounds = usualBounds
	manyBounds.events = math.MaxInt
	many := ahead(t, job, swarm)
	for _, c := range []struct {
		name      string
		few, many float64
	}{{"least", few.Low, many.Low}, {"middle", few.Median, many.Median}, {"most", few.High, many.High}} {
		const near = 0.2 // what is left at the last event is taken to go at the mean rate of all before
		if math.Abs(c.few/c.many-1) > near {
			t.Errorf("the %s is %.0f s by few members, %.0f s by many", c.name, c.few, c.many)
		}
	}
}

// A job that is cut short at its last event ends when the rate of what was done until then says, of groups that run
// too: they are neither done nor all to do.
func TestCutShort(t *testing.T) {
	defer func(was bounds) { manyBounds = was }(manyBounds)
	manyBounds.events = 100 // some of the first groups
	f := ahead(t, &Job{Waiting: 1_000_000, Ended: ended(30, time.Minute)}, &Swarm{Members: always(50, 1)})
	if want := 1_000_000 * 60 / 50.; math.Abs(f.Median/want-1) > 0.1 {
		t.Errorf("it ends after %.0f s in the middle, and takes %.0f s", f.Median, want)
	}
}
