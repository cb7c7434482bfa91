package submitter

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A crew is a pool's coordinators and who lends there, by number.
type crew struct{ group, lends []int }

func peers(of []int) (out []task.PeerID) {
	for _, n := range of {
		_, id := schedtest.Identity(n)
		out = append(out, id)
	}
	return out
}

func (c *crew) Group() []task.PeerID       { return peers(c.group) }
func (c *crew) Workers() []task.PeerID     { return peers(c.lends) }
func (c *crew) Peers() []task.PeerID       { return peers(append(slices.Clone(c.group), c.lends...)) }
func (c *crew) Network(task.PeerID) string { return "" }

// sees has the bench go by a crew.
func (b *leaderBench) sees(c *crew) { b.s.cfg.Coordinators, b.s.cfg.Where = c, c }

// named reports whether a worker may have a task that runs again.
func (b *leaderBench) named(worker int, i uint64) bool {
	return slices.Contains(b.again[i].Only, peers([]int{worker})[0])
}

// What runs again goes to nobody who coordinates, or did since the job was handed in, and their word
// on it is none; but in a small pool, and where all others ran it.
func TestRepeatsAreBlind(t *testing.T) {
	const lead, second, maker, other = 3, 4, 5, 6
	for name, tt := range map[string]struct {
		crew crew
		shut bool
	}{
		"others lend":    {crew{[]int{lead, second}, []int{lead, second, maker, other, 7, 8, 9, 10}}, true},
		"few others":     {crew{[]int{lead, second}, []int{lead, second, other}}, false},
		"all coordinate": {crew{[]int{lead, second, other}, []int{lead, second, other}}, false},
	} {
		b := newLeaderBench(t, 1, "full", false)
		b.sees(&tt.crew)
		b.bring(maker, 0, truth)
		b.untilAsked()
		for _, w := range []int{lead, second} {
			if b.named(w, 0) == tt.shut || b.named(maker, 0) {
				t.Errorf("%s: %+v", name, b.again[0])
			}
		}
		if !tt.shut {
			continue
		}
		tt.crew.group = []int{other, second} // another leads
		if b.bring(lead, 0, truth); b.allChecks().Agreed > 0 || len(b.s.jobs[b.id].checks.polls[0].with) > 0 {
			t.Errorf("%s: a coordinator's word counts: %+v", name, b.allChecks())
		}
		j := b.s.jobs[b.id]
		p := j.checks.polls[0]
		p.makers, p.only = peers([]int{maker, 7, 8, 9, 10}), nil
		if !b.s.audits.abroad.choose(j, 0, tt.crew.Workers()) || len(p.only) != referees {
			t.Errorf("%s: where all others ran it %v may have it", name, p.only)
		}
	}
}

// Who coordinates is no newcomer to be checked: it would know.
func TestCoordinatorsAreNotProbed(t *testing.T) {
	const tasks = 100
	b := newLeaderBench(t, tasks, "5%", true)
	b.s.cfg.Pool.Least = 0
	b.sees(&crew{[]int{3}, []int{2, 3, 4}})
	for i := range uint64(tasks - 1) {
		b.bring(2+int(i%2), i, truth)
		b.wait()
		for _, k := range b.lacking() {
			if a := b.again[k]; k <= i && len(a.Only) == 1 {
				if a.Only[0] == peers([]int{3})[0] {
					t.Fatalf("a coordinator is checked by %+v", a)
				}
				b.bring(2, k, truth)
			}
		}
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	fresh := b.s.audits.fresh
	if w := peers([]int{2, 3}); fresh.probes[w[0]] == 0 || fresh.probes[w[1]] != 0 {
		t.Errorf("probes: %v", fresh.probes)
	}
}

// Few are remembered that coordinated, and those of before a job do not count for it.
func TestSeers(t *testing.T) {
	var s seers
	c := &crew{}
	for n := range 2 * mostSeers {
		c.group = []int{n}
		s.look(c, schedtest.Start.Add(time.Duration(n)*time.Second))
	}
	if len(s.at) != mostSeers {
		t.Errorf("%d are remembered", len(s.at))
	}
	j := &submitted{spec: &task.Job{Submitted: task.At(schedtest.Start.Add(2*mostSeers*time.Second - 3*time.Second))}}
	ids := peers([]int{2*mostSeers - 1, 2*mostSeers - 3, mostSeers, 0})
	for k, w := range ids {
		if got := s.see(j, w); got != (k < 2) {
			t.Errorf("%d: it has coordinated since: %v", k, got)
		}
	}
	if got := s.blind(j, append(ids, peers([]int{900, 901, 902, 903})...)); len(got) != 6 {
		t.Errorf("%d of 6 cannot see", len(got))
	}
	if got := s.blind(j, ids); len(got) != len(ids) {
		t.Errorf("of few that lend %d are left", len(got))
	}
	s.look(nil, schedtest.Start)
}
