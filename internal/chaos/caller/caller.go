// Package caller is a node's part in the network and nothing else: a host of the overlay commons that
// meets whom it is told to meet, and says how. Orders and answers are JSON, a line each.
package caller

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"
)

// Options say how the host is made.
type Options struct {
	Seed   byte     // of its key
	Listen []string // multiaddrs
	Peers  []string // bootstrap peers
}

// An Order is what a caller is told to do.
type Order struct {
	Do    string      `json:"do"` // one of those below
	Peer  task.PeerID `json:"peer,omitempty"`
	Addrs []string    `json:"addrs,omitempty"`
	Bytes int         `json:"bytes,omitempty"`
	Key   p2p.Key     `json:"key,omitzero"`
}

// What callers can be told to do.
const (
	Tell = "tell" // how it is reached
	Meet = "meet" // to connect to a peer at those addresses, and to wait whether a direct way is found
	Send = "send" // so many bytes to a peer, and how long that took
	Bear = "bear" // what a peer will send, as that of one that it works with

	Provide = "provide" // a key: to say in the hash table that what belongs to it is found here
	Find    = "find"    // whom the hash table names for a key, of those that can be dialled
)

// An Answer is what came of an order.
type Answer struct {
	Error string `json:"error,omitempty"`

	ID    task.PeerID  `json:"id,omitempty"`
	Addrs []string     `json:"addrs,omitempty"` // of its advert
	Reach p2p.Reaching `json:"reach"`

	// First is how long it took until the peer answered, over Path, and Direct until there was a
	// connection without a relay; 0 where there was none.
	First  time.Duration `json:"first,omitempty"`
	Path   string        `json:"path,omitempty"`
	Direct time.Duration `json:"direct,omitempty"`
	Last   string        `json:"last,omitempty"` // the path in the end
	Took   time.Duration `json:"took,omitempty"` // of sending

	Named []task.PeerID `json:"named,omitempty"` // by the hash table
}

const (
	// meetTime bounds how long a peer may take to answer, and directTime how long after that a
	// direct way is waited for: hole punching tries three times, some seconds each.
	meetTime, directTime = 30 * time.Second, 12 * time.Second
	look                 = 5 * time.Millisecond
	advertLife           = 45 * time.Minute
	piece                = 2 << 20 // bytes of a request
)

// A caller is the host with its advert.
type caller struct {
	host *p2p.Host
	key  ed25519.PrivateKey
	of   overlay.ID

	ranks map[task.PeerID]cost.Class

	seq uint64
}

// Run makes the host and does as it is told until in ends.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = o.Seed
	manifest, err := overlay.Named("commons")
	if err != nil {
		return err
	}
	c := &caller{key: ed25519.NewKeyFromSeed(seed), of: manifest.ID(), ranks: map[task.PeerID]cost.Class{}}
	c.host, err = p2p.New(p2p.Config{
		Key: c.key, Listen: o.Listen, Bootstrap: o.Peers, Handler: quiet{},
	})
	if err != nil {
		return err
	}
	if err := c.host.Join(p2p.Overlay{ID: c.of}); err != nil {
		return err
	}
	c.advertise()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.host.Run(ctx) }()
	defer func() { stop(); <-ended }()

	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	if err := answers.Encode(c.tell()); err != nil {
		return err
	}
	for {
		var order Order
		if err := orders.Decode(&order); err != nil {
			return nil // nobody is left who would tell it anything
		}
		if err := answers.Encode(c.obey(ctx, order)); err != nil {
			return err
		}
	}
}

func (c *caller) obey(ctx context.Context, o Order) (a Answer) {
	var err error
	switch o.Do {
	case Tell:
		return c.tell()
	case Meet:
		a, err = c.meet(ctx, o)
	case Send:
		a, err = c.send(ctx, o)
	case Provide:
		c.host.Provide([]p2p.Key{o.Key})
	case Find:
		a, err = c.find(ctx, o)
	case Bear:
		c.ranks[o.Peer] = cost.Worker
		c.host.Rank(maps.Clone(c.ranks))
	default:
		err = fmt.Errorf("there is no order %q", o.Do)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (c *caller) tell() Answer {
	return Answer{ID: c.host.ID(), Addrs: c.host.AdvertAddrs(overlay.MaxAddrs), Reach: c.host.Reaching()}
}

// advertise says that the host is a member, and not where: nobody is to connect to it, or to open a
// way through its router, who is not told to.
func (c *caller) advertise() {
	now := time.Now()
	c.seq = max(c.seq+1, uint64(now.UnixNano()))
	a := overlay.Advert{
		Peer: c.host.ID(), Overlay: c.of, Seq: c.seq, Issued: now, Expires: now.Add(advertLife),
		Reach: c.host.Reach(),
	}
	if a.Sign(c.key) == nil {
		_ = c.host.SetAdvert(a) // the next one tells it again
	}
}

// path is how a peer is connected; "" when it is not.
func (c *caller) path(p task.PeerID) string {
	for _, o := range c.host.Peers() {
		if o.ID == p {
			return o.Transport
		}
	}
	return ""
}

// meet connects to a peer, and waits for a direct way.
func (c *caller) meet(ctx context.Context, o Order) (a Answer, err error) {
	c.host.AddAddrs(o.Peer, o.Addrs, time.Hour)
	if have := c.path(o.Peer); have != "" {
		return a, fmt.Errorf("connected by %s before it was told to", have)
	}
	begun := time.Now()
	asked, cancel := context.WithTimeout(ctx, meetTime)
	defer cancel()
	if _, err := c.host.Request(asked, o.Peer, "ping", nil); err != nil {
		return a, err
	}
	a.First, a.Path = time.Since(begun), c.path(o.Peer)
	for end := time.Now().Add(directTime); ; {
		if a.Last = c.path(o.Peer); a.Last != "relay" && a.Last != "" {
			a.Direct = time.Since(begun)
			return a, nil
		}
		if time.Now().After(end) || pause.For(ctx, look) != nil {
			return a, nil
		}
	}
}

// send sends a peer so many bytes.
func (c *caller) send(ctx context.Context, o Order) (a Answer, err error) {
	body := make([]byte, piece)
	begun := time.Now()
	for sent := 0; sent < o.Bytes; sent += piece {
		if _, err := c.host.Request(ctx, o.Peer, "sink", body); err != nil {
			return a, err
		}
	}
	a.Took, a.Last = time.Since(begun), c.path(o.Peer)
	return a, nil
}

// find asks the hash table who provides a key, and dials each.
func (c *caller) find(ctx context.Context, o Order) (a Answer, err error) {
	var mu sync.Mutex
	_, err = c.host.Find(ctx, o.Key, func(_ context.Context, p task.PeerID) bool {
		mu.Lock()
		defer mu.Unlock()
		a.Named = append(a.Named, p)
		return false
	})
	return a, err
}

// quiet answers everything with nothing.
type quiet struct{}

// Frame implements p2p.Handler, as do those that follow.
func (quiet) Frame(task.PeerID, []byte) {}
func (quiet) Connected(task.PeerID)     {}
func (quiet) Disconnected(task.PeerID)  {}
func (quiet) Trimmed(task.PeerID)       {}
func (quiet) Advert(overlay.Advert)     {}
func (quiet) Request(context.Context, task.PeerID, string, []byte) ([]byte, error) {
	return nil, nil
}
