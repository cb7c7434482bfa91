package member

import (
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/place"
	"godwit/task"
)

// Rules is what the scheduler takes from a manifest.
func Rules(m *overlay.Manifest) scheduler.Rules {
	return scheduler.Rules{Placement: m.Placement, Migration: m.Migration, Predictor: m.Predictor, Fairness: m.Fairness, Chunking: m.Chunking,
		Replicas: m.Replicas, Verify: m.Checks, SlotsEach: m.SlotsEach, Open: m.Admission == overlay.Open, Priorities: m.Priorities}
}

// rules are those that the overlay's coordinator goes by.
func (e *Experiment) rules(m *overlay.Manifest) scheduler.Rules {
	if e.Rules != nil {
		return *e.Rules
	}
	return Rules(m)
}

// foresight tells a coordinator's policies how likely members are to stay.
type foresight struct {
	m         *Member
	predictor string
}

// By implements scheduler.Forecaster.
func (f foresight) By(predictor string) place.Forecast { return foresight{f.m, predictor} }

// Stay implements place.Forecast. It is asked during a step.
func (f foresight) Stay(peer task.PeerID, _ time.Time, d time.Duration) (p float64, known bool) {
	here := f.m.p
	a, ok := f.m.view.Member(peer)
	if !ok {
		return 0, false
	}
	here.asked = a
	if f.predictor == "" || f.predictor == predictor.Default {
		return here.world.Stay(&here.asked, here.now, d)
	}
	return f.m.stayBy(f.predictor, &here.asked, d)
}

var _ scheduler.Forecaster = foresight{}
