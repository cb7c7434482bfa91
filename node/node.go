package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	ds "github.com/ipfs/go-datastore"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/sandbox"
	"godwit/scheduler"
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
	cfg    Config
	log    *slog.Logger
	key    ed25519.PrivateKey
	self   task.PeerID
	sched  scheduler.Config
	store  store
	net    network
	blocks *p2p.Blocks
	runner Runner

	monitor *owner.Monitor

	inbox   chan post
	stopped chan struct{} // closed when the loop has ended
	group   sync.WaitGroup
	started time.Time

	// What follows belongs to the loop.

	view        *overlay.View
	away        map[task.PeerID]overlay.Advert // newest adverts of lost members, until they expire
	leader      scheduler.LeaderChanged        // as the machines last heard
	coordinator *scheduler.Coordinator         // nil while another node leads
	worker      *scheduler.Worker
	submitter   *scheduler.Submitter
	epoch       uint64 // of this node's leadership; 0 while it does not lead
	owner       scheduler.OwnerState
	decision    owner.Decision // that owner rests on
	pending     []pending
	prepared    map[task.JobID]*preparedJob
	running     map[scheduler.AttemptName]context.CancelFunc
	changed     map[task.JobID]bool // since watchers were last told
	watchers    map[*watcher]bool
	nextAdvert  time.Time
	advertised  overlay.Advert // the newest of this node; its Seq is 0 before the first
	advertSeq   uint64         // of the newest advert
	past        past
	speed       float64 // of a core, relative to the reference core; 0 not yet measured
	standing    overlay.Standing
	gone        map[task.PeerID]time.Time // members that a leader lost, and when
	moveAt      time.Time                 // when stopped tasks are to go on elsewhere; zero for never
	foundAt     time.Time                 // when to found the overlay; zero when settled
}

// New prepares a node: it opens its data directory, restores its state and
// listens. If it fails, nothing is left open.
func New(ctx context.Context, cfg Config) (*Node, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	swarmKey, err := cfg.swarmKey()
	if err != nil {
		return nil, err
	}
	key, data, err := openData(cfg)
	if err != nil {
		return nil, err
	}
	join := func(c p2p.Config) (network, error) {
		c.SwarmKey = swarmKey
		return p2p.New(c)
	}
	return newNode(ctx, cfg, ground{key, data, join, newRunner(cfg)})
}

// A ground is what a node stands on: the machine's disk, network and processes.
type ground struct {
	key    ed25519.PrivateKey
	data   ds.Batching
	join   func(p2p.Config) (network, error) // called once
	runner Runner
}

// A network is the node's place in the swarm: a p2p.Host.
type network interface {
	Run(ctx context.Context) error
	Close() error // in place of Run
	Blocks() *p2p.Blocks
	Send(to task.PeerID, frame []byte) error
	Request(ctx context.Context, to task.PeerID, method string, body []byte) ([]byte, error)
	SetAdvert(a overlay.Advert) error
	AdvertAddrs(n int) []string
	Reach() overlay.Reach
	Addrs() []string
	Peers() []p2p.Peer
	Stats() p2p.Stats
}

// newNode makes a node of a complete cfg. The node owns what it stands on, and
// closes it when newNode fails or Run ends.
func newNode(ctx context.Context, cfg Config, on ground) (_ *Node, err error) {
	self := task.PeerIDOf(on.key.Public().(ed25519.PublicKey))
	n := &Node{
		cfg: cfg, log: cfg.Log.With("self", shortPeer(self)), key: on.key, self: self,
		sched: scheduler.Default(), store: store{on.data}, runner: on.runner,
		inbox: make(chan post, inboxSize), stopped: make(chan struct{}), started: time.Now(),
		view: overlay.NewView(cfg.Overlay), away: map[task.PeerID]overlay.Advert{},
		prepared: map[task.JobID]*preparedJob{}, running: map[scheduler.AttemptName]context.CancelFunc{},
		changed: map[task.JobID]bool{}, watchers: map[*watcher]bool{}, gone: map[task.PeerID]time.Time{},
	}
	defer func() {
		if err != nil {
			close(n.stopped) // whoever has called the handler waits no longer
			err = errors.Join(err, n.runner.Close(), on.data.Close())
		}
	}()
	if n.net, err = on.join(p2p.Config{
		Key: n.key, Listen: cfg.Listen, Bootstrap: cfg.Bootstrap, MDNS: cfg.MDNS,
		Overlay: cfg.Overlay, Datastore: on.data, Handler: handler{n}, Log: cfg.Log,
	}); err != nil {
		return nil, fmt.Errorf("joining the network: %w", err)
	}
	n.blocks = n.net.Blocks()
	if err := n.restore(ctx); err != nil {
		return nil, errors.Join(err, n.net.Close())
	}
	return n, nil
}

