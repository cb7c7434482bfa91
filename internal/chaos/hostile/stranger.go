package hostile

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/member"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler/message"
	"godwit/task"
)

// A guise is as whom a stranger speaks.
type guise int

const (
	passerby guise = iota // connects, and says nothing of itself
	fellow                // a member of the open pool
	insider               // a member of the closed overlay, by its founder's ticket
)

// String returns it in words.
func (g guise) String() string {
	return [...]string{"a stranger without an advert", "a member of the open pool", "an insider with a pass"}[g]
}

// guises are all of them.
var guises = []guise{passerby, fellow, insider}

// A stranger is a peer that speaks as it likes.
type stranger struct {
	f       *field
	as      guise
	key     ed25519.PrivateKey
	host    *p2p.Host
	pass    []byte // to the closed overlay
	content *content
	offer   overlay.Advert // what its adverts say; the rest is filled in

	onMessage func(from task.PeerID, of overlay.ID, m *message.Message) // nil hears nothing
	onLease   func(from task.PeerID, body []byte)                       // nil hears nothing
	onCells   func() []byte                                             // answers questions about cells; nil refuses

	mu     sync.Mutex
	seq    uint64
	cancel context.CancelFunc
	ended  chan struct{}
}

const (
	advertLife = 30 * time.Minute
	sendPause  = 20 * time.Millisecond
	// leaseMethod is what leases say to each other by, ahead of all else.
	leaseMethod = "lease"
	sayLimit    = 20 * time.Second // of one frame, when the other takes none
)

