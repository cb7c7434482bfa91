package node

import (
	"context"
	"fmt"
	"slices"
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
	// Router is what the router does that this node asked to open its ports.
	Router RouterStatus `json:"router"`
}

// A RouterStatus is what a router does that was asked to open ports.
type RouterStatus = p2p.RouterStatus

// A RelayedPeer is connected through a relay.
type RelayedPeer struct {
	Peer task.PeerID `json:"peer"`
	Via  task.PeerID `json:"via"`
}

// reached says how others reach this node.
func (n *Node) reached() ReachStatus {
	r := n.net.Reaching()
	s := ReachStatus{Reach: "unknown", Hidden: r.Hidden, NAT: r.NAT, Relays: r.Relays, Circuits: r.Circuits,
		CarriedBytes: r.Carried, Router: r.Router, Relayed: []RelayedPeer{}}
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

// Examine checks what the owner's rules rest on, what keeps tasks in, whether the disk has room, how others reach
// the node, how its clock and its version are beside theirs, and by what it finds them.
func (n *Node) Examine(ctx context.Context) []owner.Finding {
	walls := n.exec.Runner.Walls(ctx)
	n.walled.take(walls, time.Now())
	return n.found(ctx, walls)
}

// found is Examine with what was found of what keeps tasks in.
func (n *Node) found(ctx context.Context, walls []owner.Finding) []owner.Finding {
	s := n.reached()
	reached := []owner.Finding{s.finding(len(n.net.Peers())), s.opened(n.cfg.NoPortMapping)}
	return slices.Concat(n.lending.sensed(), walls,
		owner.In(owner.AreaNetwork, append(reached, n.looked(time.Now())...)...),
		owner.In(owner.AreaMachine, append(n.around(ctx), n.diskLeft(ctx))...))
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

// opened says what the router does that was asked to open ports, or why none was.
func (s *ReachStatus) opened(never bool) owner.Finding {
	f := owner.Finding{Check: "router", Result: owner.OK}
	r := &s.Router
	switch {
	case len(r.Open) > 0:
		f.Text = fmt.Sprintf("the router %s opens a port to this node, asked by %s: others dial %s", r.Router, r.By,
			strings.Join(OpenPorts(r), ", "))
		if r.Why != "" {
			f.Text += "; not all is open: " + r.Why
		}
	case never:
		f.Text = "no router is asked to open a port: this node was started with --no-port-mapping"
	case !r.Asked && r.Why == "":
		f.Text = "no router was asked to open a port"
	case !r.Asked:
		f.Text = r.Why
	case s.Hidden:
		f.Result, f.Text = owner.Blind, fmt.Sprintf("the router %s opens no port to this node: %s", r.Router, r.Why)
		f.Fix = "allow UPnP or PCP in the router's settings, or forward a port there; a node that is reached through " +
			"relays needs neither"
	default:
		f.Text = fmt.Sprintf("the router %s opens no port to this node: %s", r.Router, r.Why)
	}
	return f
}

// OpenPorts lists where others dial ports that a router opens, for people.
func OpenPorts(r *RouterStatus) (list []string) {
	for _, o := range r.Open {
		list = append(list, fmt.Sprintf("%s (%s)", o.Outside, strings.ToUpper(string(o.Protocol))))
	}
	return list
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
