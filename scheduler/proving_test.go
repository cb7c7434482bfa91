package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// TestBoasters: members that claim to be the best machines there are, and do nothing, get all
// tasks where members are believed, and a handful in an open pool.
func TestBoasters(t *testing.T) {
	for name, c := range map[string]struct {
		rules Rules
		least int // tasks that they are given, of 100, some ahead, at least, and at most
		most  int
	}{
		"closed": {Rules{}, 60, 100},
		"open":   {Rules{Open: true}, 0, 4 * startSlots},
	} {
		p := newOpenPool(t, c.rules, 4, 4)
		var boasters []*poolMember
		for range 2 {
			boasters = append(boasters, p.join(overlay.MaxSlots, 0, overlay.MaxSpeed))
		}
		job := p.submit(honestOne, 100, 10*time.Second, func(j *task.Job) { j.Work = 10 * time.Second })
		p.run(4 * time.Minute)
		held := p.got[boasters[0].id] + p.got[boasters[1].id]
		if held < c.least || held > c.most {
			t.Errorf("%s: boasters were given %d of 100 tasks, want %d to %d", name, held, c.least, c.most)
		}
		if c.rules.Open && p.done[job] < 100 {
			t.Errorf("%s: %d of 100 tasks are done", name, p.done[job])
		}
	}
}

// TestSlowStart: a machine of many cores gets them as it shows that it has them, and the reason
// is told; it begins anew with a result that cannot be right.
func TestSlowStart(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 0, 0)
	big := p.join(64, 1, 3)
	h := p.c.members.hosts[big.id]
	job := p.submit(honestOne, 10_000, 10*time.Second, nil)
	seen := map[int]bool{}
	for range 100 {
		seen[h.slots] = true
		if says := whys(p.c, job, 9_999); h.slots < 64 && !strings.Contains(says, "it claims more, and gets them when") {
			t.Fatalf("with %d slots it says %q", h.slots, says)
		}
		p.run(time.Second)
	}
	for _, n := range []int{4, 8, 16, 32, 64} {
		if !seen[n] {
			t.Errorf("it never had %d slots: %v", n, seen)
		}
	}
	if h.slots != 64 || h.speed != 3 {
		t.Errorf("it has %d slots and a speed of %v at last", h.slots, h.speed)
	}
	l := big.holds[0].lease
	p.step(&message.Received{From: big.id, Message: &message.Message{Report: &message.Report{Epoch: 1, Slots: 64,
		State: uint8(overlay.Available), Ended: []message.Ending{{Attempt: l.Attempt,
			Result: task.Result{Task: l.Task, Worker: big.id, Outcome: task.Completed}}}}}}) // not signed
	if h.slots != startSlots || h.speed != startSpeed {
		t.Errorf("after a result that nobody signed it has %d slots and a speed of %v", h.slots, h.speed)
	}
	if err := p.c.Govern(Rules{}); err != nil || h.slots != 64 {
		t.Errorf("in a closed pool it has %d slots: %v", h.slots, err)
	}
}

// TestDoubts: the task of an honest member that takes long is neither stopped nor run elsewhere,
// be it that nobody knows how long those of its job take.
func TestDoubts(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 2, 1)
	long := p.submit(honestOne, 3, 5*time.Minute, nil)
	p.run(4 * time.Minute)
	if n := p.placed[long]; n != 3 { // one of them ahead
		t.Errorf("%d leases of a job that waits behind others of its own, want 3", n)
	}
	if p.run(12 * time.Minute); p.done[long] < 3 || p.lost > 1 {
		t.Errorf("%d of 3 tasks are done, %d were stopped", p.done[long], p.lost)
	}
}
