package member

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/place"
	"godwit/task"
)

// Rules is what the scheduler takes from a manifest.
func Rules(m *overlay.Manifest) scheduler.Rules {
	return scheduler.Rules{Placement: m.Placement, Migration: m.Migration, Fairness: m.Fairness, Chunking: m.Chunking,
		Replicas: m.Replicas, Verify: m.Checks, Open: m.Admission == overlay.Open, Priorities: m.Priorities}
}

// rules are those that the overlay's coordinator goes by.
func (e *Experiment) rules(m *overlay.Manifest) scheduler.Rules {
	if e.Rules != nil {
		return *e.Rules
	}
	return Rules(m)
}

// foresight tells a coordinator's policies how likely members are to stay.
type foresight struct{ m *Member }

// Stay implements place.Forecast. It is asked during a step.
func (f foresight) Stay(peer task.PeerID, _ time.Time, d time.Duration) (p float64, known bool) {
	here := f.m.p
	a, ok := f.m.view.Member(peer)
	if !ok {
		return 0, false
	}
	here.asked = a
	return here.world.Stay(&here.asked, here.now, d)
}

var _ place.Forecast = foresight{}
