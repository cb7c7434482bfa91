package node

import (
	"cmp"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
)

// The overlays are those that this node serves. The loop owns them.
type overlays struct {
	*driver
	past    *past
	lending *lending
	sched   scheduler.Config // of every member, but for the overlay's rules
	members map[overlay.ID]*membership
	unknown []string      // to join, whose manifests have to be asked for
	foundBy chan struct{} // what this node is to be found by may have changed; holds at most one token
}

// newOverlays returns none yet.
func newOverlays(d *driver, p *past, l *lending) *overlays {
	o := &overlays{driver: d, past: p, lending: l, sched: scheduler.Default(), members: map[overlay.ID]*membership{},
		foundBy: make(chan struct{}, 1)}
	o.sched.Submitter.Audits = max(1, d.cfg.Cores/2) // its own results wait no longer than others'
	o.sched.Submitter.Unaided = true
	o.sched.Predictor = predictor.Default
	o.sched.Rates = d.cfg.Experiment.Rates
	o.sched.Submitter.UnprovenPart = cmp.Or(d.cfg.Experiment.UnprovenPart, o.sched.Submitter.UnprovenPart)
	return o
}
