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

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/sandbox"
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
	ends    chan post     // of attempts that completed: see postEnd
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
	join := func(c p2p.Config, serve serveFunc) (network, error) {
		c.SwarmKey = swarmKey
		c.OnHandOver = func(ctx context.Context, from task.PeerID, s *p2p.HandOverStream) { serve(ctx, from, s) }
		h, err := p2p.New(c)
		return host{h}, err
	}
	return newNode(ctx, cfg, ground{key, data, join, newRunner(cfg)})
}

// A ground is what a node stands on: the machine's disk, network and processes.
type ground struct {
	key    ed25519.PrivateKey
	data   ds.Batching
	join   func(p2p.Config, serveFunc) (network, error) // called once
	runner exec.Runner
}

// A serveFunc serves a stream that a member opened to bring a running task, and returns
// when it is at its end.
type serveFunc func(ctx context.Context, from task.PeerID, s exec.Stream)

// A network is the node's place in the swarm: a p2p.Host.
type network interface {
	Run(ctx context.Context) error
	Close() error // in place of Run
	Blocks() *p2p.Blocks
	Send(to task.PeerID, frame []byte) error
	Request(ctx context.Context, to task.PeerID, method string, body []byte) ([]byte, error)
	HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error)
	SetAdvert(a overlay.Advert) error
	AdvertAddrs(n int) []string
	Reach() overlay.Reach
	Join(o p2p.Overlay) error
	Recheck(id overlay.ID) error // its rule of admission has changed
	Leave(id overlay.ID) error
	Addrs() []string
	Peers() []p2p.Peer
	Cut(p task.PeerID, age time.Duration) (newer bool)
	Stats() p2p.Stats
}

// A host is a p2p.Host as a network.
type host struct{ *p2p.Host }

