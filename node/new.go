package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	ds "github.com/ipfs/go-datastore"

	"godwit/blocks"
	"godwit/internal/logging"
	"godwit/member"
	"godwit/node/budget"
	"godwit/node/exec"
	"godwit/node/signatures"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/sandbox"
	"godwit/task"
)

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
	known := readWhereabouts(cfg.whereaboutsFile(), cfg.Log)
	onDisk := known
	known.recall(&cfg)
	join := func(c p2p.Config, serve serveFunc) (network, error) {
		c.SwarmKey, c.Met = swarmKey, known.Met
		c.OnHandOver = func(ctx context.Context, from task.PeerID, s *p2p.HandOverStream) { serve(ctx, from, s) }
		h, err := p2p.New(c)
		return host{h}, err
	}
	return newNode(ctx, cfg, ground{key, data, join, newRunner(cfg), newKeeper(&cfg, onDisk, known.Port), nil})
}

// A ground is what a node stands on: the machine's disk, network and processes.
type ground struct {
	key    ed25519.PrivateKey
	data   ds.Batching
	join   func(p2p.Config, serveFunc) (network, error) // called once
	runner exec.Runner
	keeper *keeper        // of what it is to know when it is started again; nil keeps nothing
	draw   func() float64 // a number from 0 to 1, another each time; nil: at random
}

// A serveFunc serves a stream that a member opened to bring a running task, and returns
// when it is at its end.
type serveFunc func(ctx context.Context, from task.PeerID, s exec.Stream)

// newNode makes a node of a complete cfg. The node owns what it stands on, and
// closes it when newNode fails or Run ends.
func newNode(ctx context.Context, cfg Config, on ground) (_ *Node, err error) {
	n := assemble(newDriver(newCore(cfg, on)))
	if err := n.content.open(ctx, &n.cfg, on.data); err != nil {
		n.halt()
		return nil, errors.Join(err, on.runner.Close(), on.data.Close())
	}
	n.keeper, n.lists = on.keeper, newBootLists(&cfg)
	n.keeper.keepsLists(n.lists)
	n.content.checker, _ = on.runner.(exec.Checker)
	n.content.room.evict = collector{driver: n.driver}.evict
	n.content.gate = blocks.NewGate(n.content.blocks, n.log, n.rootsOfAll)
	n.exec = exec.New(n.tasks, exec.Config{
		Key: n.key, Sign: signatures.With(n.key), Self: n.self,
		StageDir: cfg.stageDir(), Space: lentSpace{n.content.room, budget.Staged},
		Runner: on.runner, Content: n.content, Pairs: keptPairs{n.driver}, Host: door{n},
		Log: logging.In(n.log, logging.Sandbox),
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
		Handler: handler{n}, Urgent: methodLease, OnBlocks: n.serveBlocks, Log: logging.In(cfg.Log, logging.P2P),
		OnSummary: n.atlas.summarised,
		Relaying:  p2p.Relaying{Off: cfg.NoRelay}, OnAddrs: n.addrsChanged, MaxConns: cfg.maxConns(),
		Guide: cfg.BootstrapNode, MapPorts: !cfg.NoPortMapping && cfg.SwarmKey == "",
	}, n.exec.Serve); err != nil {
		return nil, fmt.Errorf("joining the network: %w", err)
	}
	n.content.blocks.Connect(n.net)
	if err := n.restore(ctx); err != nil {
		return nil, errors.Join(err, n.net.Close())
	}
	return n, nil
}

// assemble makes a node of its parts around a driver. No part has anything in it yet.
func assemble(d *driver) *Node {
	n := &Node{driver: d, past: newPast(d), speed: d.cfg.Experiment.Speeds[AnyClass]}
	n.lending = &lending{driver: d, past: n.past}
	n.past.state = func() overlay.State { return n.lending.owner.State }
	n.overlays = newOverlays(d, n.past, n.lending)
	n.atlas = &cartographer{driver: d, overlays: n.overlays}
	n.ranking = &ranking{overlays: n.overlays, peers: map[task.PeerID]ranked{}}
	n.proofs = newProofs(d, n.overlays)
	n.tallies = newTallies(d, n.overlays, n.proofs)
	n.thankful = newThankful(d, n.overlays)
	n.queries = &queries{driver: d, overlays: n.overlays}
	n.seer = newSeer(d, n.past, n.overlays, n.queries)
	n.submissions = &submissions{driver: d, overlays: n.overlays, queries: n.queries, adding: make(chan struct{}, 1)}
	return n
}

func newRunner(cfg Config) exec.Runner {
	if cfg.Experiment.Runner == RunSleep {
		return &exec.Sleeper{Imposed: cfg.Experiment.Speeds}
	}
	return exec.NewSandboxed(sandbox.Config{
		Command:    cfg.Sandbox,
		CacheDir:   cfg.cacheDir(),
		ScratchDir: cfg.scratchDir(),
		MaxIdle:    cfg.Cores,
		Log:        logging.In(cfg.Log, logging.Sandbox),
	}, cfg.RulesFile != "")
}

// slotReady is how many tasks of each slot are ready for whoever ends one: see worker.Config.Ahead.
const slotReady = 8

// restore brings the machines back to what was durable when the node last
// stopped, however it stopped.
func (n *Node) restore(ctx context.Context) error {
	n.sched.Worker.HandOver, n.sched.Worker.Ahead = n.exec.Saves(), slotReady
	if err := n.poison.load(ctx, n.store); err != nil {
		return err
	}
	if err := n.thankful.load(ctx); err != nil {
		return err
	}
	n.recallLearnt(ctx)
	if err := n.loadPast(ctx); err != nil {
		return err
	}
	n.peer = member.New(member.Config{
		Self: n.self, Key: n.key, SignResult: signatures.With(n.key), Scheduler: n.sched, World: world{n}, Pool: n.pool,
		Draw: n.draw, Cells: n.cfg.Cells,
	}, n.now())
	if err := n.askOwner(ctx); err != nil {
		return err
	}
	return n.serveJoined(ctx)
}
