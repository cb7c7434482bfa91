package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// How this node hears, and tells, of the cells of an overlay.

// methodCells asks a member what its leader knows of the cells: a cellsQuery, answered with at most
// maxCellsTold summaries, each as its length and its bytes.
const methodCells = "cells"

type cellsQuery struct {
	Overlay overlay.ID `json:"overlay"`
	// Mine asks for those cells alone that the asker's number belongs to.
	Mine bool `json:"mine,omitempty"`
	// Direct says that who is asked is to answer of its own knowledge, and not to ask its leader.
	Direct bool `json:"direct,omitempty"`
}

const (
	// maxCellsTold is the maximum number of summaries in an answer: 1,024 cells, and as many again that others claim.
	// With overlay.MaxSummaryBytes each it has 3.3 MB at most; 1,024 usual ones of 10 bits have 1.5 MB.
	maxCellsTold = 2 << overlay.MaxCellBits
	// cellsTimeout bounds a question about the cells, a dial included.
	cellsTimeout = 10 * time.Second
	// cellsKept is for how long an answer of the leader serves others who ask: as long as a leader says
	// nothing new at least.
	cellsKept = overlay.SummaryGap
)

// A cartographer asks and answers questions about cells.
type cartographer struct {
	*driver
	overlays *overlays

	mu   sync.Mutex
	kept map[overlay.ID]cellsTold // what leaders answered last, of the overlays that this node serves

	reading sync.Mutex // guards reader
	reader  overlay.SummaryReader
}

// cellsTold is what a leader answered.
type cellsTold struct {
	by   task.PeerID
	at   time.Time
	list []overlay.Summary
}

// ask carries out a member.AskCells; it is on the loop.
func (c *cartographer) ask(e member.AskCells) {
	m, q := e.Of, cellsQuery{Overlay: e.Of.ID(), Mine: e.Own}
	if e.From != "" {
		c.askPeer(m, e.From, q)
		return
	}
	for _, p := range c.anyPeers(m, e.Peers) {
		c.askPeer(m, p, q)
	}
}

// askPeer asks a peer about the cells.
func (c *cartographer) askPeer(m *member.Member, to task.PeerID, q cellsQuery) {
	c.spawn(func() {
		ctx, cancel := context.WithTimeout(c.tasks, cellsTimeout)
		defer cancel()
		list, err := c.question(ctx, to, q)
		if err != nil {
			c.log.Debug("asking about the cells", "overlay", q.Overlay, "peer", to, "err", err)
			return
		}
		c.post(post{call: func() { c.heard(m, to, list) }})
	})
}

// heard gives a member the summaries that a peer answered; on the loop. The node connects to the leaders of the cell
// that the member has come into, or that may be its own while it knows no leader: they send adverts of the cell's members.
func (c *cartographer) heard(m *member.Member, from task.PeerID, list []overlay.Summary) {
	if c.peer.Member(m.ID()) != m {
		return
	}
	before := m.Cell()
	c.tell(member.Summarised{Of: m, Summaries: list, From: from, Network: c.networkOf(from)})
	now, number, claims := m.Cell(), overlay.CellNumber(m.ID(), c.self), 0
	lost := m.Leader().Leader == "" || m.Seeks()
	for i := range list {
		if claims == overlay.MaxClaims {
			return
		}
		if !(now != before && list[i].Cell == now) && !(lost && list[i].Cell.Holds(number)) || list[i].Leader == c.self {
			continue
		}
		claims++
		c.spawn(func() {
			ctx, cancel := context.WithTimeout(c.tasks, cellsTimeout)
			defer cancel()
			if err := c.net.Introduce(ctx, list[i].Leader); err != nil {
				c.log.Debug("going to the leader of the cell", "cell", list[i].Cell.String(), "err", err)
			}
		})
	}
}

// networkOf returns the public network of the connection to a peer; "" if it isn't public.
func (c *cartographer) networkOf(peer task.PeerID) string {
	for _, p := range c.net.Peers() {
		if p.ID == peer {
			return overlay.PublicNetworkOf(p.Addrs)
		}
	}
	return ""
}

// anyPeers returns connected peers to ask about the cells, at most n. A newcomer takes them from different networks.
func (c *cartographer) anyPeers(m *member.Member, n int) (out []task.PeerID) {
	if !m.Seeks() {
		if p := c.anyPeer(m); p != "" {
			out = append(out, p)
		}
		return out
	}
	peers := c.net.Peers()
	rand.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	networks := map[string]bool{}
	for _, again := range []bool{false, true} {
		for _, p := range peers {
			network := overlay.PublicNetworkOf(p.Addrs)
			if len(out) < n && networks[network] == again && !slices.Contains(out, p.ID) {
				networks[network] = true
				out = append(out, p.ID)
			}
		}
	}
	return out
}

