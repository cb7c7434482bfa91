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
	stays   map[task.PeerID]*stay // of members predicted about; never gone through
}

// A stay is a member's availability from a prediction to the first exit after
// it. Predictions of that time share it, so that an exit is told once.
type stay struct {
	over bool
	end  time.Time
}

// pending is a prediction whose time runs.
type pending struct {
	stay  *stay
	until time.Time
	exit  bool
}

// left says whether the member went within the prediction's time.
func (p *pending) left() bool { return p.stay.over && p.stay.end.Before(p.until) }

// Predicted takes the predictions of a scan at now. It leaves out those about
// hosts of which nothing was known, as the thesis leaves out the first day, and
// those that say no time.
func (j *Judge) Predicted(now time.Time, predictions []Prediction) {
	for _, p := range predictions {
		if !p.Blind && p.For > 0 {
			j.pending = append(j.pending, pending{j.stay(p.Peer), now.Add(p.For), p.Exit})
		}
	}
}

// stay is the member's present one.
func (j *Judge) stay(peer task.PeerID) *stay {
	s := j.stays[peer]
	if s == nil {
		if j.stays == nil {
			j.stays = map[task.PeerID]*stay{}
		}
		s = &stay{}
		j.stays[peer] = s
	}
	return s
}

// Left tells that a member's availability ended. Only a first exit within a
// prediction's time counts; one at its very end is a stay.
func (j *Judge) Left(peer task.PeerID, at time.Time) {
	j.Exits++
	if s := j.stays[peer]; s != nil {
		s.over, s.end = true, at
		delete(j.stays, peer)
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
		settled.Outcome(p.exit, p.left())
		j.Outcome(p.exit, p.left())
		return true
	})
	return settled
}

// Missed is the thesis's count of missed exits: all exits but those that were
// predicted. It includes those that nobody was asked about; MD does not.
func (j *Judge) Missed() int { return j.Exits - j.CP1 }
