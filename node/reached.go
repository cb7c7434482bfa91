package node

import (
	"fmt"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/task"
)

// A ReachStatus is how others reach this node, and what it carries for those whom nobody can dial.
type ReachStatus struct {
	Reach  string        `json:"reach"`         // by those who tried: "public", "private" or "unknown"
	Hidden bool          `json:"hidden"`        // it takes itself for one whom nobody can dial
	NAT    p2p.NAT       `json:"nat,omitempty"` // how its router maps what it sends by UDP; "" not known
	Relays []task.PeerID `json:"relays"`        // through whom it is reached
	// Relayed are those that it is connected to through a relay alone, whose owner sees who speaks
	// to whom, and how much.
	Relayed []RelayedPeer `json:"relayed"`
	// Circuits and CarriedBytes are what it relays for others: open now, and since it began, read
	// and written.
	Circuits     int   `json:"circuits"`
	CarriedBytes int64 `json:"carried_bytes"`
}

// A RelayedPeer is connected through a relay.
type RelayedPeer struct {
	Peer task.PeerID `json:"peer"`
	Via  task.PeerID `json:"via"`
}

// reached says how others reach this node.
func (n *Node) reached() ReachStatus {
	r := n.net.Reaching()
	s := ReachStatus{Reach: "unknown", Hidden: r.Hidden, NAT: r.NAT, Relays: r.Relays,
		Circuits: r.Circuits, CarriedBytes: r.Carried,
		Relayed: []RelayedPeer{}}
	if s.Relays == nil {
		s.Relays = []task.PeerID{}
	}
	switch r.Reach {
	case overlay.ReachPublic:
		s.Reach = "public"
	case overlay.ReachPrivate:
		s.Reach = "private"
	}
	for _, p := range n.net.Peers() {
		if p.Via != "" {
			s.Relayed = append(s.Relayed, RelayedPeer{p.ID, p.Via})
		}
	}
	return s
}

// Examine checks what the owner's rules rest on, what keeps tasks in, how others reach the node, and by
// what it finds them.
func (n *Node) Examine() []owner.Finding {
	s := n.reached()
	return append(append(n.lending.Examine(), s.finding(len(n.net.Peers()))), n.looked(time.Now())...)
}

// finding says how others reach a node that has so many peers.
func (s *ReachStatus) finding(peers int) owner.Finding {
	f := owner.Finding{Check: "reach", Result: owner.OK}
	switch {
	case peers == 0:
		f.Text = "nobody is connected, so nobody has told how this node is reached"
	case !s.Hidden && s.Reach == "public":
		f.Text = "others dial this node"
	case !s.Hidden:
		f.Text = "nobody has told yet whether this node can be dialled"
	case len(s.Relays) == 0:
		f.Result = owner.Blind
		f.Text = "nobody can dial this node, and no member relays for it" + s.router()
		f.Fix = "forward a port of the router to this machine and name it with `godwit up --listen`, or be connected " +
			"to a member that can be dialled"
	default:
		f.Text = fmt.Sprintf("nobody can dial this node: it is reached through %s%s", shortNames(s.Relays), s.router())
	}
	if s.Circuits > 0 || s.CarriedBytes > 0 {
		f.Text += fmt.Sprintf("; for others it relays %d connections, %s so far", s.Circuits, task.FormatSize(s.CarriedBytes))
	}
	if len(s.Relayed) > 0 {
		f.Text += fmt.Sprintf("; with %d peers it speaks through relays alone", len(s.Relayed))
	}
	return f
}

// router says what the router of a hidden node does, and what that comes to.
func (s *ReachStatus) router() string {
	switch s.NAT {
	case p2p.EndpointIndependent:
		return "; its router keeps one port for all (endpoint-independent), so that others behind such a one reach it " +
			"directly after a moment"
	case p2p.EndpointDependent:
		return "; its router has another port for each peer (endpoint-dependent), so that others behind a router speak " +
			"to it through relays alone"
	}
	return ""
}

// shortNames are peers' names as people tell them apart.
func shortNames(peers []task.PeerID) string {
	var names []string
	for _, p := range peers {
		names = append(names, shortPeer(p))
	}
	return strings.Join(names, " and ")
}
