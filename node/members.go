package node

import (
	"context"
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler"
	"godwit/task"
)

const (
	// foundWait is how long a node with somebody to ask looks for an overlay
	// of its name before it founds one. Two that found at once merge later.
	foundWait = 3 * time.Second
	// foundWaitLAN is the same where only the local network was asked: an
	// answer there takes well under a second.
	foundWaitLAN = time.Second
	// pingTimeout is how long a peer whose connection broke has to answer on a
	// new one before it counts as lost.
	pingTimeout = 2 * time.Second
)

// foundDelay says how long to wait for somebody else's overlay.
func (c *Config) foundDelay() time.Duration {
	switch {
	case len(c.Bootstrap) > 0:
		return foundWait
	case c.MDNS:
		return foundWaitLAN
	}
	return 0
}

// foundIfAlone founds the overlay when nobody was heard of it in time.
func (n *Node) foundIfAlone(now time.Time) {
	if n.foundAt.IsZero() || n.foundAt.After(now) {
		return
	}
	n.foundAt = time.Time{}
	m := overlay.Manifest{Name: n.cfg.Overlay, Founder: n.self, Founded: now.UTC().Truncate(time.Millisecond)}
	if err := m.Sign(n.key); err != nil {
		n.log.Error("founding the overlay", "overlay", m.Name, "err", err)
		return
	}
	n.log.Info("no member found: founding the overlay", "overlay", m.Name)
	n.view.Follow(m)
	n.manifestChanged()
}

// manifestChanged starts or ends this node's leadership after the view follows
// another manifest, remembers the manifest, and says so to everybody.
func (n *Node) manifestChanged() {
	m := n.view.Manifest()
	n.foundAt = time.Time{}
	n.saveManifest(m)
	switch lead := m.Founder == n.self; {
	case lead && n.coordinator == nil:
		n.lead()
	case !lead && n.coordinator != nil:
		n.stepDown(m.Founder)
	}
	n.advertise()
}

// epochMayHaveGrown announces a later term of this node's leadership.
func (n *Node) epochMayHaveGrown() {
	if n.coordinator != nil && n.coordinator.Epoch() != n.epoch {
		n.epoch = n.coordinator.Epoch()
		n.log.Info("leading a later term", "epoch", n.epoch)
		n.advertise()
	}
}

// seen takes in an advert whose signature has been checked.
func (n *Node) seen(a overlay.Advert) {
	before := n.view.Manifest()
	old, known := n.view.Member(a.Peer)
	if !n.view.Seen(a) {
		return
	}
	n.witness(&a, old.Issued, known)
	after := n.view.Manifest()
	if after.ID() != before.ID() {
		n.log.Info("following the overlay", "overlay", after.Name, "founder", after.Founder)
		n.manifestChanged()
	}
	n.tell(scheduler.MemberSeen{Advert: a})
	n.leaderMayHaveChanged()
}

// lost forgets a member.
func (n *Node) lost(peer task.PeerID, reason string) {
	if a, ok := n.view.Member(peer); ok {
		n.away[peer] = a
		n.missed(peer)
	}
	n.view.Lost(peer)
	n.tell(scheduler.MemberLost{Peer: peer, Reason: reason})
	n.leaderMayHaveChanged()
}

// returned takes in a lost member again once it is connected: the network tells
// of an advert only once, and its next one may be a minute away.
func (n *Node) returned(peer task.PeerID) {
	a, ok := n.away[peer]
	delete(n.away, peer)
	if ok && a.Expires.After(n.now()) {
		n.seen(a)
	}
}

func (n *Node) expireMembers(now time.Time) {
	maps.DeleteFunc(n.away, func(_ task.PeerID, a overlay.Advert) bool { return !a.Expires.After(now) })
	for _, peer := range n.view.Expire(now) {
		n.missed(peer)
		n.tell(scheduler.MemberLost{Peer: peer, Reason: "its advert expired"})
	}
	n.leaderMayHaveChanged()
}

func (n *Node) leaderMayHaveChanged() {
	leader, epoch := n.view.Leader()
	now := scheduler.LeaderChanged{Leader: leader, Epoch: epoch}
	if now == n.leader {
		return
	}
	n.leader = now
	n.log.Info("leader", "peer", leader, "epoch", epoch)
	n.tell(now)
}

// checkLost finds out whether a peer whose last connection broke is gone: a
// killed process refuses at once, while one that merely lost a connection
// answers on a new one.
func (n *Node) checkLost(ctx context.Context, peer task.PeerID) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if _, err := n.net.Request(ctx, peer, methodPing, nil); err != nil {
		n.post(post{call: func() {
			n.lost(peer, "its connection broke and it does not answer")
			if n.connected(peer) {
				n.returned(peer) // while it was being asked, which nobody will tell again
			}
		}})
	}
}

func (n *Node) connected(peer task.PeerID) bool {
	return slices.ContainsFunc(n.net.Peers(), func(p p2p.Peer) bool { return p.ID == peer })
}
