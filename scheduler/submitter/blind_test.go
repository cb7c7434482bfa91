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

func (c *crew) Group() []task.PeerID { return peers(c.group) }
func (c *crew) Lending(besides []task.PeerID, most int) []task.PeerID {
	out := slices.DeleteFunc(peers(c.lends), func(w task.PeerID) bool { return slices.Contains(besides, w) })
	return out[:min(len(out), most)]
}

// What runs again goes to nobody who coordinates, or did since the job was handed in, and their word
// on it is none; but in a small pool, and where none of the others answers in time.
func TestRepeatsAreBlind(t *testing.T) {
	const lead, second, maker, other = 3, 4, 5, 6
	for name, tt := range map[string]struct {
		crew crew
		shut bool
	}{
		"others lend":    {crew{[]int{lead, second}, []int{lead, second, maker, other, 7, 8}}, true},
		"few others":     {crew{[]int{lead, second}, []int{lead, second, maker, other, 7}}, false},
		"all coordinate": {crew{[]int{lead, second, other}, []int{lead, second, other}}, false},
	} {
		b := newLeaderBench(t, 1, "full", false)
		b.s.cfg.Bystanders = &tt.crew
		b.bring(maker, 0, truth)
		b.untilAsked()
		for _, w := range []int{lead, second} {
			if b.barred(w, 0) != tt.shut || !b.barred(maker, 0) || b.barred(7, 0) {
				t.Errorf("%s: %+v", name, b.again[0])
			}
		}
		tt.crew.group = []int{other, second} // another leads
		b.reborn(false)
		if b.bring(second, 0, truth); (b.allChecks().Agreed == 1) == tt.shut {
			t.Errorf("%s: a coordinator's word counts: %+v", name, b.allChecks())
		}
		if !tt.shut {
			continue
		}
		for n := 0; b.s.jobs[b.id].checks.polls[0].tries == 0 || len(b.s.jobs[b.id].checks.away) == 0; n++ {
			if n == 10_000 {
				t.Fatalf("%s: nobody is asked again", name)
			}
			b.wait()
		}
		if b.bring(second, 0, truth); b.allChecks().Agreed != 1 {
			t.Errorf("%s: when nobody else answers a coordinator's word is none: %+v", name, b.allChecks())
		}
	}
}

// Who coordinates is no newcomer to be checked: it would know.
func TestCoordinatorsAreNotProbed(t *testing.T) {
	const tasks = 100
	b := newLeaderBench(t, tasks, "5%", true)
	b.s.cfg.Pool.Least = 0
	b.s.cfg.Bystanders = &crew{[]int{3}, []int{2, 3, 4}}
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
	ends := peers([]int{2*mostSeers - 1, mostSeers})
	if got := s.of(j); len(got) != 3 || !s.see(j, ends[0]) || s.see(j, ends[1]) {
		t.Errorf("%d coordinated since: %v", len(got), got)
	}
	s.look(nil, schedtest.Start)
}
