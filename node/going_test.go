package node

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"godwit/member"
	"godwit/owner"
	"godwit/owner/sensor"
	"godwit/scheduler/ledger"
	"godwit/trace"
)

// What runs leaves before the hours to work end, and a machine that is drained is
// empty whether or not anybody takes what runs there: that is saved, and goes on when
// somebody does.
func TestWorkLeavesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work = 4 * time.Minute
		begun := time.Now()
		ends := begun.Truncate(time.Minute).Add(3 * time.Minute)
		s := newSwarm(t, 3)
		for _, p := range s.peers {
			p.runner.saves, p.runner.rounds, p.cfg.Cores = true, true, 1
		}
		founder, early, late := s.peers[0], s.peers[1], s.peers[2]
		early.before = func(n *Node) { n.monitor = hoursUntil(t, n, early, begun, ends) }
		_, lab := s.founderAlone()
		s.joinTo(lab, early, founder, early)
		id := founder.submitSaving(lab, 1, work, 20*time.Second)
		if at := s.runsAt(id); at != early {
			t.Fatal("it does not run where the hours end")
		}
		s.joinTo(lab, late, s.peers...)
		<-time.After(90 * time.Second)
		if n := early.status().Tasks; n != 1 {
			t.Fatal("it left long before the hours end")
		}
		s.until("it has left", func() bool { return early.status().Tasks == 0 })
		if now := time.Now(); !now.Before(ends) || ends.Sub(now) > time.Minute {
			t.Errorf("it left %v before the hours end", ends.Sub(now))
		}
		if st := early.status(); st.State != trace.Available || st.Stopped {
			t.Errorf("the hours have ended already: %+v", st)
		}

		if err := late.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.until("nothing is left", func() bool {
			st := late.status()
			return st.Drained && st.Tasks == 0 &&
				len(st.Running) == 0
		})
		<-time.After(10 * time.Second)
		if n := late.status().Tasks; n != 0 {
			t.Errorf("a drained node takes %d tasks", n)
		}
		if err := late.Resume(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := founder.finish(id, 1)[0]
		if log := got.Attempts; len(log) < 3 || log[0].Outcome != ledger.Moved || log[0].MovedTo != late.ID() ||
			log[len(log)-1].Worker != late.ID() {
			t.Errorf("its attempts are %+v", log)
		}
		if took := time.Since(begun); took > work+45*time.Second {
			t.Errorf("%v of work took %v", work, took)
		}
	})
}

// hoursUntil is an owner who lends the machine for hours that end.
func hoursUntil(t *testing.T, n *Node, p *peer, from, until time.Time) *owner.Monitor {
	t.Helper()
	rules, err := owner.Parse("", fmt.Appendf(nil,
		"run_if_user_active: true\nmax_cores_busy: 100%%\nhours: {daily: '%s-%s'}\n", from.Format("15:04"),
		until.Format("15:04")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := owner.NewMonitor(owner.Config{
		Rules: rules, Sensors: []sensor.Sensor{},
		Machine: owner.Machine{Cores: n.cfg.Cores, Memory: totalMemory(), Lent: n.cfg.Memory},
		Stop:    p.runner.Pause, Continue: p.runner.Resume,
		Changed: func(d owner.Decision) { n.post(post{call: func() { n.decided(d) }}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A task that has to go is saved when it is not let in where it is to go: nothing that
// it has done is lost, and its node does not wait.
func TestSavedWhenNotLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work, ran = 3 * time.Minute, time.Minute
		s, lab, _ := handOverSwarm(t)
		founder := s.peers[0]
		id := founder.submitSaving(lab, 1, work, time.Hour)
		from := s.runsAt(id)
		var to *peer
		for _, p := range s.peers[1:] {
			if p != from {
				to = p
			}
		}
		full := make(chan struct{})
		to.serves = func() { <-full }
		<-time.After(ran)
		begun := time.Now()
		from.stop()
		if took := time.Since(begun); took > member.GoodbyeTime+2*member.GoodbyeOrder {
			t.Errorf("its node took %v to leave", took)
		}
		close(full)
		got := founder.finish(id, 1)[0]
		if r := got.Results[0]; len(got.Attempts) < 2 || r.CPU > work-ran+time.Second {
			t.Errorf("it waited %v more after %v of %v: %+v", r.CPU, ran, work, got.Attempts)
		}
	})
}
