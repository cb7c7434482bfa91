package node

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"godwit/trace"
)

// crowd is a node that hears of so many members, and submitted so many jobs of a million tasks.
func crowd(t testing.TB, members, jobs int) (*Node, []task.JobID) {
	t.Helper()
	cfg := realConfig(t.TempDir())
	cfg.Memory = 1 << 30 // less than a task of crowdJob needs
	cfg.Cells = overlay.CellRule{Most: 1 << 20, Least: 1 << 19, Join: 1, Ready: 1 << 20}
	n := running(t, cfg)
	// In an open pool nobody may have so many jobs.
	d, err := n.CreateOverlay(t.Context(), OverlayRules{Name: benchOverlay, Admission: AdmitInvited})
	if err != nil {
		t.Fatal(err)
	}
	text, err := n.Invite(t.Context(), string(d.ID), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := overlay.ParseTicket(text)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	told := comesAndGoes(t, now)
	var all []overlay.Advert
	for i := range members {
		_, id := schedtest.Identity(i + 1)
		pass, err := ticket.Pass(id)
		if err != nil {
			t.Fatal(err)
		}
		a := overlay.Advert{Peer: id, Overlay: overlay.ID(d.ID), Pass: pass, Seq: 1, Issued: now, Expires: now.Add(time.Hour),
			State: overlay.State(i % 3), Version: "test", Slots: 1, Memory: 1 << 30, Speed: 1, Record: told}
		if a.State != overlay.Available {
			a.Memory = 8 << 30 // jobs of the crowd wait for it, so that there is an end to forecast
		}
		all = append(all, a)
	}
	if err := n.do(t.Context(), func() { // at once: who coordinates is drawn anew after each
		for i := range all {
			n.tell(member.Advertised{Advert: &all[i]})
		}
	}); err != nil {
		t.Fatal(err)
	}
	return n, handIn(t, n, jobs)
}

// comesAndGoes is the record of a member that was there for 40 minutes of every hour.
func comesAndGoes(t testing.TB, now time.Time) []byte {
	t.Helper()
	r := predictor.NewRecorder(&predictor.Pool{})
	for at := now.Add(-72 * time.Hour); at.Before(now); at = at.Add(time.Hour) {
		r.Observe(at, trace.Unavailable)
		r.Observe(at.Add(20*time.Minute), trace.Available)
	}
	r.Tick(now)
	rec := r.Record()
	b, err := rec.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// handIn hands in so many jobs, many at a time: those share the store's commits.
func handIn(t testing.TB, n *Node, jobs int) []task.JobID {
	t.Helper()
	const atOnce = 32
	ids, errs := make([]task.JobID, jobs), make([]error, jobs)
	job := crowdJob(t, n)
	var group sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i := range jobs {
		turns <- struct{}{}
		group.Go(func() {
			ids[i], errs[i] = n.Submit(t.Context(), job)
			<-turns
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return ids
}

// running is a real node that runs until the test ends.
func running(t testing.TB, cfg Config) *Node {
	t.Helper()
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
	return n
}

// crowdJob is a sweep of a million tasks that need more than any member has.
func crowdJob(t testing.TB, n *Node) Submission {
	t.Helper()
	f, err := task.ParseFile("crowd.yaml",
		[]byte("module: noop.wasm\nmemory: 4GiB\nwork: 10m\nsweep:\n  n: {from: 1, to: 1000000}\n"))
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
		"job":       func(ctx context.Context) (any, error) { return n.Job(ctx, job, 0, 0) },
		"task":      func(ctx context.Context) (any, error) { return n.Job(ctx, job, 500_000, 1) },
		"drawn":     func(ctx context.Context) (any, error) { return n.Job(ctx, job, 0, 1000) },
		"end":       func(ctx context.Context) (any, error) { return n.foresee(ctx, job) },
		"machine":   func(ctx context.Context) (any, error) { return n.Sense(ctx), nil },
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
		if len(b) > most {
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

// processorTime is what this process has used of processors.
func processorTime(b *testing.B) time.Duration {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		b.Fatal(err)
	}
	used, err := p.Times()
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration((used.User + used.System) * float64(time.Second))
}

// BenchmarkPages is what pages ask of a node among 10,000 members, with 1,000 jobs of a million tasks.
func BenchmarkPages(b *testing.B) {
	n, ids := crowd(b, 10_000, 1000)
	for name, look := range looks(n, ids[0]) {
		b.Run(name, func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				if _, err := look(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			took := processorTime(b) - before // beside other work it says more than the time that passes
			b.ReportMetric(float64(took)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
		})
	}
}
