package node

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// crowd is a node that hears of so many members, and submitted so many jobs of a million tasks.
func crowd(t testing.TB, members, jobs int) (*Node, []task.JobID) {
	t.Helper()
	cfg := realConfig(t.TempDir())
	cfg.Cells = overlay.CellRule{Most: 1 << 20, Least: 1 << 19, Join: 1, Ready: 1 << 20}
	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	d, err := n.CreateOverlay(t.Context(), OverlayRules{Name: benchOverlay})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var all []overlay.Advert
	for i := range members {
		_, id := schedtest.Identity(i + 1)
		all = append(all, overlay.Advert{Peer: id, Overlay: overlay.ID(d.ID), Seq: 1, Issued: now,
			Expires: now.Add(time.Hour), State: overlay.State(i % 3), Version: "test"})
	}
	if err := n.do(t.Context(), func() { // at once: who coordinates is drawn anew after each
		for i := range all {
			n.tell(member.Advertised{Advert: &all[i]})
		}
	}); err != nil {
		t.Fatal(err)
	}
	var ids []task.JobID
	for range jobs {
		id, err := n.Submit(t.Context(), crowdJob(t, n))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return n, ids
}

// crowdJob is a sweep of a million tasks that need more than any member has.
func crowdJob(t testing.TB, n *Node) Submission {
	t.Helper()
	f, err := task.ParseFile("crowd.yaml",
		[]byte("module: noop.wasm\nmemory: 4GiB\nsweep:\n  n: {from: 1, to: 1000000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := n.Blocks().ImportBytes(t.Context(), []byte("not run"))
	if err != nil {
		t.Fatal(err)
	}
	return Submission{File: f, Module: module, Overlay: benchOverlay}
}

// looks are what pages ask of a node.
func looks(n *Node, job task.JobID) map[string]func(context.Context) (any, error) {
	const rows = 200
	return map[string]func(context.Context) (any, error){
		"glance":    func(ctx context.Context) (any, error) { return n.Glance(ctx) },
		"near":      func(ctx context.Context) (any, error) { rows, _, err := n.Near(ctx, rows); return rows, err },
		"own jobs":  func(ctx context.Context) (any, error) { jobs, err := n.OwnJobs(ctx); return first(jobs, rows), err },
		"jobs":      func(ctx context.Context) (any, error) { jobs, err := n.Jobs(ctx); return first(jobs, rows), err },
		"census":    func(ctx context.Context) (any, error) { return n.Census(ctx) },
		"rosters":   func(ctx context.Context) (any, error) { return n.Rosters(ctx, benchOverlay, rows) },
		"grid":      func(ctx context.Context) (any, error) { return n.Grid(ctx, job, rows) },
		"why":       func(ctx context.Context) (any, error) { return n.Why(ctx, job, nil) },
		"decisions": func(ctx context.Context) (any, error) { d, err := n.Decisions(ctx); return first(d, rows), err },
		"records":   func(ctx context.Context) (any, error) { r, err := n.Records(ctx, 50); return len(r), err },
	}
}

func first[V any](list []V, most int) []V { return list[:min(len(list), most)] }

// What a page is sent does not grow with the swarm: at most 200 kB of ten thousand members, and of a job of a
// million tasks.
func TestPagesOfACrowd(t *testing.T) {
	const most = 200_000
	members := 10_000
	if raceEnabled {
		members = 1000
	}
	n, ids := crowd(t, members, 1)
	for name, look := range looks(n, ids[0]) {
		v, err := look(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > most && name != "why" { // whose peers a page is not sent
			t.Errorf("%s are %d bytes", name, len(b))
		}
	}
	rosters, err := n.Rosters(t.Context(), "", 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rosters {
		if r.Name != benchOverlay {
			continue
		}
		shown := len(r.Rows)
		for _, d := range r.Dots {
			shown += d.Members
		}
		if r.Members+r.Lost != members+1 || shown != members+1 || len(r.Rows) != 200 || r.Rows[0].Peer != n.ID() ||
			r.States["user-present"] < members/4 { // nobody of them is there, which the node finds out
			t.Errorf("of %d members %d are shown, %d in rows, the first %s; %v %v", r.Members, shown, len(r.Rows),
				r.Rows[0].Peer, r.Beliefs, r.States)
		}
	}
	g, err := n.Grid(t.Context(), ids[0], 200)
	if want := (message.Bin{Waiting: 5000}); err != nil || len(g.Bins) != 200 || g.Bins[7] != want {
		t.Errorf("the grid is %+v, %v", g, err)
	}
	if _, err := n.Grid(t.Context(), ids[0][:len(ids[0])-4]+"aaaa", 3); err == nil {
		t.Error("a job that is not known has a grid")
	}
}

// BenchmarkPages is what pages ask of a node among 10,000 members, with 1,000 jobs of a million tasks.
func BenchmarkPages(b *testing.B) {
	n, ids := crowd(b, 10_000, 1000)
	for name, look := range looks(n, ids[0]) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := look(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