// anyPeer returns a connected peer whose adverts have been known for at least ten minutes, if possible one of another
// cell, which knows what the members of this one don't; "" if there is none.
func (c *cartographer) anyPeer(m *member.Member) (some task.PeerID) {
	peers := c.net.Peers()
	rand.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	for _, p := range peers {
		switch {
		case !m.KnowsLong(p.ID):
		case m.Visits(p.ID):
			return p.ID
		default:
			some = p.ID
		}
	}
	return some
}

// question asks a peer about the cells.
func (c *cartographer) question(ctx context.Context, to task.PeerID, q cellsQuery) ([]overlay.Summary, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if err := c.net.Introduce(ctx, to); err != nil { // in a closed overlay it answers members alone
		return nil, err
	}
	b, err := c.net.Request(ctx, to, methodCells, body)
	if err != nil {
		return nil, err
	}
	list, err := c.read(b, q.Overlay)
	if err == nil {
		c.net.Reachable(list, to)
	}
	return list, err
}

// read reads an answer.
func (c *cartographer) read(b []byte, of overlay.ID) ([]overlay.Summary, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	return readCells(&c.reader, b, of, c.clock.wall())
}

// readCells reads an answer, and leaves out what is of another overlay and what does not hold any more. One
// that has a summary in it that is none fails: whoever sent it should have seen that.
func readCells(r *overlay.SummaryReader, b []byte, of overlay.ID, now time.Time) (list []overlay.Summary, err error) {
	for told := 1; len(b) > 0; told++ {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) || n > overlay.MaxSummaryBytes || told > maxCellsTold {
			return nil, errCells
		}
		s, err := r.Open(b[k:k+int(n)], now)
		switch {
		case errors.Is(err, overlay.ErrExpired), errors.Is(err, overlay.ErrFuture): // clocks differ
		case err != nil:
			return nil, fmt.Errorf("reading about the cells: %w", err)
		case s.Overlay == of:
			list = append(list, s)
		}
		b = b[k+int(n):]
	}
	return list, nil
}

var errCells = errors.New("reading about the cells: the answer breaks off, or is longer than any")

// answer answers a cellsQuery: a leader by itself, others with what their leader says too.
func (c *cartographer) answer(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q cellsQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	var list []overlay.Summary
	var leader task.PeerID
	err := errNoMember
	if e := c.doOf(ctx, from, func() {
		m := c.overlays.members[q.Overlay]
		switch {
		case m == nil:
			err = fmt.Errorf("%w %s", ErrUnknownOverlay, q.Overlay)
		case m.Admits(from):
			c.at(func() { list = m.Summaries() })
			if err = nil; m.Coordinator() == nil {
				leader = m.Leader().Leader
			}
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	if leader != "" && leader != from && !q.Direct {
		list = append(c.ofLeader(ctx, leader, q.Overlay), list...)
	}
	return packCells(asked(list, q, from)), nil
}

// asked returns the summaries that answer a peer's question, as many as may be: of each leader the first.
func asked(list []overlay.Summary, q cellsQuery, by task.PeerID) (out []overlay.Summary) {
	number, told := overlay.CellNumber(q.Overlay, by), map[task.PeerID]bool{}
	for i := range list {
		s := &list[i]
		if told[s.Leader] || q.Mine && !s.Cell.Holds(number) || len(out) >= maxCellsTold {
			continue
		}
		told[s.Leader] = true
		out = append(out, *s)
	}
	return out
}

// packCells is the other side of readCells.
func packCells(list []overlay.Summary) (out []byte) {
	for i := range list {
		if b, err := list[i].Encode(); err == nil {
			out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
		}
	}
	return out
}

// ofLeader is what a leader says about the cells, or said a moment ago; nothing where it does not answer.
func (c *cartographer) ofLeader(ctx context.Context, leader task.PeerID, id overlay.ID) []overlay.Summary {
	now := c.clock.wall()
	c.mu.Lock()
	last := c.kept[id]
	c.mu.Unlock()
	if last.by == leader && now.Sub(last.at) < cellsKept {
		return last.list
	}
	list, err := c.question(ctx, leader, cellsQuery{Overlay: id, Direct: true})
	if err != nil && !errors.Is(err, context.Canceled) {
		c.log.Debug("asking the leader about the cells", "peer", leader, "err", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) > p2p.MaxOverlays { // of overlays that it was in
		c.kept = map[overlay.ID]cellsTold{}
	}
	c.kept[id] = cellsTold{leader, now, list} // also that it is silent
	return list
}

// summarised takes in what the leader of another cell says.
func (c *cartographer) summarised(s overlay.Summary) {
	c.post(post{call: func() {
		if m := c.peer.Member(s.Overlay); m != nil {
			c.tell(member.Summarised{Of: m, Summaries: []overlay.Summary{s}})
		}
	}})
}
