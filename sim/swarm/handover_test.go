package swarm

import (
	"fmt"
	"math"
	"testing"
	"time"

	"godwit/scheduler"
	"godwit/sim"
	"godwit/trace"
)

func handing() scheduler.Config {
	cfg := scheduler.Default()
	cfg.Worker.HandOver = true
	return cfg
}

// TestHandsOver: a task is copied while it runs when its host gives notice, and
// all at once where it stands still; it loses nothing either way, nor where its
// source dies when all has come, and the copy where it dies before the freeze.
func TestHandsOver(t *testing.T) {
	const state = 64 << 20
	copied := time.Duration(float64(state) / 1e6 * float64(time.Second)) // 67 s at 1 MB/s
	for name, c := range map[string]struct {
		notice   trace.State
		gone     time.Duration // after the notice
		response time.Duration // beyond the work
		moves    uint64
	}{
		"leaving": {trace.Leaving, 4 * time.Minute, copied / deltaPart, 1},
		"owner":   {trace.UserPresent, 4 * time.Minute, copied, 1},
		// the checkpoint is of 20 minutes' work
		"dies too soon": {trace.Leaving, 30 * time.Second, 11*time.Minute + 43*time.Second, 0},
	} {
		tr := hosts(t, at(2),
			[]spell{{0, trace.Available}, {at(31. / 60), c.notice}, {at(31./60) + c.gone, trace.Unavailable}},
			[]spell{{0, trace.UserPresent}, {at(.3), trace.Available}})
		s := scenario(tr, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 70 * time.Minute,
			State: state})
		s.Checkpoints = sim.Checkpoints{Every: 20 * time.Minute, Away: true}
		s.Network.Upload = 1e6
		s.Migration, s.Seed = "reactive", 6
		var story []string
		var r *sim.Report
		for leader := 0; leader != 2; s.Seed++ { // until the one that leads is neither of the hosts
			story = nil
			r, _ = mustRun(t, s, Options{Submitters: 1, Config: handing(), Ends: Crash, Watch: func(d Decision) {
				story = append(story, fmt.Sprint(d.At.Sub(day0), " ", d.Node, " ", d.Action, " ", d.PeerNode, " ", d.Reason))
				if d.Action == "moving" {
					leader = d.Node
				}
			}})
		}
		want := 70*time.Minute + c.response
		if r.Migrations != c.moves || r.Returned != 0 || r.Succeeded != 1 || math.Abs(r.Response.Mean-want.Seconds()) > 15 {
			t.Errorf("%s: %d moves, %v s, want %v s: %v\n%s", name, r.Migrations, r.Response.Mean, want.Seconds(), story,
				text(t, r))
		}
	}
}

// TestHandsOverRepeats: where hosts come and go at all times the books balance,
// and the same seed tells the same.
func TestHandsOverRepeats(t *testing.T) {
	s := churning(t)
	s.Migration, s.Network.Upload = "reactive", 1e5
	var last string
	for range 2 {
		r, stats := mustRun(t, s, Options{Config: handing(), Jitter: 50 * time.Millisecond})
		if r.Migrations == 0 || r.Succeeded != r.Arrived || stats.Undelivered != 0 {
			t.Errorf("%d moves, %d of %d done, %d not delivered", r.Migrations, r.Succeeded, r.Arrived, stats.Undelivered)
		}
		if now := text(t, r); last != "" && now != last {
			t.Errorf("it tells two stories:\n%s\n%s", last, now)
		} else {
			last = now
		}
	}
}
