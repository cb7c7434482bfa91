package blocks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"godwit/blocks/whose"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/go-cid"
)

// A Gate gives a node's blocks to members of the overlays alone whose they are: those of
// which a root here reaches the block. All others are told that there is no such block.
// Its methods are safe for concurrent use.
type Gate struct {
	store *Store
	// roots lists all roots of all overlays, by the overlays' IDs. It takes its time.
	roots func(ctx context.Context) (map[string][]task.CID, error)
	log   *slog.Logger

	mu    sync.Mutex
	index *whose.Index
	asked time.Time // roots, when last

	seeking chan struct{} // held while somebody looks for what is not remembered
}

// rootsAgain is the least time between two calls for all roots. A root is told as it
// comes to be here, so they are asked for after a start, and for what was forgotten.
const rootsAgain = 2 * time.Second

// NewGate makes one that asks for roots when it needs them all: after the start, and for
// blocks that it does not remember.
func NewGate(store *Store, log *slog.Logger, roots func(context.Context) (map[string][]task.CID, error)) *Gate {
	return &Gate{store: store, log: log, roots: roots, index: whose.New(whose.Usual()), seeking: make(chan struct{}, 1)}
}

// blockOf is a block as the index names it.
func blockOf(c cid.Cid) whose.Block {
	return whose.Block{Digest: digestOf(c), Inner: c.Prefix().Codec == cid.DagProtobuf}
}

// blocksOf leaves out what is no CID.
func blocksOf(cids []task.CID) []whose.Block {
	out := make([]whose.Block, 0, len(cids))
	for _, c := range cids {
		if id, err := parseCID(c); err == nil {
			out = append(out, blockOf(id))
		}
	}
	return out
}

// Note tells of roots of an overlay that are here from now on.
func (g *Gate) Note(overlay string, roots ...task.CID) {
	if len(roots) == 0 {
		return
	}
	blocks := blocksOf(roots)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.index.Note(overlay, blocks...)
}

// Leave has an overlay's blocks be for its members no longer.
func (g *Gate) Leave(overlay string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.index.Leave(overlay)
}

// Renew asks for all roots anew; those that are told no more are forgotten some time later.
func (g *Gate) Renew(ctx context.Context) error {
	all, err := g.roots(ctx)
	if err != nil {
		return err
	}
	named := make(map[string][]whose.Block, len(all))
	for overlay, roots := range all {
		named[overlay] = blocksOf(roots)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = g.store.now()
	g.index.Renew(g.asked, named)
	return nil
}

// Serve answers one stream of wanted CIDs of a peer, in the order asked: a block, or that
// it is not here. in returns the overlays that this node and the peer are in, as they are at
// the time. Serve returns when the peer has ended the stream, or ctx ends.
func (g *Gate) Serve(ctx context.Context, from task.PeerID, s *wire.Stream, in func() []string) {
	g.store.serve(ctx, s, &asker{gate: g, peer: from, in: in})
}

// ServeAnybody answers like a Gate's Serve, whoever asks and for whatever.
func (b *Store) ServeAnybody(ctx context.Context, _ task.PeerID, s *wire.Stream) {
	b.serve(ctx, s, anybody{})
}

type anybody struct{}

func (anybody) may(context.Context, cid.Cid) bool { return true }
func (anybody) told(cid.Cid, []byte)              {}

// An asker is a peer at the gate, on one stream.
type asker struct {
	gate *Gate
	peer task.PeerID
	in   func() []string
}

// Why a block is not given.
const (
	noFellow = "the peer is in no overlay with this node, or nothing here is any such overlay's"
	notOurs  = "no root of an overlay that the peer is in reaches it"
)

// may implements teller.
func (a *asker) may(ctx context.Context, c cid.Cid) bool {
	why := a.gate.refuses(ctx, a.in(), c)
	if why != "" {
		a.gate.log.Debug("a peer is not given a block", "peer", a.peer, "block", c.String(), "reason", why)
	}
	return why == ""
}

// told implements teller: what a node links to is whose the node is. So who asks from a
// root down finds all at once.
func (a *asker) told(c cid.Cid, data []byte) {
	links, err := linksOf(c, data)
	if err != nil || len(links) == 0 {
		return
	}
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	a.gate.reach(a.gate.index.Of(blockOf(c)), links)
}

// reach notes what roots of some overlays reach; g.mu is held.
func (g *Gate) reach(of whose.Set, links []cid.Cid) {
	for _, l := range links {
		g.index.Reach(of, blockOf(l))
	}
}

// refuses returns why who is in some overlays may not have a block, "" if it may.
func (g *Gate) refuses(ctx context.Context, in []string, c cid.Cid) string {
	if len(in) == 0 {
		return noFellow
	}
	b := blockOf(c)
	if g.has(in, b) {
		return ""
	}
	if _, here, err := g.store.has(ctx, b.Digest); err != nil || !here {
		return "it is not here"
	}
	if g.seek(ctx, in, b) {
		return ""
	}
	return notOurs
}

// has reports whether a block is known to be of one of some overlays.
func (g *Gate) has(in []string, b whose.Block) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.index.Of(b)&g.index.Sets(in) != 0
}

