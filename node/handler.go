package node

import (
	"context"
	"fmt"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/p2p/cost"
	"godwit/scheduler/message"
	"godwit/task"
)

// handler is the node as the network sees it; its methods run on the
// network's goroutines and only post to the loop.
type handler struct{ n *Node }

// Frame decodes a peer's messages and hands them to the machines.
func (h handler) Frame(from task.PeerID, data []byte) {
	if h.n.poison.has(data) {
		return
	}
	release := h.n.intake.admit(h.n.stopped, len(data), h.n.net.Class(from))
	if release == nil {
		return
	}
	begun := time.Now()
	var id overlay.ID
	var msgs []message.Message
	a := arrival{from, data}
	err := h.decode(a, func() error {
		to, frame, err := addressee(data)
		if err == nil {
			id = to
			msgs, err = message.DecodeFrame(frame)
		}
		if err == nil {
			h.n.lookAtSignatures(from, msgs)
		}
		return err
	})
	h.n.net.Debit(from, cost.Decoding, cost.Micros(time.Since(begun)))
	if err != nil {
		release()
		h.n.log.Debug("a peer sent a frame that does not decode", "peer", from, "err", err)
		return
	}
	h.n.postOf(post{from: from, bytes: len(data), part: func() (left bool) {
		h.n.takeFrame(a, func() { msgs = h.takePart(id, from, msgs) })
		if len(msgs) == 0 {
			release()
		}
		return len(msgs) > 0
	}})
}

// takePart hands the machines messages of a peer for as long as its turn lasts, and returns those
// that are left.
func (h handler) takePart(id overlay.ID, from task.PeerID, msgs []message.Message) []message.Message {
	m := h.n.members[id]
	if m == nil || h.n.full || !m.Admits(from) {
		return nil // whoever means well repeats it
	}
	for begun := time.Now(); len(msgs) > 0 && time.Since(begun) < turnTime; msgs = msgs[1:] {
		h.n.tell(&member.Said{Of: m.Member, From: from, Message: heard(from, &msgs[0])})
	}
	return msgs
}

// turnTime is how long the loop handles messages of one frame before it is others' turn.
const turnTime = 10 * time.Millisecond

// Connected brings back a member that was lost; any other counts once its
// advert is seen.
func (h handler) Connected(peer task.PeerID) {
	h.n.keeper.note()
	h.n.noteOf(post{from: peer, call: func() { h.n.tell(member.Connected{Peer: peer}) }})
}

// Disconnected looks whether a member is gone or has only lost a connection.
func (h handler) Disconnected(peer task.PeerID) {
	h.n.noteOf(post{from: peer, call: func() { h.n.tell(member.Disconnected{Peer: peer}) }})
}

// Trimmed looks whether a member is gone that this node relies on: of others it says nothing that
// their connections were too many.
func (h handler) Trimmed(peer task.PeerID) {
	h.n.noteOf(post{from: peer, call: func() { h.n.tell(member.Trimmed{Peer: peer}) }})
}

// Advert takes in a verified advert.
func (h handler) Advert(a overlay.Advert) {
	h.n.post(post{call: func() { h.n.tell(member.Advertised{Advert: &a}) }})
}

// Request answers a peer's question.
func (h handler) Request(ctx context.Context, from task.PeerID, method string, body []byte) ([]byte, error) {
	switch method {
	case methodPing:
		return nil, nil
	case methodJobs, methodJob, methodWhy, methodGrid, methodScheduling, methodKey:
		return h.n.answer(ctx, from, method, body)
	case methodSubmitted:
		return h.n.answerSubmitted(ctx, from, body)
	case methodCells:
		return h.n.atlas.answer(ctx, from, body)
	case methodLease:
		return h.n.hearLease(ctx, from, body)
	case methodManifest:
		return h.n.answerManifest(ctx, from, body)
	case methodProbe:
		return h.n.answerProbe(ctx, from, body)
	case methodStates:
		return h.n.answerStates(ctx, from, body)
	case methodProofs:
		if err := h.n.mayAsk(ctx, from); err != nil {
			return nil, err
		}
		return h.n.proofs.answerProofs(ctx, from, body)
	case methodTallies:
		return h.n.tallies.answerTallies(ctx, from, body)
	case methodShown:
		return h.n.tallies.answerShown(ctx, from, body)
	case methodThanks:
		return h.n.thankful.answerThanks(ctx, from, body)
	case methodCredit:
		return h.n.answerCredit(ctx, from, body)
	case methodHistory:
		if err := h.n.mayAsk(ctx, from); err != nil {
			return nil, err
		}
		return h.n.answerHistory(ctx, from, body)
	}
	return nil, fmt.Errorf("this node answers no request %q", method)
}
