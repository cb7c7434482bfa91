package member

import (
	"crypto/ed25519"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/task"
	"godwit/trace"
)

// A World is what a Peer reads of its machine and of what its driver knows. It is
// asked during calls of the Peer only, and answers at once.
type World interface {
	// Wall is the time that others are told.
	Wall() time.Time
	// Describe fills in what an advert says of the machine: addresses, reach, speed,
	// site, version, how long it means to stay and its history.
	Describe(a *overlay.Advert)
	// Stay is the probability that a member runs tasks for d from now without a
	// break; 0 for one that runs none now. known is false where nothing is known of
	// this member in particular. a is the newest advert of the member; of this peer
	// itself what it says may be old.
	Stay(a *overlay.Advert, now time.Time, d time.Duration) (p float64, known bool)
	// History is this peer's own history, up to now; nil where none is kept. It is read only.
	History() *trace.History
	// Neighbours are the peers to which there is a connection.
	Neighbours() []task.PeerID
	// Guests calls each with the member of every guest that runs here.
	Guests(each func(*Member))
	// LeaveTime is how long what runs here is thought to take to leave while it runs.
	LeaveTime() time.Duration
	// Withheld is the percentage of the machine's CPU, 0 to 100, that guests do not
	// get now.
	Withheld() int
	// Weight is the share of the machine that an overlay has a right to beside the
	// others, in any unit; 0 for none.
	Weight(m *Member) float64
}

// Config is what a Peer goes by.
type Config struct {
	Self task.PeerID
	Key  ed25519.PrivateKey // signs cancels and, with Sign, adverts
	// SignResult signs as ed25519.Sign does with Key what this peer's worker ran; nil where results come signed.
	SignResult func(message []byte) []byte
	// Scheduler is the configuration of the machines. An overlay's rules win.
	Scheduler scheduler.Config
	World     World
	// Pool is what is known of hosts at large: RefreshPool renews it. Not nil.
	Pool *predictor.Pool
	// Draw returns a number from 0 to 1, another each time: adverts of many members
	// are not renewed at one moment.
	Draw func() float64
	// Unsigned leaves adverts without a signature, where nobody checks it.
	Unsigned bool
	// Cells has the peer take part in the cells of overlays with many members: see
	// docs/protocol.md, Cells. The zero rule keeps it out.
	Cells overlay.CellRule
	// Experiment is what the manifests' rules are overruled by; the zero value by
	// nothing.
	Experiment Experiment
	// Lazy leaves out looks at the lease and at the group that could come to nothing:
	// those of a member outside the group that knows a leader. The lease is given the
	// ticks that were left out before it is told anything. A simulation of ten
	// thousand members needs it.
	Lazy bool
}

// An Experiment is what an overlay's members do whatever its manifest says.
type Experiment struct {
	Rules        *scheduler.Rules // nil for the manifest's
	Coordinators int              // the size of the group; 0 for the manifest's
}
