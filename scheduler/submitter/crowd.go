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
	// Peers are all members, in order; nil where these are not known. It is asked during Step only.
	Peers() []task.PeerID
}

func (r *reputations) networkOf(worker task.PeerID) string {
	if r.s.cfg.Where == nil {
		return ""
	}
	return r.s.cfg.Where.Network(worker)
}

// met notes when a worker's first result was taken in.
func (r *reputations) met(worker task.PeerID) {
	if c := r.credit(worker); c.First.IsZero() {
		c.First = r.s.now
		r.keep(worker)
		r.noteFirst(c.First)
	}
}

// noteFirst keeps since when the first of all workers has been known.
func (r *reputations) noteFirst(at time.Time) {
	if !at.IsZero() && (r.first.IsZero() || at.Before(r.first)) {
		r.first = at
	}
}

// priorOf is the share of workers like this one that may err or lie: more for a stranger.
func (r *reputations) priorOf(worker task.PeerID) float64 {
	if c := r.known(worker); r.s.cfg.Strangers.Prior > 0 && c.Stranger(r.s.now) {
		return r.s.cfg.Strangers.Prior
	}
	return r.s.cfg.Pool.Prior
}

// prior is the share of workers that may err or lie: more where every one is a stranger.
func (r *reputations) prior() float64 {
	eldest := credibility.Credit{First: r.first}
	if r.s.cfg.Strangers.Prior > 0 && eldest.Stranger(r.s.now) {
		return r.s.cfg.Strangers.Prior
	}
	return r.s.cfg.Pool.Prior
}

// A crowding is by how much the results of a job that are accepted of one network, or of strangers,
// are more than their share, with one more of a worker: the larger of the two. The zero value is of
// none.
type crowding struct {
	times, bound float64 // see credibility.Denser
}

// crowdingOf tells how crowded a job is around a worker. A leader that has many keys would give the
// job to these.
func (a *audits) crowdingOf(j *submitted, worker task.PeerID, network string) (c crowding) {
	bounds := a.s.cfg.Strangers
	if bounds == (credibility.Strangers{}) {
		return c
	}
	credit := a.known(worker)
	return a.crowdingWith(j, credit.Stranger(a.s.now), network)
}

// crowdingWith tells how crowded a job is with one more result of a network, "" for none, and with new also of
// strangers.
func (a *audits) crowdingWith(j *submitted, new bool, network string) (c crowding) {
	bounds := a.s.cfg.Strangers
	var near, strangers uint64
	for w, of := range j.checks.by {
		if network != "" && of.network == network {
			near += of.tasks.Count()
		}
		if credit := a.known(w); new && credit.Stranger(a.s.now) {
			strangers += of.tasks.Count()
		}
	}
	if network != "" {
		c = crowding{credibility.Crowding(near, j.total, bounds.Network), bounds.Network}
	}
	if times := credibility.Crowding(strangers, j.total, bounds.New); new && times > c.times {
		c = crowding{times, bounds.New}
	}
	return c
}

// crowded reports whether another result of a worker is run again for that alone: of a job that
// bounds its wrong results.
func (c crowding) crowded(v *task.Verify) bool { return v.Wrong > 0 && c.times > 1 }

// denser is the share of a result to be run again, of a job that names the share and bounds nothing.
func (c crowding) denser(v *task.Verify, share float64, total uint64) float64 {
	if v.Wrong > 0 {
		return share
	}
	return credibility.Denser(share, c.times, c.bound, total)
}
