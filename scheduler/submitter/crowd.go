package submitter

import (
	"time"

	"godwit/credibility"
	"godwit/task"
)

// A Map says which networks workers are in.
type Map interface {
	// Network returns a name of the public network that a worker is in, as far as its addresses
	// tell; "" where they do not. It is asked during Step only.
	Network(worker task.PeerID) string
	// Workers are the members that lend slots now, in order; nil where that is not known. It is asked
	// during Step only.
	Workers() []task.PeerID
}

func (a *audits) networkOf(worker task.PeerID) string {
	if a.s.cfg.Where == nil {
		return ""
	}
	return a.s.cfg.Where.Network(worker)
}

// met notes when a worker's first result was taken in.
func (a *audits) met(worker task.PeerID) {
	if c := a.credit(worker); c.First.IsZero() {
		c.First = a.s.now
		a.keep(worker)
		a.noteFirst(c.First)
	}
}

// noteFirst keeps since when the first of all workers has been known.
func (a *audits) noteFirst(at time.Time) {
	if !at.IsZero() && (a.first.IsZero() || at.Before(a.first)) {
		a.first = at
	}
}

// prior is the share of workers that may err or lie: more where every one is a stranger.
func (a *audits) prior() float64 {
	eldest := credibility.Credit{First: a.first}
	if a.s.cfg.Strangers.Prior > 0 && eldest.Stranger(a.s.now) {
		return a.s.cfg.Strangers.Prior
	}
	return a.s.cfg.Pool.Prior
}

// crowded reports whether so much of a job is accepted of one network, or of strangers, that
// another result of this worker is run again: a leader that has many keys would give the job to
// these. Of a job that sets no bound on wrong results it is not counted.
func (a *audits) crowded(j *submitted, worker task.PeerID, network string) bool {
	bounds := a.s.cfg.Strangers
	if j.spec.Verify.Wrong == 0 || bounds == (credibility.Strangers{}) {
		return false
	}
	stranger := func(w task.PeerID) bool {
		c := a.known(w)
		return c.Stranger(a.s.now)
	}
	new, near := stranger(worker), uint64(0)
	var strangers uint64
	for w, of := range j.checks.by {
		if network != "" && of.network == network {
			near += of.tasks.Count()
		}
		if new && stranger(w) {
			strangers += of.tasks.Count()
		}
	}
	return network != "" && credibility.Crowded(near, j.total, bounds.Network) ||
		new && credibility.Crowded(strangers, j.total, bounds.New)
}
