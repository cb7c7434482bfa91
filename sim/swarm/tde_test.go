package swarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// leavesAtNoon is a host that is used from 12:00 to 14:00 of each day.
func leavesAtNoon(days int) (out []spell) {
	out = append(out, spell{0, trace.Available})
	for d := range days {
		noon := time.Duration(d)*24*time.Hour + 12*time.Hour
		out = append(out, spell{noon, trace.UserPresent}, spell{noon + 2*time.Hour, trace.Available})
	}
	return out
}

// tenDays is a scenario of a morning after ten days. Two hosts are always there and two leave at noon. From 11:05 on,
// tasks of an hour come, more than the first two can take.
func tenDays(t *testing.T) *sim.Scenario {
	s := scenario(hosts(t, 11*24*time.Hour, always, always, leavesAtNoon(11), leavesAtNoon(11)),
		sim.Class{Arrival: sim.Every, Interval: 10 * time.Minute, From: 11*time.Hour + 5*time.Minute, To: 11*time.Hour + 50*time.Minute,
			Work: time.Hour, State: 1 << 20})
	s.Start = day0.AddDate(0, 0, 10)
	s.Hosts.Grace = 10 * time.Minute
	return s
}

// Members learn from adverts of which hosts the published predictor says that they leave at noon, and give them none of
// these tasks. With the usual predictor and its default threshold, tasks are placed as well.
func TestPublishedPoliciesGoByGossipedDays(t *testing.T) {
	for _, tt := range []struct {
		placement, predictor string
		leavers              bool // they get tasks
		why                  string
	}{
		{"fcfspp:n=6", "tde", false, "stays for 1h0m0s with probability 1, and 1 is asked for"},
		{"fcfspp", "tde:n=6", false, "stays for 1h0m0s with probability 1, and 1 is asked for"},
		{"flp:n=6", "tde", false, "with probability 1"},
		{"psopp:n=6,particles=50", "tde", true, "the fittest"}, // it leaves no member idle
		{"fcfspp", "", true, "and 0.5 is asked for"},
	} {
		s := tenDays(t)
		s.Placement, s.Predictor = tt.placement, tt.predictor
		placed, leavers := 0, 0
		r, _ := mustRun(t, s, Options{Submitters: 1, Watch: func(d Decision) {
			if d.Action != "placed" {
				return
			}
			placed++
			if d.PeerNode >= 2 && d.At.Before(s.Start.Add(12*time.Hour)) {
				leavers++
			}
			if !strings.Contains(d.Reason, tt.why) {
				t.Errorf("%s with %q: %s", tt.placement, tt.predictor, d.Reason)
			}
		}})
		if placed == 0 || (leavers > 0) != tt.leavers || r.Succeeded != r.Arrived {
			t.Errorf("%s with %q: %d placed, %d of them with those that leave; %d of %d done", tt.placement, tt.predictor, placed,
				leavers, r.Succeeded, r.Arrived)
		}
	}
}

// A task on a host that leaves at noon moves before noon, by what its host gossiped of ten days. Where nobody leaves no
// task moves.
func TestPublishedMigrationGoesByGossipedDays(t *testing.T) {
	for _, tt := range []struct {
		migration, predictor string
		hosts                [][]spell
		moves                bool
	}{
		{"pspp:n=6,p=20m,interval=10m", "tde", [][]spell{leavesAtNoon(11), always}, true},
		{"pspp:n=6", "tde", repeat(2, always), false},
		{"pspp", "", repeat(2, always), false},
	} {
		s := tenDays(t)
		s.Trace = hosts(t, 11*24*time.Hour, tt.hosts...)
		s.Workload.Classes[0].To = s.Workload.Classes[0].From + time.Minute // one task
		s.Placement, s.Migration, s.Predictor = "fcfs:order=turn", tt.migration, tt.predictor
		var story []string
		moved := false
		r, _ := mustRun(t, s, Options{Submitters: 1, Watch: func(d Decision) {
			story = append(story, fmt.Sprint(d.At, " ", d.Action, " ", d.PeerNode, " ", d.Reason))
			noon := s.Start.Add(12 * time.Hour)
			moved = moved || d.Action == "moved" && d.PeerNode == 1 && d.At.Before(noon)
		}})
		if moved != tt.moves || (r.Migrations > 0) != tt.moves || r.Succeeded != 1 {
			t.Errorf("%s with %q: moved before noon: %v, %d moves, %d done:\n%s", tt.migration, tt.predictor, moved, r.Migrations,
				r.Succeeded, strings.Join(story, "\n"))
		}
	}
}
