package node

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/task"
)

// TestEndsForeseen: a job of eight tasks on four slots is foreseen, planned and running, to end
// after two rounds; who cannot run it is told with the reason; and nothing was handed in by
// planning.
func TestEndsForeseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		asks := s.peers[1]
		const work = 10 * time.Minute
		f := &task.File{Work: work, Memory: 1 << 20, Replicas: 1}
		p, err := asks.Plan(t.Context(), f, 8, nil, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Ready) != 2 || p.Slots != 4 || p.Runs != 8 || len(p.Unfit) != 0 {
			t.Errorf("the plan is %+v", p)
		}
		if e := p.Forecast; e.Low > e.Median || e.Median < 600 || e.Median > 7200 || e.High < 1200 {
			t.Errorf("two rounds of %v end as %+v", work, e)
		}
		chain := []task.Outline{{Tasks: 4, Work: work.Seconds()}, {Tasks: 4, Work: work.Seconds(),
			Needs: []task.OutlineNeed{{Stage: 0, From: 1}}}}
		chain = append(chain, task.Outline{Tasks: 1, Work: work.Seconds(), Needs: []task.OutlineNeed{{Stage: 1, From: 1}}})
		one, err := asks.Plan(t.Context(), f, 9, chain, nil, "")
		if e := one.Forecast; err != nil || e.Median < p.Forecast.Median {
			t.Errorf("three stages, one after the other, end as %+v, %v", e, err)
		}
		rest, err := asks.Plan(t.Context(), f, 9, chain, &Takeover{Stages: []uint64{4, 4, 0}}, "")
		if e := rest.Forecast; err != nil || e.Median >= one.Forecast.Median || e.Median < 200 {
			t.Errorf("the last of three stages alone ends as %+v, %v", e, err)
		}
		rest, err = asks.Plan(t.Context(), f, 8, nil, &Takeover{Stages: []uint64{8}}, "")
		if err != nil || rest.Forecast.Median != 0 || rest.Runs != 8 {
			t.Errorf("of what is all taken it is %+v, %v", rest, err)
		}
		f.Memory = 1 << 40
		if p, err = asks.Plan(t.Context(), f, 8, nil, nil, ""); err != nil || len(p.Ready) != 0 || len(p.Unfit) != 1 ||
			!strings.Contains(p.Unfit[0].Reason, "the task may need") || p.Forecast.Reason == "" {
			t.Errorf("too large for all it is %+v, %v", p, err)
		}
		if jobs, err := asks.Jobs(t.Context()); err != nil || len(jobs) != 0 {
			t.Errorf("by planning these were handed in: %+v, %v", jobs, err)
		}
		if _, err := asks.Plan(t.Context(), f, 8, nil, nil, "nowhere"); !errors.Is(err, ErrUnknownOverlay) {
			t.Errorf("of an overlay that is not served: %v", err)
		}

		id := asks.submit(8, 20*time.Second)
		s.until("a task has ended", func() bool {
			st, err := asks.Job(t.Context(), id, 0, 0)
			return err == nil && st.Tasks.Done > 0
		})
		e, err := asks.End(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Left == 0 || e.Left > 7 || e.Rate <= 0 || e.Median <= 0 || e.Low > e.High || e.Reason != "" {
			t.Errorf("of a job of which a round is over: %+v", e)
		}
		if again, err := asks.End(t.Context(), id); err != nil || again.At != e.At {
			t.Errorf("asked again at once it was made anew: %v, %v", again.At, err)
		}
		s.until("the job has ended", func() bool {
			st, err := asks.Job(t.Context(), id, 0, 0)
			return err == nil && st.Final
		})
		time.Sleep(foreseenFor)
		if e, err := asks.End(t.Context(), id); err != nil || e.Left != 0 || e.Median != 0 {
			t.Errorf("of a job that is over: %+v, %v", e, err)
		}
		none := task.JobID("bafyreihfeefuykb42zw7wwmvq6zlgjcl4jrzofcl4jrzofcl4jrzofcl4i")
		if _, err := asks.End(t.Context(), none); !errors.Is(err, ErrUnknownJob) {
			t.Errorf("of a job that is not known: %v", err)
		}
	})
}

// TestLiarsForeseen: adverts whose records and spells cannot be read, and that claim what no
// machine has, are in the way of no forecast.
func TestLiarsForeseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		if err := p.do(t.Context(), func() {
			m := p.ordered()[0]
			for i := range 20 {
				a := overlay.Advert{Peer: task.PeerID([]byte{'l', byte('a' + i)}), Overlay: m.id, Seq: 1,
					Issued: p.now(), Expires: p.now().Add(member.AdvertLife), State: overlay.State(i % 5),
					Slots: overlay.MaxSlots, Memory: 1 << 50, Speed: overlay.MaxSpeed, Record: []byte{1, 2, 3},
					Spells: []byte{255, 255, 255}}
				m.View().Seen(&a)
			}
		}); err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), &task.File{Work: time.Hour, Memory: 1 << 20, Replicas: 1}, 100, nil, nil, "")
		if err != nil || !(plan.Forecast.High >= plan.Forecast.Low) || len(plan.Ready)+len(plan.Unfit) < 2 {
			t.Errorf("among liars it is %+v, %v", plan, err)
		}
	})
}

// A forecast obeys the limits of the job and of the pool's rules.
func TestLesserLimit(t *testing.T) {
	for _, c := range [][3]int{{0, 0, 0}, {3, 0, 3}, {0, 4, 4}, {3, 4, 3}, {4, 3, 3}} {
		if got := lesserLimit(c[0], c[1]); got != c[2] {
			t.Errorf("of %d and %d it is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