// seekTime bounds how long one block is looked for. What was looked through is remembered,
// so that whoever asks again finds more.
const seekTime = 2 * time.Second

// seek looks for a block below the roots of some overlays at whose children nobody has looked,
// and then, unless that was a moment ago, below those that are asked for anew.
func (g *Gate) seek(ctx context.Context, in []string, b whose.Block) bool {
	ctx, cancel := context.WithTimeout(ctx, seekTime)
	defer cancel()
	select {
	case g.seeking <- struct{}{}:
		defer func() { <-g.seeking }()
	case <-ctx.Done():
		return false
	}
	if g.look(ctx, in, b) {
		return true
	}
	g.mu.Lock()
	due := g.store.now().Sub(g.asked) >= rootsAgain
	g.mu.Unlock()
	if !due {
		return false
	}
	if err := g.Renew(ctx); err != nil {
		if ctx.Err() == nil {
			g.log.Warn("whose blocks are is not known", "err", err)
		}
		return false
	}
	return g.look(ctx, in, b)
}

// look walks roots of some overlays until they reach a block, or none is left.
func (g *Gate) look(ctx context.Context, in []string, b whose.Block) bool {
	for ctx.Err() == nil {
		g.mu.Lock()
		among := g.index.Sets(in)
		found := g.index.Of(b)&among != 0
		root, of, more := whose.Block{}, whose.Set(0), false
		if !found {
			root, of, more = g.index.Next(among)
		}
		g.mu.Unlock()
		if found || !more {
			return found
		}
		whole, err := g.walk(ctx, root, of)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			g.log.Warn("what is below a root cannot be read", "err", err)
		}
		if !whole {
			g.mu.Lock()
			g.index.Partial(root)
			g.mu.Unlock()
		}
	}
	return false
}

// walk notes what is below a root. It reports false where not all of it is here.
func (g *Gate) walk(ctx context.Context, root whose.Block, of whose.Set) (whole bool, err error) {
	top := cidFrom(cid.DagProtobuf, root.Digest)
	seen, whole := map[digest]bool{root.Digest: true}, true // nodes with children
	for nodes := []cid.Cid{top}; len(nodes) > 0; {
		c := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		links, err := g.store.links(ctx, c)
		if errors.Is(err, ErrNotFound) {
			whole = false
			continue
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			continue // nobody can read what is below it
		}
		g.mu.Lock()
		g.reach(of, links)
		g.mu.Unlock()
		for _, l := range links {
			if l.Prefix().Codec == cid.DagProtobuf && !seen[digestOf(l)] {
				seen[digestOf(l)] = true
				nodes = append(nodes, l)
			}
		}
	}
	return whole, nil
}
