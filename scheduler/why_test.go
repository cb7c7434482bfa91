package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/learning"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/share"
	"godwit/task"
)

// waitingAt is a coordinator with a job of two tasks that wait and one member that is idle.
func waitingAt(t *testing.T) (*Coordinator, *job, *host) {
	c, _, worker, _ := school(t, 2, false)
	for _, j := range c.table.jobs {
		return c, j, c.members.hosts[worker]
	}
	t.Fatal("there is no job")
	return nil, nil, nil
}

// Of a member that gets nothing the first thing is told that must change before it does:
// each case leaves standing all that would be told after it.
func TestWhyNotOnAMember(t *testing.T) {
	steps := []struct {
		reason string
		change func(j *job, h *host)
	}{
		{"the member is free: older or more urgent work", func(*job, *host) {}},
		{"the member gets nothing more of this sweep for now", func(j *job, h *host) {
			h.portions = map[*job]*portion{j: {parked: true}}
		}},
		{"every slot of the member is in use", func(_ *job, h *host) { h.load = h.slots }},
		{"for a moment the member gets nothing of this class", func(j *job, h *host) {
			h.shunned = map[*learning.Class]time.Time{j.class: {}}
		}},
		{"for a moment the member gets nothing of this job: it spoiled one", func(j *job, h *host) {
			h.paused = map[*job]pause{j: {why: "it spoiled one"}}
		}},
		{"the member runs or ran the task already", func(j *job, h *host) {
			j.spec.Replicas = 2
			j.row(0).AddResult(message.Attempt{Seq: 1}, task.Result{Worker: h.peer, Outcome: task.Completed})
		}},
		{"the member lends 1MiB of memory, the task may need 2MiB", func(j *job, h *host) {
			h.memory, j.spec.Memory = 1<<20, 2<<20
		}},
		{"the member lends no slot", func(_ *job, h *host) { h.slots = 0 }},
		{"the member is " + overlay.UserPresent.String(), func(_ *job, h *host) { h.state = overlay.UserPresent }},
		{"the member has not reported to this leader yet", func(_ *job, h *host) { h.reported = false }},
		{"the connection to the member is lost", func(_ *job, h *host) { h.lost = time.Unix(1, 0) }},
		{"no advert of the member was seen", func(_ *job, h *host) { h.member = false }},
	}
	_, j, h := waitingAt(t)
	for _, step := range steps {
		step.change(j, h)
		if got := j.whyNotOn(h, j.spec.Memory, j.workersOf(0), nil); !strings.HasPrefix(got, step.reason) {
			t.Errorf("it is said that %q, want %q", got, step.reason)
		}
	}
}

// What holds for all members is told instead of each of them.
func TestWhyNothingIsPlaced(t *testing.T) {
	for reason, change := range map[string]func(c *Coordinator, j *job){
		"the leader has just started":  func(c *Coordinator, _ *job) { c.term.recovering = true },
		"the overlay has no member":    func(c *Coordinator, _ *job) { clear(c.members.hosts) },
		"the leader is fetching the":   func(_ *Coordinator, j *job) { j.state = jobFetching },
		"not its turn: others first":   func(_ *Coordinator, j *job) { j.claim.said = share.Because("others first") },
		"the member is free: older or": func(*Coordinator, *job) {},
	} {
		c, j, _ := waitingAt(t)
		change(c, j)
		if got := c.Why(j.id, 0); len(got) == 0 || !strings.HasPrefix(got[0].Reason, reason) {
			t.Errorf("it is said that %+v, want %q", got, reason)
		}
	}
}

// Members with the same reason are told of together, most of them first, and last how the
// attempt before ended.
func TestWhyGroupsMembers(t *testing.T) {
	c, j, h := waitingAt(t)
	for _, name := range []task.PeerID{"z", "y"} {
		c.members.hosts[name] = &host{peer: name, member: true, reported: true, state: overlay.UserPresent}
	}
	j.claim.said, j.claim.got = share.Because("a part of all"), true
	j.row(0).Note(message.AttemptLog{Attempt: message.Attempt{Seq: 1}, Worker: h.peer, Outcome: "lost",
		Reason: "it is gone"})
	got := c.Why(j.id, 0)
	if len(got) != 4 {
		t.Fatalf("it is said that %+v", got)
	}
	if len(got[0].Peers) != 2 || got[0].Peers[0] != "y" || got[0].Peers[1] != "z" || len(got[1].Peers) != 1 {
		t.Errorf("two members are busy and one is free: %+v", got[:2])
	}
	if got[2].Reason != "its turn was: a part of all" {
		t.Errorf("of its turn it is said that %q", got[2].Reason)
	}
	if got[3].Reason != "its last attempt ended as lost: it is gone" || got[3].Peers[0] != h.peer {
		t.Errorf("of the attempt before it is said that %+v", got[3])
	}
	if c.Why(j.id, j.total) != nil || c.Why("another", 0) != nil {
		t.Error("something is said of a task that there is not")
	}
}

