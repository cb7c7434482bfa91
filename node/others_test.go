package node

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/credibility"
	"godwit/task"
)

// A node that lends nothing has the results of its jobs checked by other members, of which one lies
// to everybody: what is delivered is right, nothing runs at the node, nobody honest is named.
func TestOthersCheckForWhoLendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tasks, output, peers = 12, 1500, 8
		s := newSwarm(t, peers)
		for i, p := range s.peers {
			p.runner.output, p.runner.lies = output, i == 2
			if i > 0 {
				p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
			}
			p.start()
		}
		s.gather(s.peers...)
		p := s.peers[peers-1]
		if err := p.Pause(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute) // it is known to lend nothing
		p.onLoop(t, func() {        // in a pool by invitation, two members that agree suffice
			p.ordered()[0].Submitter().Assume(credibility.InvitedPool, credibility.Strangers{})
		})
		id := p.submitVerified(tasks, 20*time.Second, "full")
		time.Sleep(2 * time.Minute)
		c := p.settle(id).Checks
		if c.Due+c.Right+c.Wrong+c.Open != 0 || c.Accepted != tasks || !c.Delivered {
			t.Errorf("%+v", c)
		}
		results, err := p.Results(t.Context(), id, 0, tasks)
		if err != nil || len(results) != tasks {
			t.Fatal(len(results), err)
		}
		for i := range results {
			r, want := &results[i], noise(task.TaskID{Job: id, Index: uint64(i)}.String(), output)
			if got, err := p.blocksOf(r); err != nil || string(got) != string(want) {
				t.Errorf("task %d is delivered with something else: %v", i, err)
			}
			if r.Refuted != nil || r.Results[0].Worker == p.ID() {
				t.Errorf("task %d: %+v", i, r)
			}
		}
		ran := 0
		for i, o := range s.peers {
			n := 0
			for _, times := range o.runner.started() {
				n += times
			}
			if ran += n; i == peers-1 && n > 0 {
				t.Errorf("%d tasks ran at the node that lends nothing", n)
			}
		}
		if ran < 2*tasks {
			t.Errorf("%d runs of %d tasks, each was to run twice", ran, tasks)
		}
		t.Logf("%d runs of %d tasks", ran, tasks)
	})
}