// prepare makes a stranger that is not yet there.
func (f *field) prepare(as guise) (*stranger, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	s := &stranger{f: f, as: as, key: key, content: newContent(), ended: make(chan struct{})}
	s.offer.Slots, s.offer.Memory, s.offer.Speed = 1, 1<<30, 1
	if as == insider {
		ticket, err := overlay.ParseTicket(f.ticket)
		if err != nil {
			return nil, err
		}
		if s.pass, err = ticket.Pass(task.PeerIDOf(key.Public().(ed25519.PublicKey))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// stranger brings one to the nodes, and returns when the victim knows it.
func (f *field) stranger(ctx context.Context, as guise) (*stranger, error) {
	s, err := f.prepare(as)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.strangers = append(f.strangers, s)
	f.mu.Unlock()
	return s, s.begin(ctx)
}

// crowd brings many, of all guises in turn or of one.
func (f *field) crowd(ctx context.Context, n int, as ...guise) ([]*stranger, error) {
	if len(as) == 0 {
		as = guises
	}
	all, errs := make([]*stranger, n), make([]error, n)
	var coming sync.WaitGroup
	for i := range n {
		coming.Go(func() { all[i], errs[i] = f.stranger(ctx, as[i%len(as)]) })
	}
	coming.Wait()
	return all, errors.Join(errs...)
}

// begin connects the stranger.
func (s *stranger) begin(ctx context.Context) error {
	var peers []string
	for _, n := range s.f.nodes {
		peers = append(peers, n.Addr())
	}
	return s.beginWith(ctx, peers)
}

func (s *stranger) beginWith(ctx context.Context, peers []string) error {
	host, err := p2p.New(p2p.Config{Key: s.key, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Bootstrap: peers, Handler: s,
		Urgent:   leaseMethod,
		OnBlocks: s.content.serve, Relaying: p2p.Relaying{Off: true}})
	if err != nil {
		close(s.ended)
		return fmt.Errorf("making a stranger: %w", err)
	}
	s.host = host
	var living context.Context
	living, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() { defer close(s.ended); _ = host.Run(living) }()
	for _, id := range s.pools() {
		if err := host.Join(p2p.Overlay{ID: id, Closed: id == s.f.closed}); err != nil {
			return err
		}
	}
	if err := until(ctx, gatherLimit, func() error {
		if got := len(host.Peers()); got < len(peers) {
			return fmt.Errorf("a stranger reached %d of %d nodes", got, len(peers))
		}
		return nil
	}); err != nil {
		return err
	}
	if s.as == passerby {
		return nil
	}
	return s.introduce(ctx)
}

// id returns the stranger's ID, before it is there too.
func (s *stranger) id() task.PeerID { return task.PeerIDOf(s.key.Public().(ed25519.PublicKey)) }

// pools are the overlays that it speaks in, the first by preference.
func (s *stranger) pools() []overlay.ID {
	if s.as == insider {
		return []overlay.ID{s.f.closed, s.f.open}
	}
	return []overlay.ID{s.f.open}
}

// pool is the overlay that it attacks.
func (s *stranger) pool() overlay.ID { return s.pools()[0] }

// poolName is its name.
func (s *stranger) poolName() string {
	if s.as == insider {
		return closedName
	}
	return openName
}

// introduce says its adverts until the nodes know it for a member.
func (s *stranger) introduce(ctx context.Context) error {
	return until(ctx, gatherLimit, func() error {
		if err := s.advertise(0); err != nil {
			return err
		}
		for _, n := range s.f.nodes {
			var known []struct {
				Peer task.PeerID `json:"peer"`
			}
			if err := n.Get(ctx, "/v1/peers", &known); err != nil {
				return err
			}
			found := false
			for _, k := range known {
				found = found || k.Peer == s.host.ID()
			}
			if !found {
				return errors.New("a node does not know the stranger for a member")
			}
		}
		return nil
	})
}

// advertise says an advert in all its overlays, as a leader unless epoch is 0.
func (s *stranger) advertise(epoch uint64, group ...task.PeerID) error {
	var errs []error
	for _, id := range s.pools() {
		errs = append(errs, s.advertiseIn(id, epoch, group...))
	}
	return errors.Join(errs...)
}

func (s *stranger) advertiseIn(id overlay.ID, epoch uint64, group ...task.PeerID) error {
	now := time.Now()
	s.mu.Lock()
	s.seq = max(s.seq+1, uint64(now.UnixNano()))
	a := s.offer
	a.Seq = s.seq
	s.mu.Unlock()
	a.Peer, a.Overlay, a.Issued, a.Expires = s.host.ID(), id, now, now.Add(advertLife)
	a.State, a.Free, a.Epoch, a.Group = overlay.Available, a.Slots, epoch, group
	if a.Addrs == nil {
		a.Addrs = s.host.AdvertAddrs(overlay.MaxAddrs)
	}
	if id == s.f.closed {
		a.Pass = s.pass
	}
	if err := a.Sign(s.key); err != nil {
		return err
	}
	return s.host.SetAdvert(a)
}

// say sends messages in the overlay that it attacks.
func (s *stranger) say(ctx context.Context, to task.PeerID, messages ...message.Message) error {
	return s.sayIn(ctx, to, s.pool(), messages...)
}

func (s *stranger) sayIn(ctx context.Context, to task.PeerID, of overlay.ID, messages ...message.Message) error {
	frame, err := message.EncodeFrame(messages)
	if err != nil {
		return err
	}
	return s.frame(ctx, to, of, frame)
}

// frame sends bytes, well-formed or not.
func (s *stranger) frame(ctx context.Context, to task.PeerID, of overlay.ID, frame []byte) error {
	body := append(binary.AppendUvarint(nil, uint64(len(of))), of...)
	body = append(body, frame...)
	end := time.Now().Add(sayLimit)
	for {
		err := s.host.Send(to, body)
		if !errors.Is(err, p2p.ErrOutboxFull) {
			return err
		}
		if time.Now().After(end) {
			return nil // the other takes nothing more of it, which is its right
		}
		if err := pause.For(ctx, sendPause); err != nil {
			return err
		}
	}
}

// sayLease says what leases say to each other.
func (s *stranger) sayLease(ctx context.Context, to task.PeerID, kind member.LeaseKind, epoch uint64,
	leader task.PeerID, group ...task.PeerID) error {
	body, err := json.Marshal(map[string]any{"overlay": s.pool(), "kind": kind, "epoch": epoch, "group": group,
		"leader": leader})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = s.host.Request(ctx, to, leaseMethod, body)
	return err
}

// end takes the stranger away.
func (s *stranger) end() {
	if s.cancel != nil {
		s.cancel()
		<-s.ended
	}
}

// Frame implements p2p.Handler.
func (s *stranger) Frame(from task.PeerID, data []byte) {
	size, k := binary.Uvarint(data)
	if s.onMessage == nil || k <= 0 || size > uint64(len(data)-k) {
		return
	}
	messages, err := message.DecodeFrame(data[k+int(size):])
	if err != nil {
		return
	}
	for i := range messages {
		s.onMessage(from, overlay.ID(data[k:k+int(size)]), &messages[i])
	}
}

// Request implements p2p.Handler: it is there, and takes leases for granted.
func (s *stranger) Request(_ context.Context, from task.PeerID, method string, body []byte) ([]byte, error) {
	switch method {
	case leaseMethod:
		if s.onLease != nil {
			s.onLease(from, body)
		}
		return nil, nil
	case "ping":
		return nil, nil
	case "cells":
		if s.onCells != nil {
			return s.onCells(), nil
		}
	}
	return nil, errors.New("no")
}

// Connected implements p2p.Handler.
func (s *stranger) Connected(task.PeerID) {}

// Disconnected implements p2p.Handler.
func (s *stranger) Disconnected(task.PeerID) {}

// Trimmed implements p2p.Handler.
func (s *stranger) Trimmed(task.PeerID) {}

// Advert implements p2p.Handler.
func (s *stranger) Advert(overlay.Advert) {}
