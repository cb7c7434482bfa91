package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// ofJob is a host that runs task k of one job.
func ofJob(peer string, k uint64, speed float64, left time.Duration) Host {
	h := busy(peer, speed, left)
	h.Tasks[0] = task.TaskID{Job: "j", Index: k}
	return h
}

// TestExchange is who clears a fast member for the last task of its job, and to where it goes.
func TestExchange(t *testing.T) {
	const m = time.Minute
	other, later, stuck := ofJob("a", 0, 2, 30*m), ofJob("a", 0, 2, 30*m), ofJob("a", 0, 2, 30*m)
	other.Tasks[0].Job = "other"
	later.Runs[0].Came = 1
	stuck.Runs[0].Movable = false
	last, waiting := ofJob("b", 1, 1, 60*m), slowLink
	waiting.Waiting = 1
	for _, tt := range []struct {
		name  string
		hosts []Host
		s     Situation
		want  string
	}{
		{"one ahead, one behind", []Host{ofJob("a", 0, 2, 30*m), last, free("c", 1)}, slowLink, "a>c "},
		{"to the best idle one", []Host{ofJob("a", 0, 2, 30*m), last, free("c", .8), free("d", .95)}, slowLink, "a>d "},
		{"of another job", []Host{other, last, free("c", 1)}, slowLink, ""},
		{"of one that came at another time", []Host{later, last, free("c", 1)}, slowLink, ""},
		{"it cannot move", []Host{stuck, last, free("c", 1)}, slowLink, ""},
		{"others wait", []Host{ofJob("a", 0, 2, 30*m), last, free("c", 1)}, waiting, ""},
		{"nobody is idle", []Host{ofJob("a", 0, 2, 30*m), last}, slowLink, ""},
		{"too early: they would change back", []Host{ofJob("a", 0, 2, 50*m), last, free("c", 1)}, slowLink, ""},
		{"it would be the last then", []Host{ofJob("a", 0, 2, 30*m), last, free("c", .5)}, slowLink, ""},
		{"both end together", []Host{ofJob("a", 0, 2, 60*m), ofJob("b", 1, 1, 32*m), free("c", 1)}, slowLink, ""},
		{"it is about to end", []Host{ofJob("a", 0, 2, 4*m), last, free("c", 1)}, slowLink, ""},
		{"hardly faster", []Host{ofJob("a", 0, 1.02, 30*m), last, free("c", 1)}, slowLink, ""},
		{"an idle one is as fast", []Host{ofJob("a", 0, 2, 30*m), last, free("c", 2)}, slowLink, "b>c "},
		{"two behind, one ahead", []Host{ofJob("a", 0, 2, 30*m), last, ofJob("d", 2, 1, 58*m), free("c", 1), free("e", 1)},
			slowLink, "a>c "},
		{"two of each", []Host{ofJob("a", 0, 2, 25*m), last, ofJob("d", 2, 1, 59*m), ofJob("e", 3, 2, 24*m), free("c", 1),
			free("f", 1)}, slowLink, "a>c e>f "},
	} {
		f := rates{}
		for _, h := range tt.hosts {
			f[h.Peer] = .01
		}
		moves := parse(t, "cost").(*Cost).Moves(hour(0), tt.hosts, f, tt.s)
		slices.SortFunc(moves, func(a, b Move) int { return strings.Compare(string(a.From), string(b.From)) })
		if got := told(moves); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		for _, m := range moves {
			if clears := strings.Contains(m.Why(), "the last task of its job"); clears == (m.From == "b") {
				t.Errorf("%s: because %q", tt.name, m.Why())
			}
		}
		if got := told(parse(t, "cost:exchange=1e6").(*Cost).Moves(hour(0), tt.hosts, f, tt.s)); strings.Contains(got, "a>") {
			t.Errorf("%s: %q where nothing pays", tt.name, got)
		}
	}
}

// TestExchangeSooner: where hosts stay a job of equal tasks ends sooner with exchanges than
// without, never later by more than what moves take, and moves come to an end: each task's
// are few.
func TestExchangeSooner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "tasks")
		speeds := rapid.SliceOfN(rapid.Float64Range(.4, 2.5), n+1, 2*n).Draw(t, "speeds")
		slices.SortFunc(speeds, func(a, b float64) int { return int(100 * (b - a)) })
		alone, _ := played(n, speeds, 1e6)
		ends, moves := played(n, speeds, exchangeGain)
		if slack := 6 * time.Minute; ends > alone+slack {
			t.Errorf("it ends after %v with %d moves, and without exchanges after %v", ends, moves, alone)
		}
		if moves > 12*n {
			t.Errorf("%d moves of %d tasks", moves, n)
		}
	})
	speeds := []float64{2.5, 2.4, 2.2, 1.8, 1.6, 1.3, 1.1, 1, 1, .9, .9, .8}
	alone, _ := played(8, speeds, 1e6)
	if ends, moves := played(8, speeds, exchangeGain); float64(ends) > .95*float64(alone) {
		t.Errorf("it ends after %v with %d moves, and without exchanges after %v", ends, moves, alone)
	}
}

// played is when a job of n tasks of two hours ends on hosts that stay, the fastest first, where
// moves take a minute, and how many moves there are.
func played(n int, speeds []float64, pays float64) (ends time.Duration, moves int) {
	f, hosts := rates{}, []Host{}
	for i, speed := range speeds {
		if name := fmt.Sprintf("h%02d", i); i < n {
			hosts = append(hosts, ofJob(name, uint64(i), speed, 2*time.Hour))
		} else {
			hosts = append(hosts, free(name, speed))
		}
		f[hosts[i].Peer] = .01
	}
	c, left := &Cost{period: costPeriod, rest: costRest, pays: pays}, n
	for ; left > 0; ends += time.Minute {
		ms := slices.Clone(c.Moves(hour(ends.Hours()), hosts, f, slowLink))
		for i := range hosts {
			h := &hosts[i]
			if len(h.Runs) == 0 {
				continue
			}
			if h.Runs[0].Left -= time.Duration(h.Speed * float64(time.Minute)); h.Runs[0].Left <= 0 {
				h.Tasks, h.Runs, h.Idle, left = nil, nil, 1, left-1
			}
		}
		for _, m := range ms {
			from, to := find(hosts, m.From), find(hosts, m.To)
			if len(from.Tasks) > 0 && from.Tasks[0] == m.Task && to.Idle > 0 {
				to.Tasks, to.Runs, to.Idle = from.Tasks, from.Runs, 0
				from.Tasks, from.Runs, from.Idle = nil, nil, 1
				moves++
			}
		}
	}
	return ends, moves
}
