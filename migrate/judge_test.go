package migrate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/predictor"
	"godwit/task"
)

// A Judge scores as one does that looks at all exits for each prediction.
func TestJudgeLooksAtFirstExits(t *testing.T) {
	type told struct {
		peer          task.PeerID
		after         int // exits before it
		until         time.Time
		exit, settled bool
	}
	rapid.Check(t, func(t *rapid.T) {
		var j Judge
		var want predictor.Outcomes
		var predictions []told
		var exits []struct {
			peer task.PeerID
			at   time.Time
		}
		peers := rapid.SampledFrom([]task.PeerID{"a", "b", "c"})
		now := time.Unix(0, 0)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "step")) * time.Second)
			peer := peers.Draw(t, "peer")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				p := Prediction{Peer: peer, Exit: rapid.Bool().Draw(t, "exit"),
					For: time.Duration(rapid.IntRange(1, 9).Draw(t, "for")) * time.Second}
				j.Predicted(now, []Prediction{p})
				predictions = append(predictions, told{peer, len(exits), now.Add(p.For), p.Exit, false})
			case 1:
				j.Left(peer, now)
				exits = append(exits, struct {
					peer task.PeerID
					at   time.Time
				}{peer, now})
			default:
				for i := range predictions {
					p := &predictions[i]
					if p.settled || p.until.After(now) {
						continue
					}
					left := false
					for _, e := range exits[p.after:] {
						left = left || e.peer == p.peer && e.at.Before(p.until)
					}
					want.Outcome(p.exit, left)
					p.settled = true
				}
				if j.Settle(now); j.Outcomes != want {
					t.Fatalf("scored %+v, want %+v", j.Outcomes, want)
				}
			}
		}
	})
}
