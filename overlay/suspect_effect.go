package overlay

import (
	"fmt"
	"time"

	"godwit/task"
)

// A Belief is what this node holds of a member, for people to read.
type Belief struct {
	Peer  task.PeerID
	State BeliefState
	Since time.Time // in this state
	// By is what it rests on: ByConnection, ByBreak, ByAdvert, ByProbe or "told by
	// PEER".
	By string
}

// What a belief can rest on, beside the word of a peer.
const (
	ByConnection = "connected"
	ByBreak      = "broken connection" // or requests that failed
	ByAdvert     = "advert"
	ByProbe      = "probe"
)

// BeliefState says whether a member is believed to be there.
type BeliefState uint8

// The states of a belief.
const (
	There BeliefState = iota
	Suspected
	Lost
)

// String returns the state's name: "there", "suspected" or "lost".
func (b BeliefState) String() string {
	switch b {
	case There:
		return "there"
	case Suspected:
		return "suspected"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("belief(%d)", uint8(b))
}

// A SuspicionEffect is what a Suspicion asks its driver to do. The driver does
// what one call returned in order.
type SuspicionEffect interface{ suspicionEffect() }

// Probe dials a member anew and asks it for a sign of life, for Wait together.
// The driver reports the end with Answered or Failed.
type Probe struct {
	Peer task.PeerID
	Wait time.Duration
}

// AskVia asks each of Via to ask Peer for a sign of life, within Wait, and to say
// whether one came: Relayed. Via has one or two members and is the driver's.
type AskVia struct {
	Peer task.PeerID
	Via  []task.PeerID
	Wait time.Duration
}

// Alive says that a member that was suspected or lost is there. By is what that
// rests on, as in a Belief.
type Alive struct {
	Peer task.PeerID
	By   string
}

// DeclareLost says that a member is lost: the driver takes it out of its View and
// tells its Lease and its Coordinator. Reason is for people. Probed is when the
// last probe began: a connection from before then is what failed it, and the
// driver closes it, so that the next one is noticed. One from after then says
// that the member is there: Connected.
type DeclareLost struct {
	Peer   task.PeerID
	Reason string
	Probed time.Time
}

func (Probe) suspicionEffect()       {}
func (AskVia) suspicionEffect()      {}
func (Alive) suspicionEffect()       {}
func (DeclareLost) suspicionEffect() {}
