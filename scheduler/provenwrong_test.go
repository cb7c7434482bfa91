package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A worker that is proven wrong loses its leases, of whomever's job, and has no more until the proof is too old.
func TestProvenWrong(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	liar := p.members[0]
	ids := []task.JobID{p.submit(honestOne, 30, 10*time.Second, nil), p.submit(greedyOne, 30, 10*time.Second, nil)}
	p.run(5 * time.Second)
	if p.got[liar.id] == 0 {
		t.Fatal("nothing was placed there")
	}
	proven := message.Proven{Task: task.TaskID{Job: ids[0]}, Worker: liar.id, Why: "a part comes to something else",
		Until: p.now.Add(10 * time.Minute)}
	old := proven
	old.Until = p.now
	p.step(old)
	p.step(message.Proven{Worker: p.c.self, Until: proven.Until})
	if len(liar.holds) == 0 {
		t.Fatal("a proof that is too old took its leases")
	}
	p.step(proven)
	if len(liar.holds) > 0 || p.c.members.idle.has(p.c.members.hosts[liar.id]) {
		t.Fatalf("it holds %d tasks", len(liar.holds))
	}
	why := fmt.Sprint(p.c.Why(ids[0], 29))
	if !strings.Contains(why, "was proven wrong to this leader's node") || !strings.Contains(why, proven.Why) {
		t.Errorf("people are told %s", why)
	}
	had := p.got[liar.id]
	p.run(2 * time.Minute)
	p.step(message.MemberLost{Peer: liar.id, Reason: "test"}) // to go and come back helps nothing
	p.run(3 * time.Minute)
	if p.got[liar.id] != had {
		t.Errorf("it was given %d more", p.got[liar.id]-had)
	}
	p.run(3 * time.Minute)
	if p.done[ids[0]] != 30 || p.done[ids[1]] != 30 {
		t.Errorf("done are %v", p.done)
	}
	p.run(4 * time.Minute)
	other := p.submit(greedyOne, 30, 10*time.Second, nil)
	if p.run(2 * time.Minute); p.got[liar.id] == had || p.done[other] == 0 {
		t.Error("it gets nothing though the proof is too old")
	}
}

// A worker of which a new leader hears nothing but what it runs loses that, too.
func TestProvenWrongBeforeItReports(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	liar := p.members[0]
	_, late := schedtest.Identity(77)
	for _, worker := range []task.PeerID{late, liar.id} {
		p.step(message.Proven{Worker: worker, Until: p.now.Add(time.Hour)})
	}
	p.submit(honestOne, 4, 10*time.Second, nil)
	if p.run(time.Minute); p.got[liar.id] > 0 {
		t.Error("it was given a lease")
	}
	if h := p.c.members.host(late); !h.proven.is() {
		t.Error("who comes later is given leases")
	}
}

// However many are proven wrong, so many are remembered.
func TestProvenWrongIsBounded(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	m := &p.c.members
	for i := range maxProvenWrong + 2 {
		until := p.now.Add(time.Duration(i+1) * time.Hour)
		m.wrong = mapWith(m.wrong, task.PeerID(fmt.Sprint("w", i)), provenWrong{until: until})
	}
	m.thinWrong()
	if _, first := m.wrong["w0"]; len(m.wrong) != maxProvenWrong || first {
		t.Errorf("%d are remembered, the oldest: %v", len(m.wrong), first)
	}
}

func mapWith(m map[task.PeerID]provenWrong, peer task.PeerID, p provenWrong) map[task.PeerID]provenWrong {
	if m == nil {
		m = map[task.PeerID]provenWrong{}
	}
	m[peer] = p
	return m
}