// HandOver implements network.
func (h host) HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error) {
	s, err := h.Host.HandOver(ctx, to)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newNode makes a node of a complete cfg. The node owns what it stands on, and
// closes it when newNode fails or Run ends.
func newNode(ctx context.Context, cfg Config, on ground) (_ *Node, err error) {
	self := task.PeerIDOf(on.key.Public().(ed25519.PublicKey))
	n := &Node{
		cfg: cfg, log: cfg.Log.With("self", shortPeer(self)), key: on.key, self: self,
		sched: scheduler.Default(), store: store{on.data}, content: &content{self: self, cramped: make(chan struct{}, 1)},
		inbox: make(chan post, inboxSize), ends: make(chan post, inboxSize), stopped: make(chan struct{}), clock: newClock(),
		members: map[overlay.ID]*membership{}, suspicion: overlay.NewSuspicion(self),
		watchers: watchers{map[*watcher]bool{}, map[task.JobID]bool{}}, speed: cfg.Experiment.Speeds[AnyClass],
	}
	n.tasks, n.halt = context.WithCancel(context.Background())
	n.exec = exec.New(n.tasks, exec.Config{
		Key: n.key, Self: self, StageDir: cfg.stageDir(), Runner: on.runner, Content: n.content, Host: door{n}, Log: n.log,
	})
	defer func() {
		if err != nil {
			close(n.stopped) // whoever has called the handler waits no longer
			n.halt()
			err = errors.Join(err, n.exec.Close(), on.data.Close())
		}
	}()
	if n.net, err = on.join(p2p.Config{
		Key: n.key, Listen: cfg.Listen, Bootstrap: cfg.Bootstrap, MDNS: cfg.MDNS,
		Datastore: on.data, Handler: handler{n}, Log: cfg.Log,
		Relaying: p2p.Relaying{Off: cfg.NoRelay}, OnAddrs: n.addrsChanged,
	}, n.exec.Serve); err != nil {
		return nil, fmt.Errorf("joining the network: %w", err)
	}
	n.content.blocks = n.net.Blocks()
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
	data, err := openStore(cfg)
	if err != nil {
		return nil, nil, err
	}
	// What was staged by a node that ended nobody knows of, and may not be whole
	// after a power cut.
	if err := errors.Join(os.RemoveAll(cfg.stageDir()), os.Mkdir(cfg.stageDir(), 0o700)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making the data directory: %w", err), data.Close())
	}
	return key, data, nil
}

// openStore opens the node's store, or, in place of one that is damaged, a new one.
func openStore(cfg Config) (ds.Batching, error) {
	dir := filepath.Join(cfg.DataDir, "store")
	data, err := p2p.OpenStore(dir)
	if errors.Is(err, p2p.ErrCorrupt) {
		aside, e := p2p.MoveAside(dir)
		if e != nil {
			return nil, errors.Join(fmt.Errorf("opening the node's store: %w", err), e)
		}
		cfg.Log.Error("the node's store is damaged: it was put aside, and the node begins with an empty one; what other nodes have of it comes back from them",
			"err", err, "aside", aside)
		if err := os.WriteFile(cfg.recoverFile(), nil, 0o600); err != nil {
			return nil, fmt.Errorf("marking the store as lost: %w", err)
		}
		data, err = p2p.OpenStore(dir)
	}
	if isLocked(err) {
		return nil, fmt.Errorf("%w by another node: %s", ErrInUse, cfg.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the node's store: %w", err)
	}
	return data, nil
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

// cacheDir keeps compiled modules, scratchDir is where sandboxes run, stageDir has the
// files of jobs that are ready.
func (c *Config) cacheDir() string   { return filepath.Join(c.DataDir, "cache") }
func (c *Config) scratchDir() string { return filepath.Join(c.DataDir, "scratch") }
func (c *Config) stageDir() string   { return filepath.Join(c.DataDir, "stage") }

func newRunner(cfg Config) exec.Runner {
	if cfg.Experiment.Runner == RunSleep {
		return &exec.Sleeper{Imposed: cfg.Experiment.Speeds}
	}
	return exec.NewSandboxed(sandbox.Config{
		Command:    cfg.Sandbox,
		CacheDir:   cfg.cacheDir(),
		ScratchDir: cfg.scratchDir(),
		MaxIdle:    cfg.Cores,
		Log:        cfg.Log,
	}, cfg.RulesFile != "")
}

// restore brings the machines back to what was durable when the node last
// stopped, however it stopped.
func (n *Node) restore(ctx context.Context) error {
	n.sched.Rates = n.cfg.Experiment.Rates
	n.sched.Worker.HandOver = n.exec.Saves()
	if err := n.loadPast(ctx); err != nil {
		return err
	}
	if err := n.askOwner(ctx); err != nil {
		return err
	}
	known, unknown, err := n.loadJoined()
	if err != nil {
		return err
	}
	for _, j := range known {
		m, err := n.newMembership(ctx, j)
		if err != nil {
			return err
		}
		if err := n.enter(m); err != nil {
			return err
		}
	}
	n.unknown = unknown
	return n.saveJoined()
}

// Run serves until ctx ends or something fails that the node cannot do without.
// When ctx ends it says goodbye first: leaderships are handed over and tasks
// given back, within two seconds. It returns when all it started has ended and
// the store is closed.
func (n *Node) Run(ctx context.Context) error {
	hard := n.tasks
	defer n.halt()
	netDone := make(chan error, 1)
	go func() {
		err := n.net.Run(hard)
		n.halt()
		netDone <- err
	}()
	n.spawn(func() { n.monitor.Run(hard) })
	if m, ok := n.exec.Runner.(speedometer); ok {
		n.spawn(func() { n.keepSpeed(hard, m) })
	}
	n.spawn(func() { n.gatherHistories(hard) })
	n.spawn(func() { n.collectBlocks(hard) })
	n.spawn(func() { n.joinUnknown(hard) })
	n.spawn(func() { n.recoverJobs(hard) })
	err := n.loop(hard, ctx)
	close(n.stopped)
	n.halt()
	netErr := <-netDone // nothing more comes from others
	err = errors.Join(err, n.exec.Close())
	n.group.Wait()
	return errors.Join(err, netErr, n.store.ds.Close())
}

// unknownRetry is how often peers are asked for an overlay's manifest that
// nobody has had so far.
const unknownRetry = 2 * time.Second

// joinUnknown joins the overlays that the configuration names and that others
// have to be asked for.
func (n *Node) joinUnknown(ctx context.Context) {
	for _, what := range n.unknown {
		for told := false; ctx.Err() == nil; told = true {
			_, err := n.JoinOverlay(ctx, what, 0)
			if err == nil {
				break
			}
			if !errors.Is(err, ErrUnknownOverlay) {
				n.log.Error("an overlay is not joined", "overlay", what, "err", err)
				break
			}
			if !told {
				n.log.Info("waiting for a peer that knows an overlay", "overlay", what)
			}
			pause(ctx, unknownRetry)
		}
	}
}

// ID returns the node's peer ID.
func (n *Node) ID() task.PeerID { return n.self }

// Addrs returns the multiaddrs, with /p2p/ID, that other nodes can dial.
func (n *Node) Addrs() []string { return n.net.Addrs() }

// Blocks returns the node's content-addressed blocks.
func (n *Node) Blocks() *p2p.Blocks { return n.content.blocks }

func shortPeer(p task.PeerID) string {
	const keep = 8
	if len(p) <= keep {
		return string(p)
	}
	return string(p[len(p)-keep:])
}
