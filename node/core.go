package node

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/internal/logging"
	"godwit/task"
)

// A core is what every part of a node works with: who the node is, its disk and its
// network, and the way to its loop. Its methods may be called from any goroutine.
type core struct {
	cfg     Config
	log     *slog.Logger
	key     ed25519.PrivateKey
	self    task.PeerID
	store   store
	net     network
	content *content
	clock   clock // whose news is the loop's
	poison  poison
	signed  *signed
	draw    func() float64 // for what is to happen at another moment on each node

	inbox   chan post     // of this node itself
	first   chan post     // of leases: ahead of all else
	intake  *intake       // of other peers
	looks   chan post     // of those who only look: also while something is made durable
	ends    chan post     // of attempts that completed: see door.PostEnd
	stopped chan struct{} // closed when the loop has ended
	group   sync.WaitGroup
	tasks   context.Context // of what is spawned; ends with the node
	halt    context.CancelFunc
}

// inboxSize bounds what waits for the loop of each kind. Beyond it whoever brings more waits.
const inboxSize = 1024

// newCore returns the core of a node that stands on the given ground. It has no blocks
// and no network yet.
func newCore(cfg Config, on ground) *core {
	self := task.PeerIDOf(on.key.Public().(ed25519.PublicKey))
	c := &core{
		cfg: cfg, log: logging.In(cfg.Log.With("self", shortPeer(self)), logging.Node), key: on.key, self: self,
		store: store{on.data}, content: &content{self: self, cramped: make(chan struct{}, 1)}, clock: newClock(),
		inbox: make(chan post, inboxSize), looks: make(chan post),
		ends: make(chan post, inboxSize), stopped: make(chan struct{}),
		first: make(chan post, inboxSize), intake: newIntake(), signed: newSigned(),
	}
	if c.draw = on.draw; c.draw == nil {
		c.draw = rand.Float64
	}
	c.tasks, c.halt = context.WithCancel(context.Background())
	return c
}

func shortPeer(p task.PeerID) string {
	const keep = 8
	if len(p) <= keep {
		return string(p)
	}
	return string(p[len(p)-keep:])
}

// ID returns the node's peer ID.
func (c *core) ID() task.PeerID { return c.self }

// Addrs returns the multiaddrs, with /p2p/ID, that other nodes can dial.
func (c *core) Addrs() []string { return c.net.Addrs() }

// Blocks returns the node's content-addressed blocks.
func (c *core) Blocks() *blocks.Store { return c.content.blocks }

// ImportSealed stores a file's sealed form, or the file itself if sealer is nil, and returns its CID and size as it is
// stored. The file is read once, and what it is before it is sealed is remembered for results of other jobs.
func (c *core) ImportSealed(ctx context.Context, sealer *seal.Sealer, file io.Reader) (task.CID, int64, error) {
	return c.content.ImportSealed(ctx, sealer, file)
}

// now is the loop's clock.
func (c *core) now() time.Time { return c.clock.now() }

// spawn runs f in a goroutine that Run waits for.
func (c *core) spawn(f func()) { c.group.Go(f) }

// A post is one thing for the loop to do, with its state in hand.
type post struct {
	call func()
	// part takes the place of call where much is to be done: it does some of it, and
	// reports whether something is left.
	part  func() (left bool)
	from  task.PeerID // who brought it; "" for this node itself
	bytes int         // of the frame that it is
}

// post hands p to the loop, waiting while the inbox is full, and gives up when
// the node stops.
func (c *core) post(p post) {
	select {
	case c.inbox <- p:
	case <-c.stopped:
	}
}

// postFirst is post ahead of all else.
func (c *core) postFirst(p post) {
	select {
	case c.first <- p:
	case <-c.stopped:
	}
}

// do runs f on the loop and returns after f has run. It returns an error if the node stops, or if ctx ends before the
// loop begins f, which then never runs.
func (c *core) do(ctx context.Context, f func()) error { return c.doBy(ctx, c.inbox, f) }

// look is do for what only looks, and changes nothing that has to last. It does not wait for the disk: what is being
// made durable is seen as if it were already, as by do.
func (c *core) look(ctx context.Context, f func()) error { return c.doBy(ctx, c.looks, f) }

// doBy is do by a way to the loop.
func (c *core) doBy(ctx context.Context, way chan<- post, f func()) error {
	called := newCall(f)
	select {
	case way <- post{call: called.run}:
	case <-c.stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	return called.wait(ctx, c.stopped)
}
