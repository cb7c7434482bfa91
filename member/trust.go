package member

import (
	"godwit/credibility"
	"godwit/overlay"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// assumed is what is assumed of the workers of an overlay, by who may be a member.
func assumed(a overlay.Admission) (credibility.Terms, credibility.Strangers) {
	switch a {
	case overlay.Invited:
		return credibility.InvitedPool, credibility.Strangers{}
	case overlay.Listed:
		return credibility.ListedPool, credibility.Strangers{}
	}
	return credibility.OpenPool, credibility.OpenStrangers
}

// neighbourhood tells a submitter which networks members are in.
type neighbourhood struct{ m *Member }

// Network implements submitter.Map. It is asked during a step.
func (n neighbourhood) Network(worker task.PeerID) string {
	a, ok := n.m.view.Member(worker)
	if !ok {
		a = n.m.away[worker]
	}
	return overlay.PublicNetworkOf(a.Addrs)
}

var _ submitter.Map = neighbourhood{}
