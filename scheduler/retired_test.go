package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A keeper is a replica on a disk, which a leader lies to.
type keeper struct {
	t    *testing.T
	r    *Replica
	cfg  Config
	self task.PeerID
	now  time.Time
	disk map[string][]byte
	sent []message.Send // of the last step
	said []message.Decided
}

func newKeeper(t *testing.T) *keeper {
	_, self := schedtest.Identity(4)
	cfg := Default()
	cfg.Signed = true
	return &keeper{t: t, r: NewReplica(self, cfg), cfg: cfg, self: self, now: schedtest.Start, disk: map[string][]byte{}}
}

func (k *keeper) step(ev message.Event) {
	k.sent = nil
	k.carry(k.r.Step(k.now, ev))
}

func (k *keeper) carry(effects []message.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case message.Persist:
			if k.disk[e.Key] = e.Value; e.Value == nil {
				delete(k.disk, e.Key)
			}
		case message.Send:
			k.sent = append(k.sent, e)
		case message.Decided:
			k.said = append(k.said, e)
		}
	}
}

func (k *keeper) hear(from task.PeerID, m message.Message) {
	k.step(&message.Received{From: from, Message: &m})
}

// pass lets time pass, with every wake on the way.
func (k *keeper) pass(d time.Duration) {
	var all []message.Send
	for end := k.now.Add(d); ; {
		at, ok := k.r.NextWake()
		if !ok || at.After(end) {
			k.now, k.sent = end, all
			return
		}
		if at.After(k.now) {
			k.now = at
		}
		k.step(message.Wake{})
		all = append(all, k.sent...)
	}
}

func (k *keeper) restart() {
	k.r = NewReplica(k.self, k.cfg)
	effects, err := k.r.Restore(k.disk)
	if err != nil {
		k.t.Fatal(err)
	}
	k.carry(effects)
}

// meets has a leader make a follower of it, or, without follow, tell it to forget. It returns
// of how many jobs the leader was told.
func (k *keeper) meets(leader task.PeerID, epoch uint64, follow bool) (told int) {
	k.step(message.LeaderChanged{Leader: leader, Epoch: epoch})
	for range 10 {
		q := k.r.session.known
		if q == nil {
			break
		}
		told += len(q.Jobs)
		k.hear(leader, message.Message{Wanted: &message.Wanted{Epoch: epoch, Session: q.Session, Seq: q.Seq, Done: q.Last,
			Follow: follow}})
	}
	return told
}

// copies has the leader that it follows give it jobs, each with a result.
func (k *keeper) copies(jobs ...task.Record) {
	workerKey, _ := schedtest.Identity(9)
	c := &message.Copy{Epoch: k.r.epoch, Session: k.r.session.id, Seq: k.r.session.taken + 1}
	for _, rec := range jobs {
		id := task.TaskID{Job: rec.ID(), Index: 1}
		row := &ledger.Row{}
		row.AddResult(message.Attempt{Epoch: 3, Seq: 1}, schedtest.Result(k.t, workerKey, id, "x"))
		c.Pairs = append(c.Pairs, message.Pair{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()},
			message.Pair{Key: ledger.RowKey(id), Value: schedtest.Encoded(k.t, row)})
	}
	k.hear(k.r.leader, message.Message{Copy: c})
}

// numbered are jobs of an owner, n of them.
func numbered(t *testing.T, n int, change func(*task.Job)) (jobs []task.Record) {
	key, _ := schedtest.Identity(1)
	for i := range n {
		jobs = append(jobs, schedtest.Job(t, key, 3, func(j *task.Job) {
			j.Nonce = slices.Repeat([]byte{byte(i)}, 16)
			if change != nil {
				change(j)
			}
		}))
	}
	return jobs
}

// kept counts the jobs whose record and row are on the disk.
func (k *keeper) kept(jobs []task.Record) (n int) {
	for _, rec := range jobs {
		row := ledger.RowKey(task.TaskID{Job: rec.ID(), Index: 1})
		if k.disk[coordinatorPrefix+ledger.JobKey(rec.ID())] != nil && k.disk[coordinatorPrefix+row] != nil {
			n++
		}
	}
	return n
}

