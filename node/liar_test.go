package node

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/scheduler/message"
	"godwit/task"
)

// submitVerified hands in a job of so many tasks, whose results are checked as verify says. If that is "full", its owner
// allows the checks beyond the limit.
func (p *peer) submitVerified(tasks int, work time.Duration, verify string) task.JobID {
	p.s.t.Helper()
	sub := sleepJob(p.s.t, p.Node, tasks, work)
	text := fmt.Sprintf("module: sleep.wasm\nwork: %s\nverify: %s\nsweep:\n  n: {from: 1, to: %d}\n", work, verify, tasks)
	var err error
	if sub.File, err = task.ParseFile("sleep.yaml", []byte(text)); err != nil {
		p.s.t.Fatal(err)
	}
	id, err := p.Submit(context.Background(), sub)
	if err == nil && verify == "full" {
		err = p.CheckMore(context.Background(), id, 0)
	}
	if err != nil {
		p.s.t.Fatal(err)
	}
	return id
}

// settle waits until a job is over with all checked that is to be, and returns its status with all
// tasks.
func (p *peer) settle(id task.JobID) message.JobStatus {
	p.s.t.Helper()
	var st message.JobStatus
	p.s.until("the job is over, and checked", func() bool {
		if !p.ended(id) {
			return false
		}
		var err error
		st, err = p.Job(context.Background(), id, 0, MaxTaskList)
		return err == nil && st.Settled()
	})
	return st
}

// What a worker makes up is found, whoever leads, and nobody but that worker is named; what is
// delivered in the end is right.
func TestLiarIsFound(t *testing.T) {
	for _, liar := range []int{0, 2} { // the first leads
		t.Run(fmt.Sprintf("peer %d lies", liar), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const tasks, output = 24, 2000
				s := newSwarm(t, 4)
				for i, p := range s.peers {
					p.runner.output, p.runner.lies = output, i == liar
					if i > 0 {
						p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
					}
					p.start()
				}
				s.gather(s.peers...)
				p := s.peers[3]
				id := p.submitVerified(tasks, 2*time.Second, "full")
				st := p.settle(id)
				c := st.Checks
				if c.Right == 0 || c.Wrong == 0 || c.Due+c.Open+c.Accepted != 0 || c.Final != tasks || !c.Delivered {
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
					standing := message.StandingFinal
					if w := r.Refuted; w != nil {
						if r.Results[0].Worker == p.ID() { // else it contradicted a right one
							standing = message.StandingReplaced
						}
						if w.By != s.peers[liar].ID() || w.Result.Verify() != nil || w.Result.Receipt == nil {
							t.Errorf("task %d was wrong by %s: %+v", i, w.By, w)
						}
					}
					if got := st.TasksList[i].Standing; got != standing {
						t.Errorf("task %d is %q, want %q", i, got, standing)
					}
				}
				for i, p := range s.peers {
					st, err := p.Status(t.Context())
					told := strings.Contains(strings.Join(st.Notices, "\n"), "found wrong by who submitted")
					if err != nil || told != (i == liar) {
						t.Errorf("the owner of peer %d is told: %v, %v", i, told, err)
					}
				}
			})
		})
	}
}

// The rules of an overlay raise what is checked of a job, also of one with replicas.
func TestFloorOfAnOverlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		id := p.found(OverlayRules{Name: "lab", Verify: "1e-3"})
		if got := p.in(id).Rules.Verify; got != "0.001" {
			t.Errorf("the rules are said to be %q", got)
		}
		sub := sleepJob(t, p.Node, 1, time.Second)
		sub.Overlay = string(id)
		job, err := p.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		_, spec, err := p.Submitted(t.Context(), job)
		if err != nil || spec.Verify.String() != "0.001" || len(spec.Verify.Draw) == 0 {
			t.Errorf("%+v, %v", spec, err)
		}
		sub.File.Replicas = 2
		job, err = p.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		_, spec, err = p.Submitted(t.Context(), job)
		if err != nil || spec.Verify.String() != "0.001" || spec.Replicas != 2 {
			t.Errorf("with replicas %+v, %v", spec, err)
		}
	})
}

// blocksOf reads the one output of a task from the node's own blocks.
func (p *peer) blocksOf(r *message.TaskSummary) ([]byte, error) {
	o := r.Results[0].Outputs[0]
	if len(o.Inline) > 0 {
		return o.Inline, nil
	}
	f, _, err := p.Blocks().Open(context.Background(), o.CID, blocks.Exactly(o.Size))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
