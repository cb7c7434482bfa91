package swarm

import (
	"godwit/member"
)

// sayLease says something to the leases of others.
func (n *node) sayLease(e member.SayLease) {
	for _, to := range e.To {
		o := n.w.peer(to)
		n.request(o, e.Wait, func() {
			o.tell(member.LeaseSaid{Of: o.m, From: n.id, Lease: e.Lease})
		}, func(ok, _ bool) {
			n.tell(member.LeaseTaken{Of: n.m, By: to, Renewal: ok && e.Lease.Kind == member.Renewal, Silent: !ok})
		})
	}
}