// TestLeadersErasesNothing: whatever a leader tells a replica to forget is on its disk still,
// and told to the next leader.
func TestLeadersErasesNothing(t *testing.T) {
	_, honest := schedtest.Identity(5)
	_, liar := schedtest.Identity(66)
	_, next := schedtest.Identity(6)
	for name, order := range map[string]func(k *keeper, jobs []task.Record){
		"to hand over and forget": func(k *keeper, _ []task.Record) { k.meets(liar, 20, false) },
		"time and again": func(k *keeper, _ []task.Record) {
			for n := range uint64(5) {
				k.meets(liar, 20+n, false)
				k.pass(time.Hour)
			}
		},
		"one by one, as gone": func(k *keeper, jobs []task.Record) {
			k.meets(liar, 20, true)
			c := &message.Copy{Epoch: 20, Session: k.r.session.id, Seq: 1}
			for _, rec := range jobs {
				c.Gone = append(c.Gone, rec.ID())
			}
			k.hear(liar, message.Message{Copy: c})
		},
		"as delivered, which nobody signed": func(k *keeper, jobs []task.Record) {
			k.meets(liar, 20, true)
			c := &message.Copy{Epoch: 20, Session: k.r.session.id, Seq: 1}
			for _, rec := range jobs {
				c.Pairs = append(c.Pairs, message.Pair{Key: ledger.FactsKey(rec.ID()),
					Value: schedtest.Encoded(t, &ledger.Facts{Done: ledger.Set{{From: 0, To: 3}}})})
				c.Gone = append(c.Gone, rec.ID())
			}
			k.hear(liar, message.Message{Copy: c})
		},
		"and itself confirms it": func(k *keeper, _ []task.Record) {
			k.step(message.GroupIs{Followers: []task.PeerID{liar, k.self}})
			k.meets(liar, 20, false)
			k.pass(time.Minute)
			for _, s := range k.sent {
				if s.Message.Retired != nil {
					t.Errorf("who told to forget, or itself, is asked: %s", s.To)
				}
			}
			k.hear(liar, message.Message{Kept: &message.Kept{Session: k.r.retired.session, Seq: 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			jobs := numbered(t, 5, nil)
			k.meets(honest, 10, true)
			if k.copies(jobs...); k.kept(jobs) != 5 {
				t.Fatal("no copies came to be")
			}
			order(k, jobs)
			if n := k.kept(jobs); n != 5 || k.r.LedgerCounts().Jobs != 5 {
				t.Errorf("%d of 5 jobs are on the disk, it speaks of %d", n, k.r.LedgerCounts().Jobs)
			}
			k.restart()
			if n := k.meets(next, 40, true); n != 5 || k.r.Digest() != k.r.ledger.Digest() {
				t.Errorf("the next leader is told of %d jobs", n)
			}
			for key := range k.disk {
				if strings.HasPrefix(key, retiredKey) {
					t.Errorf("%s is left of what a leader has it keep", key)
				}
			}
		})
	}
}

// TestRetiredUntil: a copy is forgotten when another of the group has it, or later; when its
// submitter signed that it is over; and when its deadline is long past.
func TestRetiredUntil(t *testing.T) {
	key, _ := schedtest.Identity(1)
	_, leader := schedtest.Identity(5)
	_, other := schedtest.Identity(6)
	copyOf := func(t *testing.T, jobs []task.Record) *keeper {
		k := newKeeper(t)
		k.meets(leader, 10, true)
		k.copies(jobs...)
		return k
	}
	facts := func(k *keeper, rec task.Record, f *ledger.Facts) {
		k.hear(leader, message.Message{Copy: &message.Copy{Epoch: 10, Session: k.r.session.id, Seq: k.r.session.taken + 1,
			Pairs: []message.Pair{{Key: ledger.FactsKey(rec.ID()), Value: schedtest.Encoded(t, f)}}}})
	}
	for name, tt := range map[string]struct {
		// change what a follower has, of which asked is the copy; nil for none that answers
		follower func(t *testing.T, k *keeper, jobs []task.Record)
		before   func(k *keeper, jobs []task.Record)
		deadline time.Duration
		after    time.Duration
		want     int
	}{
		"nobody answers": {after: time.Hour, want: 3},
		"another has it": {follower: func(*testing.T, *keeper, []task.Record) {}, after: time.Hour, want: 0},
		"another has less": {follower: func(_ *testing.T, k *keeper, jobs []task.Record) {
			k.r.readAll()
			delete(k.r.ledger.Jobs[jobs[0].ID()].Rows, 1)
			delete(k.r.ledger.Jobs, jobs[2].ID())
		}, after: time.Hour, want: 2},
		"another has more": {follower: func(t *testing.T, k *keeper, jobs []task.Record) {
			facts(k, jobs[0], said(t, jobs[0].ID(), 1, 0, ledger.Set{{From: 1, To: 2}}))
			workerKey, _ := schedtest.Identity(8)
			id := task.TaskID{Job: jobs[1].ID(), Index: 2}
			k.r.ledger.Jobs[jobs[1].ID()].Row(2).AddResult(message.Attempt{Epoch: 4, Seq: 1},
				schedtest.Result(t, workerKey, id, "y"))
		}, after: time.Hour, want: 0},
		"another was told to forget it": {follower: func(_ *testing.T, k *keeper, jobs []task.Record) {
			k.hear(leader, message.Message{Copy: &message.Copy{Epoch: 10, Session: k.r.session.id, Seq: k.r.session.taken + 1,
				Gone: []task.JobID{jobs[0].ID()}}})
		}, after: time.Hour, want: 1},
		"over by signature": {before: func(k *keeper, jobs []task.Record) {
			facts(k, jobs[0], &ledger.Facts{Cancel: task.SignCancel(jobs[0].ID(), key)})
			facts(k, jobs[1], said(t, jobs[1].ID(), 1, 0, ledger.Set{{From: 0, To: 3}}))
		}, want: 1},
		"deadline passed":       {deadline: time.Hour, after: 24 * time.Hour, want: 3},
		"deadline long past":    {deadline: time.Hour, after: retiredLife + 2*time.Hour, want: 0},
		"long, but no deadline": {after: 5 * retiredLife, want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := numbered(t, 3, func(j *task.Job) { j.Deadline = tt.deadline })
			k := copyOf(t, jobs)
			k.step(message.GroupIs{Followers: []task.PeerID{other}})
			if tt.before != nil {
				tt.before(k, jobs)
			}
			var o *keeper
			if tt.follower != nil {
				o = copyOf(t, jobs)
				tt.follower(t, o, jobs)
			}
			k.meets(leader, 11, false)
			for end := k.now.Add(tt.after); k.now.Before(end); {
				k.pass(min(end.Sub(k.now), k.now.Add(askFirst).Sub(k.now)))
				for n := 0; o != nil && n < 10 && len(k.sent) > 0; n++ {
					q := k.sent[0]
					k.sent = nil
					if q.Message.Retired == nil || q.To != other {
						continue
					}
					o.hear(k.self, q.Message)
					for _, a := range o.sent {
						k.hear(other, a.Message)
					}
				}
			}
			if n := len(k.r.ledger.Jobs); n != tt.want || tt.before == nil && k.kept(jobs) != tt.want {
				t.Errorf("%d jobs are kept, %d on the disk, want %d: %+v", n, k.kept(jobs), tt.want, k.said)
			}
		})
	}
}

// TestRetiredIsBounded: copies that nobody confirms take no more than they may; what came
// first stays, but for what is over; and what goes is told.
func TestRetiredIsBounded(t *testing.T) {
	_, leader := schedtest.Identity(5)
	k := newKeeper(t)
	k.r.cfg.MaxJobs = 2 // of which two sides have 4
	jobs := numbered(t, 8, nil)
	for n, rec := range jobs {
		k.meets(leader, uint64(10+2*n), true)
		k.copies(rec)
		if n == 1 {
			k.r.ledger.Jobs[rec.ID()].Facts.Expired = true
		}
		k.now = k.now.Add(time.Second)
		k.hear(leader, message.Message{Copy: &message.Copy{Epoch: k.r.epoch, Session: k.r.session.id,
			Seq: k.r.session.taken + 1, Gone: slices.Collect(maps.Keys(k.r.ledger.Jobs))}})
	}
	want := []task.JobID{jobs[0].ID(), jobs[2].ID(), jobs[3].ID(), jobs[4].ID()}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(k.r.ledger.Jobs)); !slices.Equal(got, want) {
		t.Errorf("kept are %v, want %v", got, want)
	}
	told := 0
	for _, d := range k.said {
		if d.Action == "forgotten" && strings.Contains(d.Reason, "nobody else has confirmed") {
			told++
		}
	}
	if told != 4 {
		t.Errorf("%d of 4 that went are told: %v", told, fmt.Sprint(k.said))
	}
}
