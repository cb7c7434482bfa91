package migrate

import (
	"slices"
	"time"

	"godwit/predictor"
	"godwit/task"
)

// A Judge scores predictions by what happened (Zhang Table 5-1). The zero Judge
// has seen nothing. Times must not decrease.
type Judge struct {
	// Outcomes counts the predictions whose time is over.
	predictor.Outcomes
	// Exits counts the times that a member left, predicted about or not.
	Exits int

	pending []pending
}

// pending is a prediction whose time runs.
type pending struct {
	peer       task.PeerID
	until      time.Time
	exit, left bool
}

// Predicted takes the predictions of a scan at now. It leaves out those about
// hosts of which nothing was known, as the thesis leaves out the first day, and
// those that say no time.
func (j *Judge) Predicted(now time.Time, predictions []Prediction) {
	for _, p := range predictions {
		if !p.Blind && p.For > 0 {
			j.pending = append(j.pending, pending{peer: p.Peer, until: now.Add(p.For), exit: p.Exit})
		}
	}
}

// Left tells that a member's availability ended. Only a first exit within a
// prediction's time counts; one at its very end is a stay.
func (j *Judge) Left(peer task.PeerID, at time.Time) {
	j.Exits++
	for i := range j.pending {
		if p := &j.pending[i]; p.peer == peer && at.Before(p.until) {
			p.left = true
		}
	}
}

// Settle scores the predictions whose time is over at now, and returns what came
// of those.
func (j *Judge) Settle(now time.Time) predictor.Outcomes {
	var settled predictor.Outcomes
	j.pending = slices.DeleteFunc(j.pending, func(p pending) bool {
		if p.until.After(now) {
			return false
		}
		settled.Outcome(p.exit, p.left)
		j.Outcome(p.exit, p.left)
		return true
	})
	return settled
}

// Missed is the thesis's count of missed exits: all exits but those that were
// predicted. It includes those that nobody was asked about; MD does not.
func (j *Judge) Missed() int { return j.Exits - j.CP1 }
