package p2p

import (
	"bufio"
	"context"
	"errors"
	"time"

	"godwit/p2p/cost"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// protocolsOf are the protocols that a request goes by: the first that the peer speaks. Nodes of the
// version before know no other than ProtocolRequest.
func (rs *requests) protocolsOf(method string, body []byte) []protocol.ID {
	if method == rs.set.Urgent && len(body) <= MaxUrgent {
		return []protocol.ID{ProtocolUrgent, ProtocolRequest}
	}
	return []protocol.ID{ProtocolRequest}
}

// admit lets a peer ask, or says why not and ends the stream. A peer waits until it has paid
// for what it has asked before.
func (rs *requests) admit(ctx context.Context, s network.Stream) bool {
	p := s.Conn().RemotePeer()
	from := task.PeerID(p.String())
	if rs.adverts.unheard(p) {
		s.Reset()
		return false
	}
	err := rs.costs.Ask(from, cost.Requests)
	if err == nil {
		err = rs.costs.Settle(ctx, from)
	}
	if err != nil {
		rs.refuse(s, err)
	}
	return err == nil
}

// refuse ends the stream of a peer that asked too much.
func (rs *requests) refuse(s network.Stream, err error) {
	p := s.Conn().RemotePeer()
	rs.adverts.overspent(p, err)
	if errors.Is(err, cost.ErrBeyond) {
		s.Reset()
		_ = s.Conn().Close()
		return
	}
	if err := writeAnswer(s, nil, err); err != nil {
		s.Reset()
		return
	}
	s.Close()
}

// answerUrgent serves one request that goes ahead. It does not wait for what else the peer
// costs, and counts with nothing of it: it is small, and has a budget of its own.
func (rs *requests) answerUrgent(ctx context.Context, s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(messageTimeout))
	if err := rs.costs.Ask(task.PeerID(s.Conn().RemotePeer().String()), cost.Urgent); err != nil {
		rs.refuse(s, err)
		return
	}
	r := bufio.NewReader(s)
	q, err := readQuestion(r, MaxUrgent, nil)
	if err != nil || q.method != rs.set.Urgent {
		s.Reset()
		return
	}
	rs.reply(ctx, s, r, q, nil)
}
