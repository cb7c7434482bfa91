package node

import "godwit/member"

// lend tells the peer what the owner lends, and whether what runs has to go: it is past
// the grace, or an end that is known comes near.
func (l *lending) lend() {
	going := ""
	if l.movedOut {
		going = l.decision.Reason + "; the grace has passed"
	}
	l.tell(member.Lent{State: l.owner, Going: going, Ends: l.decision.Ends})
}