// Of a task that runs it is told where, where to it moves, what the member was given at once,
// why it stays, and how many more must run it.
func TestWhyRunning(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(l *lease)
		want   []string
	}{
		{"placed", func(*lease) {}, []string{"placed: "}},
		{"runs", func(l *lease) { l.take(leasing.Starts) }, []string{"next in order"}},
		{"its outputs are fetched", func(l *lease) { l.take(leasing.Fetches) },
			[]string{"it has run; its outputs are being"}},
		{"moves", func(l *lease) {
			l.move = &move{to: &host{peer: "there"}, why: "its machine goes", there: "it is idle"}
		}, []string{"placed: ", "it is moving there: its machine goes; it is idle"}},
		{"of a chunk", func(l *lease) { l.portion = &portion{given: 7} },
			[]string{"placed: ", "the member was given 7 tasks at once"}},
		{"of a chunk of one", func(l *lease) { l.portion = &portion{given: 1} }, []string{"placed: "}},
		{"stays", func(l *lease) { l.stay.why = "there is no place" }, []string{"placed: ", "there is no place"}},
		{"needs another", func(l *lease) { l.job.spec.Replicas = 2 },
			[]string{"placed: ", "1 more distinct members must run it, so that 2 agree", "the member runs or ran the task"}},
	} {
		c, _, worker, _ := school(t, 1, true)
		l := c.members.hosts[worker].leases[0]
		tt.change(l)
		got := c.Why(l.job.id, 0)
		if len(got) != len(tt.want) {
			t.Errorf("%s: it is said that %+v, want %q", tt.name, got, tt.want)
			continue
		}
		for k, want := range tt.want {
			if !strings.HasPrefix(got[k].Reason, want) {
				t.Errorf("%s: it is said that %q, want %q", tt.name, got[k].Reason, want)
			}
		}
	}
}

// Of a task that has ended it is told whose results agreed, or what became of its job; the
// most telling first.
func TestWhyEnded(t *testing.T) {
	trapped := task.Result{Worker: "w", Outcome: task.Trapped, Message: "it trapped"}
	for _, tt := range []struct {
		name   string
		change func(j *job)
		want   string
	}{
		{"done", func(j *job) { j.ledger.Facts.Done.Add(0) }, "done"},
		{"failed, its story delivered", func(j *job) { j.ledger.Facts.Failed.Add(0); j.state = jobOver },
			"it failed; its story is with the submitter"},
		{"cancelled", func(j *job) { j.ledger.Facts.Cancel, j.state = []byte{1}, jobOver }, message.DropCancelled},
		{"expired", func(j *job) { j.ledger.Facts.Expired, j.state = true, jobOver }, message.DropExpired},
		{"failed", func(j *job) {
			for seq := range uint64(5) {
				j.row(0).AddResult(message.Attempt{Seq: seq + 1}, trapped)
			}
			j.ledger.Facts.Expired = true // what came of the task tells more
		}, ""},
	} {
		c, j, _ := waitingAt(t)
		tt.change(j)
		want := tt.want
		if want == "" {
			if want = j.ledger.Rows[0].Why(j.ledger.Rule()); want == "" || j.ledger.Verdict(0) != ledger.Failed {
				t.Fatalf("%s: the row says nothing", tt.name)
			}
		}
		if got := c.Why(j.id, 0); len(got) != 1 || got[0].Reason != want {
			t.Errorf("%s: it is said that %+v, want %q", tt.name, got, want)
		}
	}
}

// A job is listed with as many tasks as are asked for, of those that anything is known of.
func TestPagesOfTasks(t *testing.T) {
	c, j, h := waitingAt(t)
	for i := range uint64(2) {
		j.row(i).Note(message.AttemptLog{Attempt: message.Attempt{Seq: i + 1}, Worker: h.peer, Outcome: "lost"})
	}
	for _, tt := range []struct {
		page  message.Page
		first uint64
		tasks int
	}{
		{message.Page{}, 0, 0}, {message.Page{Limit: -1}, 0, 0}, {message.Page{Limit: 1}, 0, 1},
		{message.Page{From: 1, Limit: 9}, 1, 1}, {message.Page{Limit: 9}, 0, 2}, {message.Page{From: 7, Limit: 9}, 0, 0},
	} {
		st, ok := c.Job(j.id, tt.page)
		if !ok || len(st.TasksList) != tt.tasks || tt.tasks > 0 && st.TasksList[0].Index != tt.first {
			t.Errorf("page %+v lists %+v", tt.page, st.TasksList)
		}
	}
	if len(c.Jobs()) != 1 {
		t.Errorf("%d jobs", len(c.Jobs()))
	}
	j.state = jobFetching
	if _, ok := c.Job(j.id, message.Page{}); ok {
		t.Error("a job whose files are not here yet is told of")
	}
}

// Members are counted once, slots of those alone that may be given tasks.
func TestHostCounts(t *testing.T) {
	c, _, h := waitingAt(t)
	if got, want := c.Hosts(), (Hosts{Members: 1, Eligible: 1, Idle: 1, Slots: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	h.state = overlay.Leaving
	c.members.hosts["stranger"] = &host{peer: "stranger", slots: 4}
	if got := c.Hosts(); got.Members != 1 || got.Eligible != 0 || got.Slots != 0 {
		t.Errorf("%+v of a member that goes and a stranger", got)
	}
}
