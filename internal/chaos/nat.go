package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"godwit/internal/chaos/caller"
	"godwit/internal/pause"
)

const (
	scenarioNAT = "nat"
	// natRelays are the hosts that all know, and that relay: as many as it takes until a host knows
	// what its router does (libp2p wants the word of nine).
	natRelays = 9
	// relaysWanted is how many relays a host has that nobody can dial.
	relaysWanted = 2
	// natBytes is what is sent between two hosts to see at which rate.
	natBytes = 8 << 20
	// natHidden bounds how long hosts behind routers may take until they are reached through relays.
	natHidden = 2 * time.Minute
	// natTold is how long it may take until a host knows what its router does: libp2p looks each minute.
	natTold = 3 * time.Minute
)

// A caller is a host in a namespace, as this process tells it what to do.
type callerHost struct {
	name   string
	where  string // its namespace
	cmd    *exec.Cmd
	orders io.WriteCloser
	answer *json.Decoder
	mu     sync.Mutex
	first  caller.Answer
	ended  sync.Once
}

// A natTrial is a trial of hosts in an internet with routers.
type natTrial struct {
	*trial
	in    *internet
	kinds []natKind // of the hosts that meet
}

// nat has hosts behind routers of every kind meet each other, each pair from each side.
func nat(ctx context.Context, tr *trial) error {
	if err := canNAT(ctx); err != nil {
		return err
	}
	in, err := newInternet(ctx)
	tr.undo = append(tr.undo, in.remove)
	if err != nil {
		return err
	}
	tr.wasm = true // what moves is a running program
	kinds, err := routersOf(tr.routers)
	if err != nil {
		return err
	}
	t := natTrial{tr, in, kinds}
	relays, err := t.natRelays(ctx)
	if err != nil {
		return err
	}
	var sides [2][]*callerHost // one of each kind that dials, and one that is dialled
	for side := range sides {
		for _, kind := range t.kinds {
			h, err := t.natHost(ctx, kind, relays)
			if err != nil {
				return err
			}
			sides[side] = append(sides[side], h)
		}
	}
	t.report.Nodes = natRelays + 2*len(t.kinds)
	if err := t.awaitReached(ctx, append(sides[0], sides[1]...)); err != nil {
		return err
	}
	if err := t.natMatrix(ctx, sides); err != nil {
		return err
	}
	if err := t.showRouters(ctx, sides[0]); err != nil {
		return err
	}
	if err := t.natHairpin(ctx, relays); err != nil {
		return err
	}
	nodes, err := t.natNodes(ctx, sides, relays)
	if err != nil {
		return err
	}
	return t.natJobs(ctx, nodes)
}

// natRelays starts the hosts that everybody can dial.
func (t natTrial) natRelays(ctx context.Context) (addrs []string, err error) {
	for range natRelays {
		h, err := t.natHost(ctx, natKinds[0], addrs)
		if err != nil {
			return nil, err
		}
		for _, a := range h.first.Addrs {
			addrs = append(addrs, a+"/p2p/"+string(h.first.ID))
		}
	}
	return addrs, nil
}

// natHost starts a host of a kind, which knows those peers.
func (t natTrial) natHost(ctx context.Context, kind natKind, peers []string) (*callerHost, error) {
	site, edge, err := t.in.site(ctx)
	if err != nil {
		return nil, err
	}
	where, err := kind.build(ctx, t.in, site, edge)
	if err != nil {
		return nil, fmt.Errorf("making a host %s: %w", kind.name, err)
	}
	return t.call(where, fmt.Sprintf("%s, site %d", kind.name, site), peers)
}

