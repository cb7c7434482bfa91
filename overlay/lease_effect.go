package overlay

import "godwit/task"

// A Renewal says who leads in an epoch and who stands by: the leader first, the
// next to lead after it. The leader sends one to the others each RenewEvery.
type Renewal struct {
	Epoch uint64
	Group []task.PeerID // at most MaxGroup; shared, not to be changed
}

// A LeaseEffect is what a Lease asks its driver to do. The driver does what one
// call returned in order.
type LeaseEffect interface{ leaseEffect() }

// SendRenewal sends a renewal to each of To, by direct stream. Whoever is given
// it calls Heard, and answers; the answer goes to Acked. One that is not
// delivered within RenewEvery is dropped: the next says more.
type SendRenewal struct {
	To []task.PeerID
	Renewal
}

// SendHandOver offers the leadership to a peer, which calls Handed. The offer is
// taken when a renewal from that peer is heard.
type SendHandOver struct {
	To task.PeerID
	Renewal
}

// Refuse tells a peer that renewed, but does not lead, which epoch it is behind.
// It calls Refused. Leader is empty when nobody is known to lead in that epoch.
type Refuse struct {
	To     task.PeerID
	Leader task.PeerID
	Epoch  uint64
}

// BecomeLeader says that this member leads from now on, in an epoch of its own:
// the driver stores the epoch before anything is sent in it, and starts the
// coordinator. It may come again, with a higher epoch, while it leads.
type BecomeLeader struct{ Renewal }

// StepDown says that this member no longer leads: the driver stops the
// coordinator and gives the ledger to the new leader to be merged. To is empty
// when there is nobody to hand over to.
type StepDown struct {
	To     task.PeerID
	Epoch  uint64 // To's
	Reason Reason
}

// Follow says that a member that does not lead knows a new leader or epoch.
type Follow struct {
	Leader task.PeerID
	Epoch  uint64
}

// Suspect says that a member of the group was not heard of for longer than it
// should: the driver asks after it, and a leader's driver finds a group without
// it. It comes once for each silence.
type Suspect struct{ Peer task.PeerID }

func (SendRenewal) leaseEffect()  {}
func (SendHandOver) leaseEffect() {}
func (Refuse) leaseEffect()       {}
func (BecomeLeader) leaseEffect() {}
func (StepDown) leaseEffect()     {}
func (Follow) leaseEffect()       {}
func (Suspect) leaseEffect()      {}

// Reason says why a leader stepped down.
type Reason uint8

// The reasons to step down.
const (
	Outranked  Reason = iota // another leads in a higher epoch
	HandedOver               // another took the leadership that was offered
	Alone                    // it goes, and nobody is there to take over
)

// String returns the reason in words.
func (r Reason) String() string {
	switch r {
	case Outranked:
		return "outranked"
	case HandedOver:
		return "handed over"
	case Alone:
		return "alone"
	}
	return "unknown reason"
}
