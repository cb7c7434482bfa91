package p2p

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// Traffic is bytes of payload, before encryption.
type Traffic struct{ In, Out int64 }

const (
	// maxProtocols bounds the protocols counted by name: our five, gossip's four
	// and libp2p's own are half as many.
	maxProtocols = 32

	otherProtocol = "other"       // those beyond maxProtocols
	noProtocol    = "negotiation" // of a stream whose protocol is not agreed yet
)

// traffic counts the bytes of all streams by protocol. It takes the place of
// libp2p's bandwidth counter, which keeps four meters per peer and protocol.
type traffic struct {
	in, out atomic.Int64

	mu    sync.RWMutex
	named map[protocol.ID]*flow
}

// A flow is the traffic of one protocol.
type flow struct{ in, out atomic.Int64 }

// of returns the counts of a protocol.
func (t *traffic) of(id protocol.ID) *flow {
	if id == "" {
		id = noProtocol
	}
	t.mu.RLock()
	f := t.named[id]
	t.mu.RUnlock()
	if f != nil {
		return f
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named == nil {
		t.named = map[protocol.ID]*flow{}
	}
	if len(t.named) >= maxProtocols-1 && t.named[id] == nil {
		id = otherProtocol
	}
	if t.named[id] == nil {
		t.named[id] = &flow{}
	}
	return t.named[id]
}

// byProtocol returns the counts as they are now.
func (t *traffic) byProtocol() map[string]Traffic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := map[string]Traffic{}
	for id, f := range t.named {
		all[string(id)] = Traffic{In: f.in.Load(), Out: f.out.Load()}
	}
	return all
}

func (t *traffic) LogSentMessage(int64) {}
func (t *traffic) LogRecvMessage(int64) {}

func (t *traffic) LogSentMessageStream(n int64, id protocol.ID, _ peer.ID) {
	t.out.Add(n)
	t.of(id).out.Add(n)
}

func (t *traffic) LogRecvMessageStream(n int64, id protocol.ID, _ peer.ID) {
	t.in.Add(n)
	t.of(id).in.Add(n)
}

func (t *traffic) GetBandwidthForPeer(peer.ID) metrics.Stats         { return metrics.Stats{} }
func (t *traffic) GetBandwidthForProtocol(protocol.ID) metrics.Stats { return metrics.Stats{} }
func (t *traffic) GetBandwidthTotals() metrics.Stats {
	return metrics.Stats{TotalIn: t.in.Load(), TotalOut: t.out.Load()}
}
func (t *traffic) GetBandwidthByPeer() map[peer.ID]metrics.Stats         { return nil }
func (t *traffic) GetBandwidthByProtocol() map[protocol.ID]metrics.Stats { return nil }
func (t *traffic) Reset()                                                {}
func (t *traffic) TrimIdle(time.Time)                                    {}
