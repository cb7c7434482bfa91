package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"godwit/internal/pause"
	"godwit/owner"
	"godwit/p2p"
	"godwit/task"
)

// whereaboutsName is the file with what a node needs to find its swarm again when it is started,
// and to be found: beside the store, so that one that is damaged does not cost it.
const whereaboutsName = "network.json"

// whereabouts are kept from one start of a node to the next.
type whereabouts struct {
	// Port is the one that was drawn where the owner names no addresses to listen on; 0 is none.
	// It stays, so that a port that a router forwards, and addresses passed on, stay good.
	Port  int           `json:"port,omitempty"`
	Named []string      `json:"named,omitempty"` // addresses of peers that the owner gave, with /p2p/ID
	Met   []p2p.MetPeer `json:"met,omitempty"`   // as p2p.Host.Met returned them
	// Lists says of each source of a bootstrap list when the newest one that came from there was issued.
	Lists map[string]time.Time `json:"lists,omitempty"`
}

const (
	// maxWhereabouts bounds what is read: MaxRecalled peers with as many addresses as there may
	// be take 350 kB.
	maxWhereabouts = 1 << 20
	// metSoon is how long after a peer has come what was met is written: by then it has said where
	// it is, and those that come together are written together.
	metSoon = 2 * time.Second
	// metAgain is how long after that it is looked at again: a slow peer has said it by then.
	metAgain = 20 * time.Second
	// metEvery is the longest time between two looks whether there is something to write: peers
	// that stay move, too.
	metEvery = 10 * time.Minute
)

func (c *Config) whereaboutsFile() string { return filepath.Join(c.DataDir, whereaboutsName) }

// readWhereabouts reads the file. One that is damaged is as good as none: the node can be told
// anew.
func readWhereabouts(file string, log *slog.Logger) (w whereabouts) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return w
	}
	if err == nil {
		defer f.Close()
		err = json.NewDecoder(io.LimitReader(f, maxWhereabouts)).Decode(&w)
	}
	if err != nil {
		log.Error("what this node knew of its swarm cannot be read: name a peer with --peer", "file", file, "err", err)
		return whereabouts{}
	}
	return w
}

// recall fills in what a node knows from its starts before: whom its owner named, whom it met, and
// on which port it listens where nothing is said of that.
func (w *whereabouts) recall(c *Config) {
	for _, addr := range w.Named {
		if len(c.Bootstrap) < p2p.MaxNamed && !slices.Contains(c.Bootstrap, addr) && p2p.CheckAddr(addr) == nil {
			c.Bootstrap = append(slices.Clip(c.Bootstrap), addr)
		}
	}
	c.met = len(w.Met) > 0
	if len(c.Listen) > 0 {
		return
	}
	if w.Port == 0 {
		w.Port = p2p.DrawPort()
	}
	if !p2p.PortFree(w.Port) {
		c.Log.Warn("the port on which this node listened before is taken: it listens on others now", "port", w.Port)
		return
	}
	c.Listen = p2p.Everywhere(w.Port, c.SwarmKey != "")
}

// A keeper keeps the whereabouts of a running node on disk.
type keeper struct {
	file  string
	log   *slog.Logger
	came  chan struct{} // a peer has come; holds at most one token
	port  int
	lists *bootLists  // nil for none
	saved whereabouts // what is on disk; run's alone until it has ended
}

// newKeeper keeps the whereabouts of a node with that port; onDisk is what is there.
func newKeeper(cfg *Config, onDisk whereabouts, port int) *keeper {
	return &keeper{file: cfg.whereaboutsFile(), log: cfg.Log, came: make(chan struct{}, 1), port: port, saved: onDisk}
}

// keepsLists has it kept which lists were seen, and the lists told what was seen before.
func (k *keeper) keepsLists(l *bootLists) {
	if k != nil {
		k.lists = l
		l.recall(k.saved.Lists)
	}
}

// note says that a peer has come, or that the owner has named one. A nil keeper keeps nothing.
func (k *keeper) note() {
	if k == nil {
		return
	}
	select {
	case k.came <- struct{}{}:
	default:
	}
}

