package p2p

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"godwit/overlay"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	ma "github.com/multiformats/go-multiaddr"
)

// Config says what New builds. Key and Handler are needed.
type Config struct {
	// Key is the node's identity; see LoadOrCreateKey.
	Key ed25519.PrivateKey
	// Listen holds multiaddrs. Empty means all interfaces, TCP and QUIC, on
	// ports that the system chooses.
	Listen []string
	// Bootstrap holds multiaddrs that end in /p2p/ID. Connections to these
	// peers are made again whenever they are lost.
	Bootstrap []string
	// Met holds peers that a node of the same key has met before, as Host.Met returned them: they
	// are dialled while there are few neighbours. What is wrong or old among them is left out.
	Met []MetPeer
	// MapPorts has the router that the machine is behind lead the node's ports to it, where it listens
	// on others than this machine's own addresses.
	MapPorts bool
	// MDNS looks for peers on the local network.
	MDNS bool
	// SwarmKey, 32 bytes, makes the swarm private: only nodes with the same key
	// can connect. It restricts the node to TCP, because QUIC cannot carry it.
	SwarmKey []byte
	// MaxConns is the number of connections above which the least useful are
	// closed; 0 means DefaultMaxConns.
	MaxConns int
	// Guide serves the hash table as soon as others can dial the node: it is there for newcomers.
	Guide bool
	// Handler is told what arrives.
	Handler Handler
	// OnBlocks serves a stream on which a peer asks for blocks, on a goroutine of
	// its own; ctx ends with the host. nil serves none. Which it may have is for
	// OnBlocks to decide: see Host.Shared.
	OnBlocks func(ctx context.Context, from task.PeerID, s *wire.Stream)
	// OnHandOver serves a stream that a member opened to bring a running task,
	// on a goroutine of its own; the stream is closed when it returns, and ctx ends
	// with the host. nil takes none.
	OnHandOver func(ctx context.Context, from task.PeerID, s *HandOverStream)
	// Urgent is the method of requests that go ahead of all others, both ways: nothing else
	// that a peer sends holds them up. Their bodies have at most MaxUrgent bytes. "" is none.
	Urgent string
	// Relaying is what the node carries for others.
	Relaying Relaying
	// OnAddrs is told that AdvertAddrs or Reach has changed: a new advert is due.
	// It may be called from any goroutine, from Run on. nil is not told.
	OnAddrs func()
	// OnSummary is told what leaders of cells say of them, checked and newer than the last of each, while
	// this node leads one: see Host.SaySummary. It is called on a goroutine of the overlay's. nil is not told.
	OnSummary func(s overlay.Summary)
	// Log may be nil.
	Log *slog.Logger
}

// DefaultMaxConns keeps gossip and on-demand dialling fast in swarms of
// thousands while an idle node stays small: a connection costs about 100 KiB.
const DefaultMaxConns = 96

// A Handler receives what peers send. It is called from many goroutines at
// once; about one peer, at most one of Frame, Connected, Disconnected and Trimmed
// runs at a time. Blocking holds up that peer. Slices are the handler's to keep.
type Handler interface {
	// Frame delivers one frame, in the order the peer sent them.
	Frame(from task.PeerID, data []byte)
	// Connected follows a peer's first connection.
	Connected(p task.PeerID)
	// Disconnected follows the loss of a peer's last connection, and a Send
	// whose frames could not be delivered; so it may come twice, or for a peer
	// that was never connected. Frames sent before it may be lost.
	Disconnected(p task.PeerID)
	// Trimmed comes in place of Disconnected when one of the two sides closed the last
	// connection for having too many, and no frame waited or was sent just before: the peer is
	// no less there.
	Trimmed(p task.PeerID)
	// Advert delivers a verified advert, newer than the last from its peer.
	Advert(a overlay.Advert)
	// Request answers a peer. The context ends with the peer's deadline or when
	// the peer gives up. An error's text goes back to the peer.
	Request(ctx context.Context, from task.PeerID, method string, body []byte) ([]byte, error)
}

// settings is a Config checked and parsed.
type settings struct {
	Config
	listen    []ma.Multiaddr
	local     bool // on nothing but private networks and this machine
	bootstrap []peer.AddrInfo
}

var (
	publicListen  = []string{"/ip4/0.0.0.0/tcp/0", "/ip4/0.0.0.0/udp/0/quic-v1", "/ip6/::/tcp/0", "/ip6/::/udp/0/quic-v1"}
	privateListen = []string{"/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0"}
)

func (c Config) check() (settings, error) {
	s := settings{Config: c}
	if err := c.complete(); err != nil {
		return s, err
	}
	var err error
	if s.Relaying, err = c.Relaying.check(); err != nil {
		return s, err
	}
	if s.MaxConns == 0 {
		s.MaxConns = DefaultMaxConns
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	listen := c.Listen
	if len(listen) == 0 {
		listen = publicListen
		if c.SwarmKey != nil {
			listen = privateListen
		}
	}
	for _, text := range listen {
		addr, err := ma.NewMultiaddr(text)
		if err != nil {
			return s, fmt.Errorf("p2p: listen address %q: %w (an example: /ip4/0.0.0.0/tcp/4001)", text, err)
		}
		if _, err := addr.ValueForProtocol(ma.P_UDP); err == nil && c.SwarmKey != nil {
			return s, fmt.Errorf("p2p: listen address %q: a private swarm needs TCP, QUIC cannot carry the swarm key", text)
		}
		s.listen = append(s.listen, addr)
	}
	s.local = allLocal(s.listen)
	for _, text := range c.Bootstrap {
		info, err := parseNamed(text)
		if err != nil {
			return s, err
		}
		s.bootstrap = append(s.bootstrap, *info)
	}
	s.Met = checkMet(c.Met, time.Now())
	return s, nil
}

// complete checks the fields that need no parsing.
func (c Config) complete() error {
	switch {
	case len(c.Key) != ed25519.PrivateKeySize:
		return fmt.Errorf("p2p: key has %d bytes, want an Ed25519 key of %d", len(c.Key), ed25519.PrivateKeySize)
	case c.Handler == nil:
		return errors.New("p2p: config has no handler")
	case len(c.Bootstrap) > MaxNamed:
		return fmt.Errorf("p2p: %d peers to stay connected to, at most %d", len(c.Bootstrap), MaxNamed)
	case c.MaxConns < 0:
		return fmt.Errorf("p2p: at most %d connections make no sense", c.MaxConns)
	case c.SwarmKey != nil && len(c.SwarmKey) != SwarmKeyBytes:
		return fmt.Errorf("p2p: swarm key has %d bytes, want %d", len(c.SwarmKey), SwarmKeyBytes)
	case c.SwarmKey == nil && pnet.ForcePrivateNetwork:
		return errors.New("p2p: LIBP2P_FORCE_PNET is set, but there is no swarm key")
	}
	return nil
}
