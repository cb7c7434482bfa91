package node

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"
)

// TestPagesWaitForNoDisk: while a commit takes for ever, all that pages ask is answered at once; what was asked for and
// has to last is acknowledged only when it is durable.
func TestPagesWaitForNoDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		over := p.submit(4, time.Second)
		s.until("the job has ended", func() bool {
			st, err := p.Job(t.Context(), over, 0, 0)
			return err == nil && st.Final
		})
		runs := p.submit(40, time.Hour)
		release := make(chan struct{})
		free := sync.OnceFunc(func() { close(release) })
		defer free()
		p.disk.setHook(func([]string) error { <-release; return nil })
		acknowledged := make(chan struct{})
		go func() {
			defer close(acknowledged)
			p.submit(1, time.Second)
		}()
		synctest.Wait() // nothing moves any more
		for name, look := range pageQuestions(p.Node, over, runs) {
			answered := make(chan error, 1)
			go func() { answered <- look(t.Context()) }()
			synctest.Wait()
			select {
			case err := <-answered:
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			default:
				t.Errorf("%s waits for the disk", name)
			}
		}
		select {
		case <-acknowledged:
			t.Error("a job was taken in before it is durable")
		default:
		}
		free()
		p.disk.setHook(nil)
		<-acknowledged
	})
}

// pageQuestions are what pages ask about a node, about a job that is over and about one that runs.
func pageQuestions(n *Node, over, runs task.JobID) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"status":    func(ctx context.Context) error { _, err := n.Status(ctx); return err },
		"glance":    func(ctx context.Context) error { _, err := n.Glance(ctx); return err },
		"near":      func(ctx context.Context) error { _, _, err := n.Near(ctx, 10); return err },
		"own jobs":  func(ctx context.Context) error { _, err := n.OwnJobs(ctx); return err },
		"jobs":      func(ctx context.Context) error { _, err := n.Jobs(ctx); return err },
		"census":    func(ctx context.Context) error { _, err := n.Census(ctx); return err },
		"rosters":   func(ctx context.Context) error { _, err := n.Rosters(ctx, "", 10); return err },
		"members":   func(ctx context.Context) error { _, err := n.Members(ctx, ""); return err },
		"overlays":  func(ctx context.Context) error { _, err := n.Overlays(ctx); return err },
		"grid":      func(ctx context.Context) error { _, err := n.Grid(ctx, runs, 10); return err },
		"grid over": func(ctx context.Context) error { _, err := n.Grid(ctx, over, 10); return err },
		"job":       func(ctx context.Context) error { _, err := n.Job(ctx, runs, 0, 10); return err },
		"job over":  func(ctx context.Context) error { _, err := n.Job(ctx, over, 0, 10); return err },
		"results":   func(ctx context.Context) error { _, err := n.Results(ctx, over, 0, 10); return err },
		"end":       func(ctx context.Context) error { _, err := n.End(ctx, runs); return err },
		"why":       func(ctx context.Context) error { _, err := n.Why(ctx, runs, nil); return err },
		"decisions": func(ctx context.Context) error { _, err := n.Decisions(ctx); return err },
		"records":   func(ctx context.Context) error { _, err := n.Records(ctx, 10); return err },
		"credit":    func(ctx context.Context) error { _, err := n.Credit(ctx, 7); return err },
		"machine":   func(ctx context.Context) error { n.Sense(ctx); return nil },
	}
}