// run writes what changes until ctx ends.
func (k *keeper) run(ctx context.Context, net network) {
	if k == nil {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		again := metEvery
		select {
		case <-k.came:
			if pause.For(ctx, metSoon) != nil {
				return
			}
			again = metAgain
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		k.keep(net.Met(), net.Named())
		timer.Reset(again)
	}
}

// keep writes what is known now, if it says anything new.
func (k *keeper) keep(met []p2p.MetPeer, named []p2p.NamedPeer) {
	if k == nil {
		return
	}
	w := whereabouts{Port: k.port, Met: met}
	if k.lists != nil {
		w.Lists = k.lists.newest()
	}
	for _, p := range named {
		w.Named = append(w.Named, p.Addrs...)
	}
	if w.same(&k.saved) {
		return
	}
	b, err := json.MarshalIndent(w, "", " ")
	if err == nil {
		err = replaceFile(k.file, b)
	}
	if err != nil {
		k.log.Warn("whom this node has met is not kept", "err", err)
		return
	}
	k.saved = w
}

// same reports whether two say the same, but for when who is still there was met.
func (w *whereabouts) same(old *whereabouts) bool {
	if !maps.EqualFunc(w.Lists, old.Lists, time.Time.Equal) {
		return false
	}
	if w.Port != old.Port || !slices.Equal(w.Named, old.Named) || len(w.Met) != len(old.Met) {
		return false
	}
	before := map[task.PeerID]p2p.MetPeer{}
	for _, m := range old.Met {
		before[m.Peer] = m
	}
	for _, m := range w.Met {
		b := before[m.Peer]
		if m.Met.Sub(b.Met) < metEvery {
			b.Met = m.Met
		}
		if !reflect.DeepEqual(m, b) {
			return false
		}
	}
	return true
}

// NamePeer has the node stay connected to a peer, also when it is started again. The address ends
// in /p2p/ID.
func (n *Node) NamePeer(addr string) (task.PeerID, error) {
	p, err := n.net.Name(addr)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadAddress, err)
	}
	n.keeper.note()
	return p, nil
}

// UnnamePeer ends what NamePeer, or --peer, began. A connection to the peer stays while there is
// use for it.
func (n *Node) UnnamePeer(p task.PeerID) error {
	if !n.net.Unname(p) {
		return fmt.Errorf("%w: %s", ErrNotNamed, p)
	}
	n.keeper.note()
	return nil
}

// Errors of peers that are named.
var (
	// ErrBadAddress is returned by NamePeer for what is no address of another peer.
	ErrBadAddress = errors.New("node: not the address of a peer")
	// ErrNotNamed is returned by UnnamePeer for a peer that nobody named.
	ErrNotNamed = errors.New("node: this node was told of no such peer")
)

// A NamedPeer is one whose address the owner gave to this node, which stays connected to it.
type NamedPeer = p2p.NamedPeer

// NamedPeers describes the peers that the owner named, by ID.
func (n *Node) NamedPeers() []NamedPeer { return n.net.Named() }

// missing tells the owner of the peers that it named and that are not reached.
func (n *Node) missing(now time.Time) (out []string) {
	for _, p := range n.net.Named() {
		if p.Connected || p.Why == "" {
			continue
		}
		out = append(out, fmt.Sprintf("the peer %s, which this node was told of, has not been reached for %v: %s",
			shortPeer(p.Peer), now.Sub(p.Since).Round(time.Second), p.Why))
	}
	return out
}

// looked says what there is to find others by, and what of it does not lead anywhere.
func (n *Node) looked(now time.Time) []owner.Finding {
	var out []owner.Finding
	for _, text := range n.missing(now) {
		out = append(out, owner.Finding{Check: "peers", Result: owner.Blind, Text: text,
			Fix: "see that the node there runs and is still at that address; `godwit peers remove` gives it up"})
	}
	for _, text := range n.lists.notices() {
		out = append(out, owner.Finding{Check: "peers", Result: owner.Blind, Text: text,
			Fix: "ask who makes the list for a new one: `godwit bootstrap verify` checks it"})
	}
	if len(n.net.Peers()) == 0 {
		out = append(out, owner.Finding{Check: "peers", Result: owner.Blind, Text: "this node has found nobody",
			Fix: "join with a ticket (`godwit overlay join @FILE`), or name a peer (`godwit peers add ADDRESS`)"})
	}
	if len(out) == 0 {
		out = append(out, owner.Finding{Check: "peers", Result: owner.OK, Text: fmt.Sprintf(
			"%d members are remembered for the next start, and all %d peers named by the owner are reached",
			len(n.net.Met()), len(n.net.Named()))})
	}
	return out
}
