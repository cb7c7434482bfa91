package node

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

// givePast stores ten days in a peer's store, before its node starts. In each of them it leaves after a time for two
// hours; 0 means that it never leaves.
func (p *peer) givePast(leaves time.Duration) {
	p.s.t.Helper()
	const days = 10
	now := time.Now()
	h := &trace.History{Host: "past"}
	note := func(at time.Time, s trace.State) {
		if err := h.Append(at, s, 1); err != nil {
			p.s.t.Fatal(err)
		}
	}
	for d := range days {
		begin := now.Add(time.Duration(d-days) * 24 * time.Hour)
		note(begin, trace.Available)
		if leaves > 0 {
			note(begin.Add(leaves), trace.UserPresent)
			note(begin.Add(leaves+2*time.Hour), trace.Available)
		}
	}
	h.Extend(now)
	pairs, err := pastPairs(h, p.host.Key)
	if err == nil {
		err = store{p.disk}.commit(context.Background(), pairs)
	}
	if err != nil {
		p.s.t.Fatal(err)
	}
}

// startWithPast starts three nodes that know ten days of themselves, of which the last leaves so long from now on each
// day, and a pool of them whose policies go by TDE.
func startWithPast(t *testing.T, leaves time.Duration, rules OverlayRules) (s *swarm, lab overlay.ID, founder, leaver *peer) {
	s = newSwarm(t, 3)
	for i, p := range s.peers {
		p.runner.saves, p.cfg.Cores = true, 1
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		p.givePast(map[int]time.Duration{2: leaves}[i])
		p.start()
	}
	s.gather(s.peers...)
	rules.Name, rules.Predictor = "lab", "tde"
	founder, leaver = s.peers[0], s.peers[2]
	lab = founder.found(rules)
	for _, p := range s.peers[1:] {
		p.join(string(lab))
	}
	s.gatherIn(lab, s.peers...)
	<-time.After(15 * time.Second) // adverts go round
	return s, lab, founder, leaver
}

// decided are the decisions of all nodes with one of two actions.
func (s *swarm) decided(actions ...string) (out []Decision) {
	for _, p := range s.peers {
		list, err := p.Decisions(context.Background())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, d := range list {
			if d.Overlay == "lab" && slices.Contains(actions, d.Action) {
				out = append(out, d)
			}
		}
	}
	return out
}

// checkNobodyAsked fails if a node keeps the history of another one, which it has only if it asked for it.
func (s *swarm) checkNobodyAsked() {
	s.t.Helper()
	for _, p := range s.peers {
		for _, o := range s.peers {
			kept, err := p.loadSegments(context.Background(), o.ID())
			if err != nil || (len(kept) > 0) != (p == o) {
				s.t.Errorf("%s keeps %d days of %s (%v)", shortPeer(p.ID()), len(kept), shortPeer(o.ID()), err)
			}
		}
	}
}

// A leader places tasks by histories that it knows by gossip alone: none on the member that is away before the task's end
// on each day, and all with a forecast.
func TestPlacementGoesByGossipedPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab, founder, leaver := startWithPast(t, 2*time.Minute, OverlayRules{Placement: "fcfspp:n=6", Migration: "none"})
		id := founder.submitTo(lab, 4, 3*time.Minute) // 2 minutes at their speed
		<-time.After(5 * time.Minute)
		founder.finish(id, 4)
		placed := s.decided("placed")
		if len(placed) != 4 {
			t.Errorf("%d placements", len(placed))
		}
		for _, d := range placed {
			if d.Peer == leaver.ID() || !strings.Contains(d.Reason, "with probability 1, and 1 is asked for") {
				t.Errorf("placed on %s: %s", shortPeer(d.Peer), d.Reason)
			}
		}
		s.checkNobodyAsked()
	})
}

// A task moves before its host leaves, because the leader knows the host's past by gossip, and ends elsewhere without a
// break.
func TestTaskMovesBeforeHostLeavesByGossipedPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const leaves = 4 * time.Minute
		begun := time.Now()
		s, lab, founder, leaver := startWithPast(t, leaves,
			OverlayRules{Placement: "fcfs:order=turn", Migration: "pspp:n=6,p=10m,interval=5s"})
		founder.submitSaving(lab, 2, 45*time.Second, time.Hour) // for a while the others are busy
		<-time.After(5 * time.Second)
		busy := s.decided("placed")
		id := founder.submitSaving(lab, 2, 6*time.Minute, time.Hour)
		if slices.ContainsFunc(busy, func(d Decision) bool { return d.Peer == leaver.ID() }) {
			t.Fatalf("the host that leaves got a short task: %+v", busy)
		}
		<-time.After(leaves - time.Since(begun))
		if err := leaver.Pause(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		<-time.After(4 * time.Minute)
		got := founder.finish(id, 2)
		i := slices.IndexFunc(got, func(r message.TaskSummary) bool { return r.Attempts[0].Worker == leaver.ID() })
		if i < 0 {
			t.Fatalf("no task began on the host that leaves: %+v", got)
		}
		a := got[i].Attempts
		if len(a) != 2 || a[0].Outcome != ledger.Moved || !a[0].End.Before(begun.Add(leaves)) {
			t.Errorf("its attempts are %+v", a)
		}
		if moved := s.decided("moved"); len(moved) != 1 ||
			!strings.Contains(moved[0].Reason, "it stays for 10m0s with probability 0, under 1") {
			t.Errorf("moved: %+v", moved)
		}
		s.checkNobodyAsked()
	})
}

// StorePast writes what a node reads as its own history when it starts.
func TestStorePastIsReadByNode(t *testing.T) {
	dir := t.TempDir()
	h := &trace.History{Host: "past"}
	begin := time.Now().Add(-72 * time.Hour).Truncate(time.Second)
	if err := h.Append(begin, trace.Available, 1); err != nil {
		t.Fatal(err)
	}
	h.Extend(begin.Add(71 * time.Hour))
	if err := StorePast(t.Context(), dir, h); err != nil {
		t.Fatal(err)
	}
	cfg, err := Config{DataDir: dir, Experiment: Experiment{Runner: RunSleep}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	key, data, err := openData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	ps := newPast(newDriver(&core{store: store{data}, key: key, self: task.PeerIDOf(key.Public().(ed25519.PublicKey)), log: cfg.Log}))
	if err := ps.loadPast(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ps.history; !got.Since().Equal(begin) || got.Spell(0).Length() != 71*time.Hour {
		t.Errorf("it reads %d spells from %v", got.Len(), got.Since())
	}
}
