package submitter

import (
	"fmt"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// networks is a map that says of each worker what its function does.
type networks func(task.PeerID) string

func (n networks) Network(w task.PeerID) string { return n(w) }
func (n networks) Workers() []task.PeerID       { return nil }
func (n networks) Peers() []task.PeerID         { return nil }

// However well its workers are known, no more of a job is accepted of one network than a fifth, and
// of strangers than three tenths; the rest is run again.
func TestCrowds(t *testing.T) {
	one := func(task.PeerID) string { return "198.51.0.0/16" }
	each := func(w task.PeerID) string { return string(w) }
	none := func(task.PeerID) string { return "" }
	open := credibility.OpenStrangers
	for name, tt := range map[string]struct {
		verify  string
		where   networks
		old     bool
		bounds  credibility.Strangers
		accepts uint64
	}{
		"one network":             {"0.5", one, true, open, 20},
		"one network of new keys": {"0.5", one, false, open, 20},
		"new keys everywhere":     {"0.5", each, false, open, 30},
		"new keys, nowhere":       {"0.5", none, false, open, 30},
		"old keys everywhere":     {"0.5", each, true, open, 100},
		"old keys, nowhere":       {"0.5", none, true, open, 100},
		"members are known":       {"0.5", one, false, credibility.Strangers{}, 100},
		"no bound":                {"0.0001%", one, false, open, 100},
	} {
		const tasks, workers = 100, 10
		b := newAuditBench(t, tasks, tt.verify)
		b.s.cfg.Pool.Least, b.s.cfg.Strangers = 0, tt.bounds
		for i := range uint64(tasks) {
			if i == tasks/2 { // what was counted is counted again
				b.restart()
				b.audits = nil
			}
			b.s.cfg.Where = tt.where
			_, w := schedtest.Identity(2 + int(i%workers))
			if tt.old {
				b.s.audits.credit(w).First = b.now.Add(-credibility.FamiliarAfter)
			}
			b.deliver(i, nil, b.ran(2+int(i%workers), i, truth))
		}
		if c := b.allChecks(); c.Accepted+c.Unchecked != tt.accepts || c.Due != tasks-tt.accepts {
			t.Errorf("%s: %d are accepted and %d due, want %d accepted", name, c.Accepted+c.Unchecked, c.Due, tt.accepts)
		}
	}
}

// A job that names the share of its tasks to be run again has more of a crowd's run again, the more the
// crowd has of it: never most of the job, and of a small one no more than it says.
func TestCrowdsOfShares(t *testing.T) {
	one := func(task.PeerID) string { return "198.51.0.0/16" }
	each := func(w task.PeerID) string { return string(w) }
	const workers = 10
	for name, tt := range map[string]struct {
		verify     string
		where      networks
		old        bool
		tasks      uint64
		from, most uint64
	}{
		"one network":             {"5%", one, true, 1000, 80, 140},   // 11 % expected
		"new keys everywhere":     {"5%", each, false, 1000, 60, 120}, // 9 %
		"old keys everywhere":     {"5%", each, true, 1000, 30, 75},
		"a small job":             {"5%", one, true, 60, 0, 10},
		"half of it at the most":  {"30%", one, true, 400, 120, 200},
		"a bound has all of them": {"1e-3", one, true, 100, 80, 100},
	} {
		b := newAuditBench(t, tt.tasks, tt.verify)
		b.s.cfg.Pool.Least, b.s.cfg.Where = 0, tt.where
		for i := range tt.tasks {
			_, w := schedtest.Identity(2 + int(i%workers))
			c := b.s.audits.credit(w)
			if c.Known, c.At = 1e9, b.now; tt.old {
				c.First = b.now.Add(-credibility.FamiliarAfter)
			}
			b.deliver(i, nil, b.ran(2+int(i%workers), i, truth))
		}
		if c := b.allChecks(); c.Due < tt.from || c.Due > tt.most {
			t.Errorf("%s: %d of %d are run again, want %d to %d", name, c.Due, tt.tasks, tt.from, tt.most)
		}
	}
}

// While every worker is a stranger, more of them is run again.
func TestPriorOfStrangers(t *testing.T) {
	b := newAuditBench(t, 2, "1e-3")
	v := &task.Verify{Wrong: 1_000_000}
	known := credibility.Credit{Known: 30, At: b.now}
	share := func() string {
		b.s.audits.credits["known"] = &known
		return fmt.Sprintf("%.2f", b.s.audits.share(v, "known"))
	}
	if got := share(); got != "0.83" { // 1 - 1e-3 (e 30) .67/.33
		t.Errorf("among strangers the share is %s", got)
	}
	b.deliver(0, nil, b.ran(2, 0, truth))
	b.restart()
	b.now = b.now.Add(credibility.FamiliarAfter - time.Second)
	b.do(message.Wake{})
	if got := share(); got == "0.27" {
		t.Errorf("before a week has passed the share is %s", got)
	}
	b.now = b.now.Add(2 * time.Second)
	b.do(message.Wake{})
	known.At = b.now
	if got := share(); got != "0.27" { // 1 - 1e-3 (e 30) .9/.1
		t.Errorf("after a week it is %s", got)
	}
	b.s.Assume(credibility.InvitedPool, credibility.Strangers{})
	if got := share(); got != "0.01" {
		t.Errorf("where nobody is a stranger it is %s", got)
	}
}
