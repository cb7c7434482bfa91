package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"godwit/member"
	"godwit/overlay"
	"godwit/task"
)

// methodLease carries what leases say to each other: a leaseMessage, answered
// with nothing once it was taken in.
const methodLease = "lease"

// A leaseMessage is one of the three things that a lease says.
type leaseMessage struct {
	Overlay overlay.ID       `json:"overlay"`
	Kind    member.LeaseKind `json:"kind"`
	Epoch   uint64           `json:"epoch"`
	Group   []task.PeerID    `json:"group,omitempty"`  // of a renewal or an offer
	Leader  task.PeerID      `json:"leader,omitempty"` // of a refusal: who leads in Epoch
	Bits    uint8            `json:"bits,omitempty"`   // of the cell
}

var errNoMember = errors.New("node: not a member of the overlay")

// sayLease says something to the leases of others. It is not repeated: the next says
// more.
func (m *membership) sayLease(ctx context.Context, e member.SayLease) {
	o := m.all
	body, err := json.Marshal(leaseMessage{
		Overlay: m.id, Kind: e.Lease.Kind, Epoch: e.Lease.Renewal.Epoch, Group: e.Lease.Renewal.Group, Leader: e.Lease.Leader,
		Bits: e.Lease.Bits,
	})
	if err != nil {
		m.log.Error("encoding a lease", "err", err)
		return
	}
	for _, to := range e.To {
		o.spawn(func() {
			ctx, cancel := context.WithTimeout(ctx, e.Wait)
			defer cancel()
			_, err := o.net.Request(ctx, to, methodLease, body)
			taken := member.LeaseTaken{Of: m.Member, By: to, Renewal: err == nil && e.Lease.Kind == member.Renewal,
				Silent: silent(err)}
			o.postFirst(post{call: func() { o.tell(taken) }})
		})
	}
}

// hearLease takes in what another's lease says.
func (o *overlays) hearLease(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var msg leaseMessage
	if err := json.Unmarshal(body, &msg); err != nil {
		return nil, fmt.Errorf("reading a lease: %w", err)
	}
	var failed error
	if err := o.doFirst(ctx, func() {
		m := o.members[msg.Overlay]
		if m == nil {
			failed = fmt.Errorf("%w %s", ErrUnknownOverlay, msg.Overlay)
			return
		}
		if !m.Admits(from) {
			failed = errNoMember
			return
		}
		o.tell(member.LeaseSaid{Of: m.Member, From: from, Lease: member.Lease{
			Kind: msg.Kind, Renewal: overlay.Renewal{Epoch: msg.Epoch, Group: msg.Group}, Leader: msg.Leader,
			Bits: msg.Bits,
		}})
	}); err != nil {
		return nil, err
	}
	return nil, failed
}

// has reports whether a peer is a member that this node knows of. In an open overlay anybody may
// speak, and be heard as far as it is cheap; what takes the loop's time is for members alone.
func (m *membership) has(peer task.PeerID) bool {
	_, known := m.View().Member(peer)
	return known
}

// mayAsk refuses peers that are in none of the overlays that this node serves: what is known of
// their members is not theirs to read.
func (o *overlays) mayAsk(ctx context.Context, peer task.PeerID) error {
	admitted := peer == o.self
	if err := o.doOf(ctx, peer, func() {
		for _, m := range o.members {
			admitted = admitted || m.has(peer)
		}
	}); err != nil {
		return err
	}
	if !admitted {
		return errNoMember
	}
	return nil
}