// natHairpin has two hosts meet that are behind one router, which leads neither to the other.
func (t natTrial) natHairpin(ctx context.Context, relays []string) error {
	_, edge, err := t.in.site(ctx)
	if err == nil {
		err = t.in.router(ctx, edge, masquerade+dropLAN)
	}
	if err != nil {
		return err
	}
	var hosts []*callerHost
	for i := range 2 {
		where, err := t.in.lan(ctx, edge, i+1, fmt.Sprintf("192.168.%d", i+1))
		if err != nil {
			return err
		}
		h, err := t.call(where, fmt.Sprintf("behind one NAT, %d", i), relays)
		if err != nil {
			return err
		}
		hosts = append(hosts, h)
	}
	if err := t.awaitRelays(ctx, hosts...); err != nil {
		return err
	}
	m := meet(hosts[0], hosts[1])
	t.report.show("two behind one NAT that does not lead back", "", "%s, %.1f MiB/s", m.cell(), m.rate/mebibyte)
	t.report.must("two behind one NAT are connected", m.err)
	return nil
}

// call starts a host in a namespace, which knows those peers.
func (t natTrial) call(where, name string, peers []string) (*callerHost, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	t.callers++
	line := append([]string{"netns", "exec", where, exe, callerVerb, fmt.Sprint(t.callers)}, peers...)
	h := &callerHost{name: name, where: where, cmd: exec.Command("ip", line...)}
	log, err := os.Create(filepath.Join(t.dir, fmt.Sprintf("caller%d.log", t.callers)))
	if err != nil {
		return nil, fmt.Errorf("making a log: %w", err)
	}
	defer log.Close()
	h.cmd.Stderr, h.cmd.SysProcAttr = log, ownGroup()
	answers, err := h.cmd.StdoutPipe()
	if err == nil {
		h.orders, err = h.cmd.StdinPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting a host %s: %w", name, err)
	}
	t.undo = append(t.undo, h.end)
	h.answer = json.NewDecoder(answers)
	if err := h.answer.Decode(&h.first); err != nil {
		return nil, fmt.Errorf("a host %s did not start: %w", h.name, err)
	}
	return h, nil
}

// end takes the host away, if it is there.
func (h *callerHost) end() {
	h.ended.Do(func() {
		h.orders.Close()
		killGroup(h.cmd.Process.Pid)
		_ = h.cmd.Wait() // it was killed
	})
}

