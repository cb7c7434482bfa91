package member

import (
	"slices"

	"godwit/task"
)

// A bystanders is who may run a task for the submitter of a member, and who coordinates.
type bystanders struct{ m *Member }

// Group implements submitter.Bystanders.
func (b bystanders) Group() []task.PeerID {
	if b.m.lease == nil { // it has not been restored yet
		return nil
	}
	return b.m.lease.Group()
}

// Lending implements submitter.Bystanders.
func (b bystanders) Lending(besides []task.PeerID, most int) (out []task.PeerID) {
	for _, a := range b.m.view.Members() {
		if len(out) == most {
			break
		}
		if a.Slots > 0 && a.Peer != b.m.p.cfg.Self && !slices.Contains(besides, a.Peer) {
			out = append(out, a.Peer)
		}
	}
	return out
}
