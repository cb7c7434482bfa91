package p2p

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/task"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// FindTime is how long Find takes at most, whatever the servers of the table say.
	FindTime = 30 * time.Second
	// nearTime of it may pass until the servers nearest to a key are found.
	nearTime = 10 * time.Second
	// lookUps is how many times the servers near to a key are sought where they are fewer than the table keeps: of 60
	// look-ups in a swarm of seven servers, begun at one, one came by four alone.
	lookUps = 2
	// settleLook is how often a table that has just begun is looked at.
	settleLook = 50 * time.Millisecond
	// findDials is how many of those that are said to provide a key are dialled at once: one of each
	// server that was asked, and a few more.
	findDials = 24
	// findDialTime is how long one of them may take to connect, and tryTime to show what it is.
	findDialTime = 4 * time.Second
	tryTime      = 4 * time.Second
	// perServer is how many providers each server's word is taken for.
	perServer = 64
)

// Find looks up in the hash table who provides a key, and connects to those, many at once, until
// try says of one that it is good, or nobody is left, or FindTime has passed. It reports whether
// one is. Servers lie, and so do those who say that they provide: each server has a say in turn,
// whatever it says, and try is to believe nothing but what is signed. Who is not good is
// disconnected again. It returns ErrNoTable where there is nobody to ask.
func (t *table) Find(ctx context.Context, k Key, try func(ctx context.Context, p task.PeerID) bool) (bool, error) {
	d, done, err := t.use()
	if err != nil {
		return false, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, FindTime)
	defer cancel()
	defer context.AfterFunc(t.life, cancel)()
	near, stop := context.WithTimeout(ctx, nearTime)
	for d.RoutingTable().Size() == 0 && pause.For(near, settleLook) == nil { // its neighbours are being asked
	}
	servers := t.nearest(near, d, k)
	stop()
	return t.tryEach(ctx, t.interleave(t.askAll(ctx, servers, k)), try), nil
}

// nearest returns the servers nearest to a key, and in a table of few all that a look-up comes by: one that begins with
// a single server may end before it has heard of those that tell the truth, so a second follows, which begins with all
// of the first. Also of a look-up that failed some are known.
func (t *table) nearest(ctx context.Context, d *dht.IpfsDHT, k Key) (servers []peer.ID) {
	add := func(ids []peer.ID) {
		for _, id := range ids {
			if !slices.Contains(servers, id) && len(servers) < tableNear {
				servers = append(servers, id)
			}
		}
	}
	for range lookUps {
		found, _ := d.GetClosestPeers(ctx, string(k.multihash()))
		if add(found); len(servers) == tableNear {
			return servers
		}
	}
	add(slices.DeleteFunc(t.net.Network().Peers(), func(id peer.ID) bool { return !t.isServer(id) }))
	return servers
}

// askAll asks servers who provides a key, all at once.
func (t *table) askAll(ctx context.Context, servers []peer.ID, k Key) [][]peer.AddrInfo {
	said := make([][]peer.AddrInfo, len(servers), len(servers)+1)
	var wg sync.WaitGroup
	for i, s := range servers {
		if s == t.net.ID() {
			said[i], _ = t.provided.GetProviders(ctx, k.multihash())
			continue
		}
		wg.Go(func() { said[i], _ = t.askProviders(ctx, s, k) })
	}
	wg.Wait()
	return said
}

// interleave returns what servers said, each peer once: one of the first server's, one of the
// second's, and so on in turn, of each in an order that it does not choose.
func (t *table) interleave(said [][]peer.AddrInfo) []peer.AddrInfo {
	rand.Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
	for i, s := range said {
		rand.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		said[i] = s[:min(len(s), perServer)]
	}
	seen := map[peer.ID]bool{t.net.ID(): true}
	var out []peer.AddrInfo
	for round := range perServer {
		for _, s := range said {
			if round < len(s) && !seen[s[round].ID] {
				seen[s[round].ID] = true
				out = append(out, s[round])
			}
		}
	}
	return out
}

// tryEach dials peers, findDials at once, until try says that one is good.
func (t *table) tryEach(ctx context.Context, peers []peer.AddrInfo,
	try func(context.Context, task.PeerID) bool) (good bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan peer.AddrInfo)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range min(findDials, len(peers)) {
		wg.Go(func() {
			for p := range next {
				if t.tryOne(ctx, p, try) {
					mu.Lock()
					good = true
					mu.Unlock()
					cancel()
				}
			}
		})
	}
feed:
	for _, p := range peers {
		select {
		case next <- p:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return good
}

func (t *table) tryOne(ctx context.Context, p peer.AddrInfo, try func(context.Context, task.PeerID) bool) bool {
	before := t.connected(p.ID)
	dial, cancel := context.WithTimeout(network.WithForceDirectDial(ctx, "found"), findDialTime)
	err := t.net.Connect(dial, p)
	cancel()
	if err != nil {
		return false
	}
	ctx, cancel = context.WithTimeout(ctx, tryTime)
	defer cancel()
	if try(ctx, task.PeerID(p.ID.String())) {
		return true
	}
	if !before {
		_ = t.net.Network().ClosePeer(p.ID)
	}
	return false
}
