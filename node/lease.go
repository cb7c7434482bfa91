package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"godwit/overlay"
	"godwit/task"
)

// methodLease carries what leases say to each other: a leaseMessage, answered
// with nothing once it was taken in.
const methodLease = "lease"

// A leaseMessage is one of the three things that a lease says.
type leaseMessage struct {
	Overlay overlay.ID    `json:"overlay"`
	Kind    string        `json:"kind"`
	Epoch   uint64        `json:"epoch"`
	Group   []task.PeerID `json:"group,omitempty"`  // of a renewal or an offer
	Leader  task.PeerID   `json:"leader,omitempty"` // of a refusal: who leads in Epoch
}

// The kinds of lease messages.
const (
	leaseRenewal = "renewal"
	leaseOffer   = "offer"
	leaseRefusal = "refusal"
)

var errNoMember = errors.New("node: not a member of the overlay")

// sendLease sends what a lease asks to be sent.
func (m *membership) sendLease(ctx context.Context, e overlay.LeaseEffect) {
	switch e := e.(type) {
	case overlay.SendRenewal:
		for _, to := range e.To {
			m.sayLease(ctx, to, leaseMessage{Kind: leaseRenewal, Epoch: e.Epoch, Group: e.Group})
		}
	case overlay.SendHandOver:
		m.sayLease(ctx, e.To, leaseMessage{Kind: leaseOffer, Epoch: e.Epoch, Group: e.Group})
	case overlay.Refuse:
		m.sayLease(ctx, e.To, leaseMessage{Kind: leaseRefusal, Epoch: e.Epoch, Leader: e.Leader})
	}
}

// sayLease sends one message, of which the next says more: it is not repeated.
func (m *membership) sayLease(ctx context.Context, to task.PeerID, msg leaseMessage) {
	msg.Overlay = m.id
	body, err := json.Marshal(msg)
	if err != nil {
		m.log.Error("encoding a lease", "err", err)
		return
	}
	n := m.n
	n.spawn(func() {
		ctx, cancel := context.WithTimeout(ctx, overlay.RenewEvery)
		defer cancel()
		_, err := n.net.Request(ctx, to, methodLease, body)
		n.post(post{call: func() {
			switch {
			case silent(err):
				n.doubt(to, "it did not take a renewal of the lease")
			case err == nil && msg.Kind == leaseRenewal:
				m.lease.Acked(to, n.now())
				n.judge(n.suspicion.Answered(to, n.now()))
			}
		}})
	})
}

// hearLease takes in what another's lease says.
func (n *Node) hearLease(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var msg leaseMessage
	if err := json.Unmarshal(body, &msg); err != nil {
		return nil, fmt.Errorf("reading a lease: %w", err)
	}
	var failed error
	if err := n.do(ctx, func() {
		m := n.members[msg.Overlay]
		if m == nil {
			failed = fmt.Errorf("%w %s", ErrUnknownOverlay, msg.Overlay)
			return
		}
		if !m.admits(from) {
			failed = errNoMember
			return
		}
		m.hear(from, msg)
	}); err != nil {
		return nil, err
	}
	return nil, failed
}

func (m *membership) hear(from task.PeerID, msg leaseMessage) {
	now := m.n.now()
	m.n.judge(m.n.suspicion.Answered(from, now))
	switch r := (overlay.Renewal{Epoch: msg.Epoch, Group: msg.Group}); msg.Kind {
	case leaseRenewal:
		m.obey(m.lease.Heard(from, r, now))
	case leaseOffer:
		m.obey(m.lease.Handed(from, r, now))
	case leaseRefusal:
		m.obey(m.lease.Refused(msg.Leader, msg.Epoch, now))
	}
}

// mayAsk refuses peers that are admitted to none of the overlays that this node
// serves: what is known of their members is not theirs to read.
func (n *Node) mayAsk(ctx context.Context, peer task.PeerID) error {
	admitted := peer == n.self
	if err := n.do(ctx, func() {
		for _, m := range n.members {
			admitted = admitted || m.admits(peer)
		}
	}); err != nil {
		return err
	}
	if !admitted {
		return errNoMember
	}
	return nil
}

// admits says whether a peer may speak in the overlay: in an open one anybody,
// else those whose adverts show that they may.
func (m *membership) admits(peer task.PeerID) bool {
	if m.manifest.Admission == overlay.Open {
		return true
	}
	_, ok := m.view.Member(peer)
	return ok
}
