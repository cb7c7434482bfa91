package member

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// An Effect is something that a driver must now do.
type Effect interface{ effect() }

// Do carries out, in order, the effects that one step of a member's machine had, at
// least one. It is told by its pointer: most of what is asked is this. It is From to whom
// the answers go, nil for what the member itself wants durable. Keys of a Persist are the
// member's own: a driver that holds several members keeps them apart.
type Do struct {
	Of      *Member
	From    Machine
	Effects []message.Effect // read only
}

// Gossip tells the overlay's members of this peer's new advert.
type Gossip struct {
	Of     *Member
	Advert overlay.Advert
	Cell   overlay.Cell // to whose members it is told
}

// JoinCell has the driver listen to the adverts of another cell from now on, and no more to
// those of the last. Its members are told to this one.
type JoinCell struct {
	Of         *Member
	Cell, From overlay.Cell
}

// GossipSummary tells the leaders of all cells how this leader's stands.
type GossipSummary struct {
	Of      *Member
	Summary overlay.Summary
}

// Greet says this peer's newest advert to a member of another cell, which hears it from nobody
// else. It comes before what is said to that one.
type Greet struct {
	Of     *Member
	To     task.PeerID
	Advert overlay.Advert
}

// AskCells asks a member what its leader knows of the cells. Each answer is a Summarised.
type AskCells struct {
	Of   *Member
	From task.PeerID // "" for peers that are connected, if possible in different networks
	// Peers is the number of peers to ask if From is "".
	Peers int
	// Own asks only for the cells that this member's number belongs to.
	Own bool
}

// SayLease says something to the leases of others. What is not delivered within Wait is
// dropped: the next says more. LeaseTaken answers it, once for each peer.
type SayLease struct {
	Of    *Member
	To    []task.PeerID
	Lease Lease
	Wait  time.Duration // from overlay.RenewEvery to less than overlay.LeaseTime
}

// A Lease is one of the three things that leases say to each other.
type Lease struct {
	Kind    LeaseKind
	Renewal overlay.Renewal // its Epoch of all kinds, its Group of a renewal or an offer
	Leader  task.PeerID     // of a refusal: who leads in that epoch; "" for nobody known
	Bits    uint8           // of the cell of who says it
}

// A LeaseKind says what a Lease means.
type LeaseKind string

// The kinds of what leases say.
const (
	Renewal LeaseKind = "renewal"
	Offer   LeaseKind = "offer"
	Refusal LeaseKind = "refusal"
)

// Probe asks a peer whether it is there. Probed answers it within Wait.
type Probe struct {
	Peer task.PeerID
	Wait time.Duration
}

// ProbeVia has another member ask a peer whether it is there. ProbedVia answers it
// within Wait.
type ProbeVia struct {
	Peer, Via task.PeerID
	Wait      time.Duration
}

// Ping asks a peer that is said to lead whether it is there at all. Pinged answers it
// within Wait.
type Ping struct {
	Peer task.PeerID
	Wait time.Duration
}

// Cut closes the connections to a peer that is lost, those not younger than Age. If
// there is a younger one, which the network does not tell of, Connected follows.
type Cut struct {
	Peer task.PeerID
	Age  time.Duration
}

// FetchRules asks a member for the newer rules of the overlay that it follows. The
// driver checks who signed them and calls Member.Follow, or nothing if they are not to
// be had; the next advert of such a member asks again once Asked was called.
type FetchRules struct {
	Of   *Member
	From task.PeerID
}

// LeadershipChanged says that this peer leads from now on, in Epoch, or does not any
// more: then Epoch is 0. Takeover says that it did not lead before.
type LeadershipChanged struct {
	Of       *Member
	Epoch    uint64
	Takeover bool
}

// Notice is for the operator: a sentence and pairs of names and values, as slog has
// them. Of is nil for what concerns no overlay.
type Notice struct {
	Of    *Member
	Level Level
	Text  string
	Args  []any
}

// A Level is how much a Notice matters, in the numbers of package slog.
type Level int

// The levels of notices.
const (
	Debug Level = -4 // of use to who looks for a fault
	Info  Level = 0
	Warn  Level = 4 // an operator could act on it
	Error Level = 8
)

func (*Do) effect()               {}
func (Gossip) effect()            {}
func (JoinCell) effect()          {}
func (GossipSummary) effect()     {}
func (AskCells) effect()          {}
func (Greet) effect()             {}
func (SayLease) effect()          {}
func (Probe) effect()             {}
func (ProbeVia) effect()          {}
func (Ping) effect()              {}
func (Cut) effect()               {}
func (FetchRules) effect()        {}
func (LeadershipChanged) effect() {}
func (Notice) effect()            {}

// Asks reports whether an effect rests on nothing durable, so that it may be carried
// out before those that were gathered earlier.
func Asks(e Effect) bool {
	switch e.(type) {
	case Probe, ProbeVia, Ping, Cut, FetchRules, AskCells, LeadershipChanged, Notice:
		return true
	}
	return false
}
