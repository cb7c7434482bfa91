package overlay

import (
	"time"

	"godwit/task"
	"godwit/trace"
)

// An Advert is what a member says about itself: soft state that expires.
// Adverts are ordered by Seq; of two from one peer the larger Seq holds. Times
// are kept to the millisecond, Until to the second, Speed to a hundredth: Sign
// rounds them.
type Advert struct {
	Peer    task.PeerID
	Overlay ID
	Seq     uint64 // grows with every advert, over restarts too (Unix ns at issue)
	Issued  time.Time
	Expires time.Time
	Addrs   []string // multiaddrs without the /p2p part; at most MaxAddrs

	State  State
	Slots  int     // tasks it will run at once; 0 for a node that only submits
	Free   int     // of the slots, those without a task; may be out of date
	Memory int64   // bytes it lends to tasks, all slots together
	Speed  float64 // relative to the reference core; 0 unknown
	Reach  Reach
	// Until is when the member means to go, as far as it knows: the end of its
	// owner's hours, of a lease, a shutdown that was ordered. Zero: not known.
	Until time.Time

	// Record is its survival record, as package predictor encodes it; empty for
	// a member that keeps none. At most MaxRecord bytes.
	Record []byte
	// Spells are the last of its history, as package trace encodes them; at most
	// MaxSpells bytes.
	Spells []byte
	// Past is a part of its history, encoded like Spells, of at most MaxPast bytes: another part in each advert, so that
	// members learn the last weeks of it within a few adverts. Empty where the overlay's rules name no predictor.
	Past []byte

	// Epoch is the member's term as leader; 0 when it does not lead.
	Epoch uint64
	// Group are those who stand by to lead after it, in their order: a claim to lead of
	// one of them is believed. At most MaxGroup-1; empty when it does not lead.
	Group []task.PeerID
	// Rules is the version of the overlay's manifest that the member follows. Who
	// has an older one fetches that from it.
	Rules uint64
	// Pass shows that it was invited, where that is the overlay's rule: see
	// Manifest.Admits. At most MaxPass bytes.
	Pass    []byte
	Version string // of the program
	// Bits is how many the member's cell has; 0 in an overlay that is one cell.
	Bits uint8
	// Division is the division by which the member's cell came into being, of a leader; zero in the whole overlay.
	Division Division
	// Follows names the leader that the member follows and its epoch: see FollowsOf. 0 in the whole overlay, and of a
	// member that leads or knows no leader.
	Follows uint64
	// Site is the group of members that it says it belongs to: a cluster, an office, a
	// lab; "" for none. Policies of fair shares go by it. At most MaxSite bytes.
	Site string

	Signature []byte // by Peer's key over all other fields
}

// Reach says whether others can dial a member.
type Reach uint8

// The kinds of reachability, as AutoNAT finds them out.
const (
	ReachUnknown Reach = iota
	ReachPublic        // dialled from outside its network
	ReachPrivate       // only through relays and hole punching
)

// State is what a member's machine is doing.
type State = trace.State

// The five states, under the names that go with adverts.
const (
	Available   = trace.Available
	UserPresent = trace.UserPresent
	CPUBusy     = trace.CPUBusy
	Leaving     = trace.Leaving
	Unavailable = trace.Unavailable
)
