package node

import (
	"maps"
	"slices"
	"time"

	"godwit/p2p/cost"
	"godwit/scheduler/submitter"
	"godwit/task"
)

const (
	// rankEvery is how often the network is told with whom this node works: who has just
	// begun has a stranger's burst until then.
	rankEvery = time.Second
	// rankedFor is how long a peer keeps its rank after it was last worked with: between two
	// tasks a worker is none, and its results follow its leases.
	rankedFor = time.Minute
)

// A ranking is with whom this node works, as the network was last told. The loop owns it.
type ranking struct {
	*overlays
	toldAt time.Time
	peers  map[task.PeerID]ranked
}

// A ranked peer keeps its class until then.
type ranked struct {
	class cost.Class
	until time.Time
}

// rank tells the network with whom this node works, if it is time to.
func (r *ranking) rank() {
	now := r.now()
	if !r.toldAt.IsZero() && now.Sub(r.toldAt) < rankEvery {
		return
	}
	r.toldAt = now
	maps.DeleteFunc(r.peers, func(_ task.PeerID, p ranked) bool { return !p.until.After(now) })
	for _, m := range r.members {
		if c := m.Coordinator(); c != nil {
			for peer := range c.Holders() {
				r.note(peer, cost.Worker, now)
			}
		}
		r.note(m.Leader().Leader, cost.Coordinator, now)
		for _, peer := range m.Group() {
			r.note(peer, cost.Coordinator, now)
		}
		for _, peer := range submitter.Borrowers(m.Submitter()) {
			r.note(peer, cost.Worker, now)
		}
	}
	ranks := make(map[task.PeerID]cost.Class, len(r.peers))
	for peer, p := range r.peers {
		ranks[peer] = p.class
	}
	r.net.Rank(ranks)
	r.net.Keep(r.coordinated())
}

// coordinated are the members of the overlays in whose groups this node is: it is connected to
// them as long as it leads, and from the moment on when it does. With them are leaders of other
// cells to whom this one keeps.
func (r *ranking) coordinated() map[task.PeerID]bool {
	peers := map[task.PeerID]bool{}
	for _, m := range r.members {
		for _, peer := range m.Circle() {
			peers[peer] = true
		}
		if !slices.Contains(m.Group(), r.self) {
			continue
		}
		for peer := range m.View().Peers() {
			peers[peer] = true
		}
	}
	return peers
}

// note has a peer of that class from now on, once it is not of a higher one any more.
func (r *ranking) note(peer task.PeerID, class cost.Class, now time.Time) {
	if peer == "" || peer == r.self || r.peers[peer].class > class {
		return
	}
	r.peers[peer] = ranked{class, now.Add(rankedFor)}
}