// openData makes the data directory and opens what is in it.
func openData(cfg Config) (ed25519.PrivateKey, ds.Batching, error) {
	for _, dir := range []string{cfg.stageDir(), cfg.scratchDir(), cfg.cacheDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, fmt.Errorf("making the data directory: %w", err)
		}
	}
	key, err := p2p.LoadOrCreateKey(filepath.Join(cfg.DataDir, "identity.key"))
	if err != nil {
		return nil, nil, fmt.Errorf("loading the node's identity: %w", err)
	}
	data, err := p2p.OpenStore(filepath.Join(cfg.DataDir, "store"))
	if isLocked(err) {
		return nil, nil, fmt.Errorf("%w by another node: %s", ErrInUse, cfg.DataDir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening the node's store: %w", err)
	}
	return key, data, nil
}

// isLocked tells a store that another node has locked from one that this node
// may not open, whose error names the file. The store has no error value for a
// lock of this very process.
func isLocked(err error) bool {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) {
		return false
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || strings.Contains(err.Error(), "lock held by current process")
}

// cacheDir keeps compiled modules, scratchDir is where sandboxes run.
func (c *Config) cacheDir() string   { return filepath.Join(c.DataDir, "cache") }
func (c *Config) scratchDir() string { return filepath.Join(c.DataDir, "scratch") }

func newRunner(cfg Config) Runner {
	if cfg.Runner == RunSleep {
		return &sleepRunner{}
	}
	cage := &owner.Cage{}
	if cfg.RulesFile != "" {
		cage = owner.NewCage()
	}
	return wasmRunner{cage: cage, pool: sandbox.NewPool(sandbox.Config{
		Command:    cfg.Sandbox,
		CacheDir:   cfg.cacheDir(),
		ScratchDir: cfg.scratchDir(),
		MaxIdle:    cfg.Cores,
		Started:    func(pid int) { confine(cage, pid, cfg.Log) },
		Log:        cfg.Log,
	})}
}

// restore brings the machines back to what was durable when the node last
// stopped, however it stopped.
func (n *Node) restore(ctx context.Context) error {
	n.sched.Key = n.key
	n.worker = scheduler.NewWorker(n.self, n.sched)
	n.submitter = scheduler.NewSubmitter(n.self, n.sched)
	mine, err := n.store.load(ctx, "s/")
	if err != nil {
		return err
	}
	if err := n.submitter.Restore(mine); err != nil {
		return fmt.Errorf("restoring submitted jobs: %w", err)
	}
	if err := n.loadPast(ctx); err != nil {
		return err
	}
	if err := n.askOwner(ctx); err != nil {
		return err
	}
	m, err := n.loadManifest(ctx)
	if err != nil {
		return err
	}
	if m.IsZero() {
		n.foundAt = n.started.Add(n.cfg.foundDelay())
		return nil
	}
	n.view.Follow(m)
	n.manifestChanged()
	return nil
}

// Run serves until ctx ends or something fails that the node cannot do
// without. It returns when all it started has ended and the store is closed.
func (n *Node) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	netDone := make(chan error, 1)
	go func() {
		err := n.net.Run(ctx)
		cancel()
		netDone <- err
	}()
	n.spawn(func() { n.monitor.Run(ctx) })
	if m, ok := n.runner.(speedometer); ok {
		n.spawn(func() { n.keepSpeed(ctx, m) })
	}
	n.spawn(func() { n.gatherHistories(ctx) })
	err := n.loop(ctx)
	close(n.stopped)
	cancel()
	err = errors.Join(err, n.runner.Close())
	n.group.Wait()
	return errors.Join(err, <-netDone, n.store.ds.Close())
}

// ID returns the node's peer ID.
func (n *Node) ID() task.PeerID { return n.self }

// Addrs returns the multiaddrs, with /p2p/ID, that other nodes can dial.
func (n *Node) Addrs() []string { return n.net.Addrs() }

// Blocks returns the node's content-addressed blocks.
func (n *Node) Blocks() *p2p.Blocks { return n.blocks }

// Overlay returns the name of the overlay the node serves.
func (n *Node) Overlay() string { return n.cfg.Overlay }

func shortPeer(p task.PeerID) string {
	const keep = 8
	if len(p) <= keep {
		return string(p)
	}
	return string(p[len(p)-keep:])
}
