package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// methodProbe asks a member to ask another whether it is there: a probeQuery,
// answered with a probeAnswer.
const methodProbe = "probe"

type probeQuery struct {
	Peer   task.PeerID `json:"peer"`
	WaitMS int64       `json:"wait_ms"`
}

type probeAnswer struct {
	There bool `json:"there"`
}

// pingTimeout is how long a new leader has to answer before it is doubted.
const pingTimeout = 2 * time.Second

// maxProbeWait bounds what another member may have us wait for.
const maxProbeWait = 5 * time.Second

// judge carries out what the suspicion asks for.
func (n *Node) judge(effects []overlay.SuspicionEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.Probe:
			n.spawn(func() { n.probe(e.Peer, e.Wait) })
		case overlay.AskVia:
			for _, via := range e.Via {
				n.spawn(func() { n.probeVia(e.Peer, via, e.Wait) })
			}
		case overlay.Alive:
			for _, m := range n.ordered() {
				m.returned(e.Peer)
			}
		case overlay.DeclareLost:
			for _, m := range n.ordered() {
				m.lost(e.Peer, e.Reason)
			}
			// A silent machine's connection may be open for half a minute yet. One
			// that came beside it is not told by the network, but counts.
			if n.net.Cut(e.Peer, n.now().Sub(e.Probed)) {
				n.judge(n.suspicion.Connected(e.Peer, n.now()))
			}
		}
	}
}

// probe asks a peer whether it is there.
func (n *Node) probe(peer task.PeerID, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, err := n.net.Request(ctx, peer, methodPing, nil)
	n.post(post{call: func() {
		if silent(err) {
			n.judge(n.suspicion.Failed(peer, errors.Is(err, syscall.ECONNREFUSED), n.now()))
			return
		}
		n.judge(n.suspicion.Answered(peer, n.now()))
	}})
}

// probeVia has another member ask a peer.
func (n *Node) probeVia(peer, via task.PeerID, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	body, err := json.Marshal(probeQuery{peer, wait.Milliseconds()})
	if err != nil {
		return
	}
	var a probeAnswer
	b, err := n.net.Request(ctx, via, methodProbe, body)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	n.post(post{call: func() {
		n.judge(n.suspicion.Relayed(peer, via, err == nil && a.There, n.now()))
	}})
}

// answerProbe asks a member on another's behalf.
func (n *Node) answerProbe(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q probeQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	known := false
	if err := n.do(ctx, func() {
		for _, m := range n.members {
			_, here := m.view.Member(q.Peer)
			_, away := m.away[q.Peer]
			known = known || (here || away) && m.admits(from)
		}
	}); err != nil {
		return nil, err
	}
	if !known { // strangers are not dialled because somebody says so
		return nil, errNoMember
	}
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(q.WaitMS)*time.Millisecond, maxProbeWait))
	defer cancel()
	_, err := n.net.Request(ctx, q.Peer, methodPing, nil)
	return json.Marshal(probeAnswer{There: !silent(err)})
}

// checkThere asks a peer that is said to lead whether it is there at all.
func (n *Node) checkThere(peer task.PeerID) {
	if peer == n.self {
		return
	}
	n.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
		defer cancel()
		if _, err := n.net.Request(ctx, peer, methodPing, nil); silent(err) {
			n.post(post{call: func() {
				n.doubt(peer, "requests to it fail")
			}})
		}
	})
}

// silent says whether a request failed because nobody answered: an error that
// came back is an answer.
func silent(err error) bool {
	var answered *p2p.RemoteError
	return err != nil && !errors.As(err, &answered)
}

// doubt has it found out whether a peer is still there. Those connected may be
// asked to help.
func (n *Node) doubt(peer task.PeerID, why string) {
	member := false
	for _, m := range n.members {
		_, here := m.view.Member(peer)
		member = member || here
	}
	if !member {
		return // nobody relies on it
	}
	var helpers []task.PeerID
	for _, p := range n.net.Peers() {
		helpers = append(helpers, p.ID)
	}
	n.suspicion.Helpers(helpers)
	strain := 0
	for _, m := range n.members {
		strain = max(strain, m.lease.Strain())
	}
	n.suspicion.Strained(strain)
	n.judge(n.suspicion.Broke(peer, why, n.now()))
}
