package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"godwit/member"
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

// maxProbeWait bounds what another member may have us wait for.
const maxProbeWait = 5 * time.Second

// carryAsk carries out an effect of the peer that rests on nothing durable.
func (n *Node) carryAsk(e member.Effect) {
	switch e := e.(type) {
	case member.Probe:
		n.spawn(func() { n.probe(e) })
	case member.ProbeVia:
		n.spawn(func() { n.probeVia(e) })
	case member.Ping:
		n.spawn(func() { n.ping(e) })
	case member.Cut: // one that came beside it is not told by the network, but counts
		if n.net.Cut(e.Peer, e.Age) {
			n.tell(member.Connected{Peer: e.Peer})
		}
	case member.FetchRules:
		e.Of.Driver.(*membership).askManifest(e.From)
	case member.Notice:
		n.notice(e)
	}
}

// probe asks a peer whether it is there.
func (n *Node) probe(e member.Probe) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	_, err := n.net.Request(ctx, e.Peer, methodPing, nil)
	probed := member.Probed{Peer: e.Peer, There: !silent(err), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	n.post(post{call: func() { n.tell(probed) }})
}

// probeVia has another member ask a peer.
func (n *Node) probeVia(e member.ProbeVia) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	body, err := json.Marshal(probeQuery{e.Peer, e.Wait.Milliseconds()})
	if err != nil {
		return
	}
	var a probeAnswer
	b, err := n.net.Request(ctx, e.Via, methodProbe, body)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	n.post(post{call: func() {
		n.tell(member.ProbedVia{Peer: e.Peer, Via: e.Via, There: err == nil && a.There})
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
		known = n.peer.Knows(q.Peer, func(m *member.Member) bool { return m.Admits(from) })
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

// ping asks a peer that is said to lead whether it is there at all.
func (n *Node) ping(e member.Ping) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	_, err := n.net.Request(ctx, e.Peer, methodPing, nil)
	n.post(post{call: func() { n.tell(member.Pinged{Peer: e.Peer, There: !silent(err)}) }})
}

// silent says whether a request failed because nobody answered: an error that
// came back is an answer.
func silent(err error) bool {
	var answered *p2p.RemoteError
	return err != nil && !errors.As(err, &answered)
}
