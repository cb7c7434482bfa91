package scheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/place"
	"godwit/task"
)

// A hostSet is a set in the order of names.
func TestHostSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want := hostSet{which: allHosts}, map[task.PeerID]*host{}
		hosts := make([]*host, 9)
		for i := range hosts {
			hosts[i] = &host{peer: task.PeerID(fmt.Sprint(i))}
		}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			h := hosts[rapid.IntRange(0, len(hosts)-1).Draw(t, "host")]
			if in := rapid.Bool().Draw(t, "in"); in {
				s.set(h, true)
				want[h.peer] = h
			} else {
				s.set(h, false)
				delete(want, h.peer)
			}
			if rapid.Bool().Draw(t, "look") {
				var names []task.PeerID
				for _, h := range s.all() {
					names = append(names, h.peer)
				}
				if !slices.Equal(names, slices.Sorted(maps.Keys(want))) || s.len() != len(want) || s.has(h) != (want[h.peer] == h) {
					t.Fatalf("got %v, want %v", names, want)
				}
			}
		}
	})
}

// With a shortlist tasks go where they would go if all idle members were offered.
func TestShortlistChangesNothing(t *testing.T) {
	for _, name := range []string{"fcfs", "fcfs:order=turn"} {
		d := newDecided(t, rankedHosts, 4, func(c *Config) { c.Rules.Placement = name })
		c := d.c
		rng := rand.New(rand.NewPCG(1, 1))
		for _, h := range c.members.roster.all() {
			h.slots += rng.IntN(3)
			h.speed = float64(rng.IntN(4))
		}
		all, _ := place.Parse(name)
		for round := range 5 {
			n := uint64(1 + round*3)
			show := func() {
				for _, j := range d.jobs {
					j.wait.cursor = j.total - n
				}
			}
			var offers []place.Host
			for _, h := range c.members.idle.all() {
				work, known := d.jobs[0].duration()
				offers = append(offers, c.members.offer(h, work, known))
			}
			show()
			var parts []part
			for _, j := range d.jobs {
				parts = append(parts, part{job: j, n: whole})
			}
			view := &queueView{}
			view.begin(c, c.members.idle.all(), parts)
			want := fmt.Sprint(all.Place(c.now, view, offers, place.Unknown{}, nil))
			show()
			got := fmt.Sprint(d.asked())
			show()
			c.dispatch.requeue()
			c.dispatch.bringBack()
			if got != want || len(c.dispatch.deciding.hosts) != 4*int(n) {
				t.Fatalf("%s: of %d members: %s\nwant %s", name, len(c.dispatch.deciding.hosts), got, want)
			}
		}
	}
}
