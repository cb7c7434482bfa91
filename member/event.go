package member

import (
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// An Event is something that happened, told to a Peer by its driver.
type Event interface{ event() }

// Wake says only that time has passed; the driver sends it at NextWake.
type Wake struct{}

// Advertised brings an advert: its signature, its expiry and that the overlay admits
// its peer have been checked. The peer keeps it: nobody changes it from then on.
type Advertised struct{ Advert *overlay.Advert }

// Summarised brings what leaders say of their cells: the signatures have been checked, and that
// the overlay admits them.
type Summarised struct {
	Of        *Member
	Summaries []overlay.Summary // read only
	// From is the peer that answered a question; "" if the leaders sent the summaries themselves.
	From task.PeerID
	// Network is the public network of the connection to From, as overlay.PublicNetworkOf returns it; "" if it isn't
	// public.
	Network string
}

// Connected says that there is a connection to a peer.
type Connected struct{ Peer task.PeerID }

// Disconnected says that the last connection to a peer broke.
type Disconnected struct{ Peer task.PeerID }

// Trimmed says that the last connection to a peer was closed for being one too many, here or there.
type Trimmed struct{ Peer task.PeerID }

// Said brings what a machine of another peer, or of this one, says to the machines of
// an overlay. It is told by its pointer: most of what a peer is told is this.
type Said struct {
	Of      *Member
	From    task.PeerID
	Message *message.Message // read only
}

// LeaseSaid brings what another's lease says.
type LeaseSaid struct {
	Of    *Member
	From  task.PeerID
	Lease Lease
}

// LeaseTaken answers a SayLease, for each peer that it went to.
type LeaseTaken struct {
	Of      *Member
	By      task.PeerID
	Renewal bool // what was said was one
	Silent  bool // nobody answered
}

// Answered is the answer to an effect of a machine.
type Answered struct {
	Of    *Member
	To    Machine // that had the effect
	Event message.Event
}

// Outrun answers a message.Outrun in a Do: a peer obeys a later epoch, by its own word.
type Outrun struct {
	Of    *Member
	From  task.PeerID
	Epoch uint64
}

// Probed answers a Probe.
type Probed struct {
	Peer    task.PeerID
	There   bool
	Refused bool // not there, though its machine is and turns dials down
}

// ProbedVia answers a ProbeVia.
type ProbedVia struct {
	Peer, Via task.PeerID
	There     bool
}

// Pinged answers a Ping.
type Pinged struct {
	Peer  task.PeerID
	There bool
}

// Lent says what the machine's owner lends now, and when that is known to end.
type Lent struct {
	State message.OwnerState
	// Going says why what runs here has to go, whatever the owner's state is called;
	// "" for that it has not.
	Going string
	// Ends says what ends at State.Until, where what runs has to be gone before:
	// "the hours to work in end"; "" where nothing does. It counts while the state is
	// Available.
	Ends string
}

func (Wake) event()         {}
func (Advertised) event()   {}
func (Summarised) event()   {}
func (Connected) event()    {}
func (Disconnected) event() {}
func (Trimmed) event()      {}
func (*Said) event()        {}
func (LeaseSaid) event()    {}
func (LeaseTaken) event()   {}
func (Answered) event()     {}
func (Outrun) event()       {}
func (Probed) event()       {}
func (ProbedVia) event()    {}
func (Pinged) event()       {}
func (Lent) event()         {}
