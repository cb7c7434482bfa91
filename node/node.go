package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"sync"
	"time"

	"godwit/blocks"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/task"
)

// Errors of a node as a whole.
var (
	// ErrStopped is returned by calls on a node that has stopped.
	ErrStopped = errors.New("node: stopped")
	// ErrInUse is returned by New where another node uses the data directory.
	ErrInUse = errors.New("node: the data directory is in use")
)

// A Node is one peer of the swarm. Make it with New, then call Run once. Its
// other methods may be called from any goroutine while Run runs.
type Node struct {
	cfg     Config
	log     *slog.Logger
	key     ed25519.PrivateKey
	self    task.PeerID
	sched   scheduler.Config
	store   store
	net     network
	content *content
	exec    *exec.Executor // carries out what the workers ask for

	monitor *owner.Monitor

	inbox   chan post
	ends    chan post     // of attempts that completed: see door.PostEnd
	stopped chan struct{} // closed when the loop has ended
	group   sync.WaitGroup
	tasks   context.Context // of what is spawned; ends with the node
	halt    context.CancelFunc

	// What follows belongs to the loop.

	clock     clock
	members   map[overlay.ID]*membership
	suspicion *overlay.Suspicion
	owner     message.OwnerState
	decision  owner.Decision // that owner rests on
	load      load
	pending   []pending
	watchers  watchers
	past      past
	speed     float64 // of a core, relative to the reference core; 0 not yet measured
	standing  overlay.Standing
	moveAt    time.Time     // when stopped tasks are to go on elsewhere; zero for never
	movedOut  bool          // that time has come, and they stand still yet
	departing time.Time     // the known end before which what runs leaves now; zero for none
	weights   []owner.Share // of the owner's rules, which win over memberships' own
	servedAt  time.Time     // when the overlays' tasks were last counted
	leaveBy   time.Time     // when a node that leaves stops waiting; zero while it stays
	leaveMost time.Time     // when it stops waiting for tasks that are on their way
	full      bool          // the disk, until fullUntil at least
	fullUntil time.Time
	unknown   []string // overlays to join whose manifests have to be asked for
}

// spawn runs f in a goroutine that Run waits for.
func (n *Node) spawn(f func()) { n.group.Go(f) }

// ID returns the node's peer ID.
func (n *Node) ID() task.PeerID { return n.self }

// Addrs returns the multiaddrs, with /p2p/ID, that other nodes can dial.
func (n *Node) Addrs() []string { return n.net.Addrs() }

// Blocks returns the node's content-addressed blocks.
func (n *Node) Blocks() *blocks.Store { return n.content.blocks }

func shortPeer(p task.PeerID) string {
	const keep = 8
	if len(p) <= keep {
		return string(p)
	}
	return string(p[len(p)-keep:])
}