// tell has a host do something and returns what came of it.
func (h *callerHost) tell(o caller.Order) (a caller.Answer, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := json.NewEncoder(h.orders).Encode(o); err != nil {
		return a, fmt.Errorf("telling the host %s: %w", h.name, err)
	}
	if err := h.answer.Decode(&a); err != nil {
		return a, fmt.Errorf("the host %s does not answer: %w", h.name, err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// awaitReached waits until every host has an address where others find it: its own, or through relays.
func (t natTrial) awaitReached(ctx context.Context, hosts []*callerHost) error {
	begun := time.Now()
	err := t.awaitRelays(ctx, hidden(t, hosts)...)
	t.report.must(fmt.Sprintf("who cannot be dialled has two relays within %v", natHidden), err)
	if err != nil {
		return err
	}
	t.report.show("until all that cannot be dialled have two relays", "", "%.0f s", time.Since(begun).Seconds())
	return pause.For(ctx, time.Second)
}

// showRouters prints what hosts think of their routers.
func (t natTrial) showRouters(ctx context.Context, hosts []*callerHost) error {
	said := make([]string, len(hosts))
	err := until(ctx, natTold, func() string {
		var wrong []string
		for i, kind := range t.kinds {
			a, err := hosts[i].tell(caller.Order{Do: caller.Tell})
			if err != nil {
				return err.Error()
			}
			r := a.Reach
			said[i] = fmt.Sprintf("hidden %t, its router %s", r.Hidden, orNothing(string(r.NAT)))
			if r.Hidden == (kind.short == publicKind) || r.Hidden && r.NAT != kind.nat {
				wrong = append(wrong, kind.short)
			}
		}
		return strings.Join(wrong, ", ")
	})
	for i, kind := range t.kinds {
		t.report.show("  "+kind.name, "", "%s", said[i])
	}
	t.report.must("hosts are right about themselves and their routers", err)
	return ctx.Err()
}

// awaitRelays waits until hosts are reached through as many relays as they want.
func (t natTrial) awaitRelays(ctx context.Context, hosts ...*callerHost) error {
	return untilRelayed(ctx, hosts, func(h *callerHost) (string, int, error) {
		a, err := h.tell(caller.Order{Do: caller.Tell})
		if err == nil {
			h.first = a
		}
		return "the host " + h.name, len(a.Reach.Relays), err
	})
}

func orNothing(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// A meeting is what came of one host meeting another.
type meeting struct {
	caller.Answer
	rate float64 // bytes a second
	err  error
}

// natMatrix has each host of one side meet each of the other, as many at a time as there are kinds.
func (t natTrial) natMatrix(ctx context.Context, sides [2][]*callerHost) error {
	met, err := eachPair(ctx, t, "round", func(i, k int) meeting { return meet(sides[0][i], sides[1][k]) })
	if err == nil {
		t.showMeetings(met)
	}
	return err
}

// meet has one host meet another, and send it something.
func meet(from, to *callerHost) (m meeting) {
	if _, m.err = to.tell(caller.Order{Do: caller.Bear, Peer: from.first.ID}); m.err != nil {
		return m
	}
	m.Answer, m.err = from.tell(caller.Order{Do: caller.Meet, Peer: to.first.ID, Addrs: to.first.Addrs})
	if m.err != nil {
		return m
	}
	sent, err := from.tell(caller.Order{Do: caller.Send, Peer: to.first.ID, Bytes: natBytes})
	if m.err = err; err == nil {
		m.rate = natBytes / sent.Took.Seconds()
	}
	return m
}

// cell is a meeting in the matrix: how it is connected in the end, and after how long.
func (m *meeting) cell() string {
	switch {
	case m.err != nil:
		return "none"
	case m.Direct == 0:
		return fmt.Sprintf("relay %.2f", m.First.Seconds())
	case m.Path == "relay":
		return fmt.Sprintf("punched %.1f", m.Direct.Seconds())
	}
	return fmt.Sprintf("%s %.2f", m.Last, m.Direct.Seconds())
}

// showMeetings prints the matrix, and what it has to show.
func (t natTrial) showMeetings(met [][]meeting) {
	t.showKinds("seconds until connected, from (below) to")
	var failed, detours []string
	for i := range met {
		row, rates := "", ""
		for k := range met[i] {
			m := &met[i][k]
			row += column(m.cell())
			rates += column(fmt.Sprintf("%.1f", m.rate/mebibyte))
			pair := t.kinds[i].short + " to " + t.kinds[k].short
			switch {
			case m.err != nil:
				failed = append(failed, fmt.Sprintf("%s: %v", pair, m.err))
			case m.Direct == 0 && natDirect(t.kinds[i].short, t.kinds[k].short):
				detours = append(detours, pair)
			}
		}
		t.report.show("  "+t.kinds[i].short, "", "%s", row)
		t.report.show("    MiB/s", "", "%s", rates)
	}
	t.report.expect("each pair is connected, and carries", len(failed) == 0, "%.500s", strings.Join(failed, "; "))
	t.report.expect("whoever can do without a relay does", len(detours) == 0, "%s", strings.Join(detours, ", "))
}

// natDirect reports whether two kinds can do without a relay: one of them can be dialled, or holes can
// be punched at both, in the same way. One that speaks QUIC with all is told by nobody which port its router
// has for TCP.
func natDirect(a, b string) bool {
	if a == publicKind || b == publicKind {
		return true
	}
	punched := map[string]string{"cone": "UDP", "double": "UDP", "IPv6": "UDP of IPv6", "no UDP": "TCP"}
	return punched[a] != "" && punched[a] == punched[b]
}
