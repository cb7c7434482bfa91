package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// doubtedOf counts the leases of a job that run, and those of them that are doubted, by task.
func (p *openPool) doubtedOf(id task.JobID) (leases, doubted int, most int) {
	for _, t := range p.c.table.jobs[id].live {
		n := 0
		for _, l := range t.leases {
			leases++
			if l.doubted {
				n++
			}
		}
		doubted += n
		most = max(most, n)
	}
	return leases, doubted, most
}

// TestIdleClaims: a member that claims a slot and does nothing with what it is given keeps a job
// of an open pool for eight times as long as its tasks take, at least half a minute; where members
// are admitted it is believed. Why says so, and nothing is stopped for it.
func TestIdleClaims(t *testing.T) {
	for name, tt := range map[string]struct {
		rules Rules
		takes time.Duration
		early time.Duration // when nothing is doubted yet
		late  time.Duration // when the job is done
	}{
		"short tasks": {Rules{Open: true}, 2 * time.Second, 29 * time.Second, 60 * time.Second},
		"long tasks":  {Rules{Open: true}, 20 * time.Second, 150 * time.Second, 240 * time.Second},
		"closed":      {Rules{}, 2 * time.Second, 10 * time.Minute, 0},
	} {
		p := newOpenPool(t, tt.rules, 1, 2)
		idle := p.join(2, 0, 1)
		id := p.submit(honestOne, 8, tt.takes, nil)
		p.run(tt.early)
		if p.got[idle.id] == 0 {
			t.Fatalf("%s: the idle member gets nothing", name)
		}
		if _, n, _ := p.doubtedOf(id); n != 0 || p.done[id] != 6 {
			t.Errorf("%s: after %v %d leases are doubted, and %d tasks done", name, tt.early, n, p.done[id])
		}
		if tt.late == 0 {
			continue
		}
		said := false
		for end := p.now.Add(tt.late - tt.early); p.now.Before(end); p.run(time.Second) {
			for i := range uint64(8) {
				said = said || strings.Contains(whys(p.c, id, i), "others run it as well")
			}
		}
		if p.done[id] != 8 || !said {
			t.Errorf("%s: after %v %d of 8 tasks are done; it was said why: %v", name, tt.late, p.done[id], said)
		}
	}
}

// TestFewAreDoubted: of one task no more leases than a few are doubted, however many idle members
// there are: others wait until one of these ends.
func TestFewAreDoubted(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 1)
	first := p.submit(honestOne, 4, time.Second, nil)
	p.run(20 * time.Second)
	if p.done[first] != 4 {
		t.Fatal("the honest member does nothing")
	}
	p.members[0].speed = 0 // which has shown that it does
	for range 8 {
		p.join(1, 0, 1)
	}
	id := p.submit(honestOne, 3, time.Second, nil)
	j := p.c.table.jobs[id]
	j.measure(time.Second)
	for range 60 {
		p.run(10 * time.Second)
		if leases, doubted, most := p.doubtedOf(id); most > maxDoubts || leases > 3*(maxDoubts+1) || doubted > leases {
			t.Fatalf("of one task %d leases are doubted, of %d in all", most, leases)
		}
	}
	for _, lt := range j.live {
		for _, l := range lt.leases {
			if l.host.peer == p.members[0].id && l.doubted {
				t.Error("who has shown that it ends tasks is doubted")
			}
		}
	}
	if _, doubted, _ := p.doubtedOf(id); doubted == 0 {
		t.Error("none is doubted")
	}
}

// TestStandstillIsNotDoubted: the time for which an owner has tasks stand still does not count,
// and where nobody knows how long tasks of a job take none is doubted.
func TestStandstillIsNotDoubted(t *testing.T) {
	for name, tt := range map[string]struct {
		stands, measured bool
		doubted          int
	}{
		"it stands still": {true, true, 0}, "it runs": {false, true, 1}, "it may take long": {false, false, 0},
	} {
		p := newOpenPool(t, Rules{Open: true}, 0, 0)
		m := p.join(1, 0, 1)
		id := p.submit(honestOne, 1, time.Second, func(j *task.Job) { j.Checkpoint.Off = true })
		if tt.measured {
			p.c.table.jobs[id].measure(time.Second)
		}
		say := func() {
			r := message.Report{Epoch: 1, Slots: 1, State: uint8(overlay.Available), Full: true, Born: 1}
			if tt.stands {
				r.Slots, r.State = 0, uint8(overlay.UserPresent)
			}
			for _, l := range m.holds {
				r.Held = append(r.Held, message.Held{Task: l.lease.Task, Attempt: l.lease.Attempt, Running: true})
			}
			p.step(&message.Received{From: m.id, Message: &message.Message{Report: &r}})
		}
		for range 60 {
			p.now = p.now.Add(time.Second)
			say()
		}
		if leases, doubted, _ := p.doubtedOf(id); leases != 1 || doubted != tt.doubted {
			t.Errorf("%s: of %d leases %d are doubted", name, leases, doubted)
		}
	}
}

// TestBooks: whose job it is, who has or had which attempt, and who holds leases now: what a
// member's messages are checked against.
func TestBooks(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 1)
	id := p.submit(honestOne, 3, time.Hour, nil)
	p.run(time.Second)
	_, owner := schedtest.Identity(honestOne)
	_, stranger := schedtest.Identity(66)
	if who, key, ok := p.c.Submitter(id); !ok || who != owner || key != nil {
		t.Errorf("the job is of %q", who)
	}
	if who, _, ok := p.c.Submitter("another"); ok || who != "" {
		t.Errorf("an unknown job is of %q", who)
	}
	l, m := p.members[0].holds[0].lease, p.members[0]
	later := message.Attempt{Epoch: l.Attempt.Epoch, Seq: l.Attempt.Seq + 100}
	other := task.TaskID{Job: "another", Index: l.Task.Index}
	leased := func(id task.TaskID, a message.Attempt, worker task.PeerID) bool {
		_, ok := p.c.Leased(id, a, worker)
		return ok
	}
	check := func(when string) {
		t.Helper()
		if !leased(l.Task, l.Attempt, m.id) {
			t.Errorf("%s: its attempt is not known", when)
		}
		if leased(l.Task, l.Attempt, p.members[1].id) || leased(l.Task, l.Attempt, stranger) ||
			leased(l.Task, later, m.id) || leased(other, l.Attempt, m.id) ||
			leased(task.TaskID{Job: id, Index: 2}, l.Attempt, m.id) {
			t.Errorf("%s: another's attempt is its own", when)
		}
	}
	holders := func() (n int) {
		for range p.c.Holders() {
			n++
		}
		return n
	}
	check("while it runs")
	if n := holders(); n != 2 {
		t.Errorf("%d members hold leases", n)
	}
	for range p.c.Holders() {
		break // who asks may have heard enough
	}
	p.step(message.MemberLost{Peer: m.id, Reason: "gone"})
	p.now = p.now.Add(time.Minute)
	p.step(message.Wake{})
	check("when it was lost")
	if n := holders(); n > 1 {
		t.Errorf("%d members hold leases when one is lost", n)
	}
	if n := p.c.LedgerCounts(); n.Jobs != 1 || n.Rows != len(p.c.ledger.Jobs[id].Rows) || n.Bytes == 0 {
		t.Errorf("the ledger is counted as %+v", n)
	}
}
