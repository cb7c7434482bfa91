package node

import (
	"context"
	"fmt"
	"testing"
	"time"

	"godwit/task"
)

const (
	// benchNodes is how many nodes a benchmark's swarm has: a group, and nobody else.
	benchNodes = 3
	// benchTasks is how many tasks of no work one round has: a second or two.
	benchTasks = 5000
)

// BenchmarkAccepted runs tasks of no work on three nodes of this process, with
// stores on disk and connections over loopback, under one coordinator and under
// three. A task counts when its submitter holds its result; by then it was accepted,
// placed, and its result made durable at all coordinators, at the submitter, and
// acknowledged. wire-B/task is what all nodes received for it, before encryption.
func BenchmarkAccepted(b *testing.B) {
	for _, k := range []int{1, benchNodes} {
		b.Run(fmt.Sprint("coordinators=", k), func(b *testing.B) { benchmarkAccepted(b, k) })
	}
}

func benchmarkAccepted(b *testing.B, coordinators int) {
	nodes := benchSwarm(b, coordinators)
	submitter := nodes[benchNodes-1]
	received := func() (sum int64) {
		for _, n := range nodes {
			sum += n.net.Stats().BytesIn
		}
		return sum
	}
	before := received()
	b.ResetTimer()
	for range b.N {
		id, err := submitter.Submit(b.Context(), benchJob(b, submitter, benchTasks))
		if err != nil {
			b.Fatal(err)
		}
		benchHeld(b, submitter, id)
	}
	b.StopTimer()
	tasks := float64(b.N) * benchTasks
	b.ReportMetric(tasks/b.Elapsed().Seconds(), "tasks/s")
	b.ReportMetric(float64(received()-before)/tasks, "wire-B/task")
}

// benchSwarm starts nodes that serve an overlay of so many coordinators, and waits
// until all of these have its ledger.
func benchSwarm(b *testing.B, coordinators int) []*Node {
	b.Helper()
	var nodes []*Node
	for i := range benchNodes {
		cfg := realConfig(b.TempDir())
		if i > 0 {
			cfg.Bootstrap = nodes[0].Addrs()
		}
		n, err := New(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		b.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				b.Error(err)
			}
		})
		nodes = append(nodes, n)
	}
	d, err := nodes[0].CreateOverlay(b.Context(), OverlayRules{Name: benchOverlay, Coordinators: coordinators})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range nodes[1:] {
		benchUntil(b, "the overlay is joined", func() bool {
			_, err := n.JoinOverlay(b.Context(), string(d.ID), 0)
			return err == nil
		})
	}
	benchUntil(b, "the coordinators have the ledger", func() bool {
		synced := 0
		for _, n := range nodes {
			d, err := n.OverlayDetail(b.Context(), string(d.ID))
			if err != nil || d.Members != benchNodes || d.Leader == "" {
				return false
			}
			if d.Role != RoleMember && d.Synced && len(d.Group) == coordinators { // others are not told of the group
				synced++
			}
		}
		return synced == coordinators
	})
	return nodes
}

const benchOverlay = "bench"

// benchUntil looks again and again until something is so.
func benchUntil(b *testing.B, what string, is func() bool) {
	b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !is(); <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("after a minute it is not so that %s", what)
		}
	}
}

// benchJob is a sweep of tasks of no work.
func benchJob(b *testing.B, n *Node, tasks int) Submission {
	b.Helper()
	f, err := task.ParseFile("bench.yaml", fmt.Appendf(nil,
		"module: noop.wasm\nverify: off\nwork: 0s\nmemory: 1MiB\nsweep:\n  n: {from: 1, to: %d}\n", tasks))
	if err != nil {
		b.Fatal(err)
	}
	module, err := n.Blocks().ImportBytes(b.Context(), []byte("not run"))
	if err != nil {
		b.Fatal(err)
	}
	return Submission{File: f, Module: module, Overlay: benchOverlay}
}

// benchHeld waits until the submitter holds every result of a job.
func benchHeld(b *testing.B, n *Node, id task.JobID) {
	b.Helper()
	w := n.Watch(id)
	defer w.Close()
	for {
		st, err := n.ownJob(b.Context(), id, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		if st.Final {
			if st.Tasks.Done != st.Tasks.Total {
				b.Fatalf("%d of %d tasks are done", st.Tasks.Done, st.Tasks.Total)
			}
			return
		}
		<-w.C
	}
}
