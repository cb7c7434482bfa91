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
func (d *driver) carryAsk(e member.Effect) {
	switch e := e.(type) {
	case member.Probe:
		d.spawn(func() { d.probe(e) })
	case member.ProbeVia:
		d.spawn(func() { d.probeVia(e) })
	case member.Ping:
		d.spawn(func() { d.ping(e) })
	case member.Cut: // one that came beside it is not told by the network, but counts
		if d.net.Cut(e.Peer, e.Age) {
			d.tell(member.Connected{Peer: e.Peer})
		}
	case member.FetchRules:
		e.Of.Driver.(*membership).askManifest(e.From)
	case member.AskCells:
		d.atlas.ask(e)
	case member.Notice:
		d.notice(e)
	}
}

// probe asks a peer whether it is there.
func (d *driver) probe(e member.Probe) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	_, err := d.net.Request(ctx, e.Peer, methodPing, nil)
	probed := member.Probed{Peer: e.Peer, There: !silent(err), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	d.post(post{call: func() { d.tell(probed) }})
}

// probeVia has another member ask a peer.
func (d *driver) probeVia(e member.ProbeVia) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	body, err := json.Marshal(probeQuery{e.Peer, e.Wait.Milliseconds()})
	if err != nil {
		return
	}
	var a probeAnswer
	b, err := d.net.Request(ctx, e.Via, methodProbe, body)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	d.post(post{call: func() {
		d.tell(member.ProbedVia{Peer: e.Peer, Via: e.Via, There: err == nil && a.There})
	}})
}

// answerProbe asks a member on another's behalf.
func (d *driver) answerProbe(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q probeQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	known := false
	if err := d.doOf(ctx, from, func() {
		known = d.peer.Knows(q.Peer, func(m *member.Member) bool { return m.Admits(from) })
	}); err != nil {
		return nil, err
	}
	if !known { // strangers are not dialled because somebody says so
		return nil, errNoMember
	}
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(q.WaitMS)*time.Millisecond, maxProbeWait))
	defer cancel()
	_, err := d.net.Request(ctx, q.Peer, methodPing, nil)
	return json.Marshal(probeAnswer{There: !silent(err)})
}

// ping asks a peer that is said to lead whether it is there at all.
func (d *driver) ping(e member.Ping) {
	ctx, cancel := context.WithTimeout(context.Background(), e.Wait)
	defer cancel()
	_, err := d.net.Request(ctx, e.Peer, methodPing, nil)
	d.post(post{call: func() { d.tell(member.Pinged{Peer: e.Peer, There: !silent(err)}) }})
}

// silent says whether a request failed because nobody answered: an error that
// came back is an answer.
func silent(err error) bool {
	var answered *p2p.RemoteError
	return err != nil && !errors.As(err, &answered)
}
