//go:build unix

package guests

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// A tenancy is a task while it runs on one of the pools that it moves between.
type tenancy struct {
	tb     testing.TB
	save   chan struct{}
	freeze chan struct{}
	stages chan sandbox.Stage

	saved   chan []byte // manifests of checkpoints made on request
	standby chan struct{}
	staged  chan int
	began   chan time.Time
	ended   chan sandbox.Report
}

// moveIn runs a task whose state comes in stages, or from its beginning.
func moveIn(tb testing.TB, p *sandbox.Pool, tk sandbox.Task, stages bool) *tenancy {
	y := &tenancy{tb: tb, save: make(chan struct{}), freeze: make(chan struct{}), saved: make(chan []byte, 1),
		standby: make(chan struct{}), staged: make(chan int, 1), began: make(chan time.Time, 1),
		ended: make(chan sandbox.Report, 1)}
	tk.Save, tk.Freeze = y.save, y.freeze
	tk.OnCheckpoint = func(manifest []byte, _ uint64, _ time.Duration) { y.saved <- manifest }
	tk.OnBegin = func() { y.began <- time.Now() }
	if stages {
		y.stages = make(chan sandbox.Stage)
		tk.Stages, tk.OnStandby, tk.OnStage = y.stages, func() { close(y.standby) }, func(n int) { y.staged <- n }
	}
	go func() {
		rep, err := p.Run(tb.Context(), tk)
		if err != nil {
			tb.Errorf("Run(%s) = %v", tk.Name, err)
		}
		y.ended <- rep
	}()
	return y
}

// round has a checkpoint made while the task runs, and passes it on to where the
// task will be. It is false when the task has ended.
func (y *tenancy) round(next *tenancy) bool {
	select {
	case y.save <- struct{}{}:
	case rep := <-y.ended:
		y.ended <- rep
		return false
	}
	select {
	case manifest := <-y.saved:
		next.stages <- sandbox.Stage{Manifest: manifest}
		<-next.staged
	case rep := <-y.ended:
		y.ended <- rep
		return false
	}
	return true
}

// A moving is what one move cost.
type moving struct{ stop, delta, thaw, whole time.Duration }

// leave has the task, once it is frozen, go on elsewhere. It is false, with the
// report, when the task ended first.
func (y *tenancy) leave(next *tenancy) (m moving, rep sandbox.Report, left bool) {
	since := time.Now()
	rep = <-y.ended
	frozen := time.Now()
	if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 {
		return m, rep, false
	}
	if rep.StateHash != sha256.Sum256(rep.Frozen) {
		y.tb.Errorf("frozen in state %x, which is not its manifest's", rep.StateHash[:4])
	}
	next.stages <- sandbox.Stage{Manifest: rep.Frozen, Last: true}
	at := <-next.began
	m.delta = rep.Checkpoints[len(rep.Checkpoints)-1].Pause
	m.stop, m.thaw, m.whole = frozen.Sub(since)-m.delta, at.Sub(frozen), at.Sub(since)
	return m, rep, true
}

// wander runs a task to its end, and takes it to and fro between two pools, each
// time in as many rounds as there is time for until it has used so much fuel.
func wander(t *testing.T, pools [2]*sandbox.Pool, tk sandbox.Task, at []uint64) sandbox.Report {
	t.Helper()
	tk.Pages, tk.FreezeAtFuel = &sandbox.MemoryStore{}, at[0]
	y := moveIn(t, pools[0], tk, false)
	for k := range at {
		if tk.FreezeAtFuel = 0; k+1 < len(at) {
			tk.FreezeAtFuel = at[k+1]
		}
		next := moveIn(t, pools[(k+1)%2], tk, true)
		<-next.standby
		rounds := 0
		for y.round(next) {
			rounds++
		}
		m, rep, left := y.leave(next)
		if !left {
			close(next.stages)
			<-next.ended
			t.Errorf("it ended before move %d: %v %s %s", k, rep.Outcome, rep.Message, rep.NotFrozen)
			return rep
		}
		t.Logf("move %d: %d rounds, thawed in %v", k, rounds, m.thaw)
		y = next
	}
	return <-y.ended
}

// TestHandOver: programs that move while they run, in rounds of what changed,
// end as if they had not.
func TestHandOver(t *testing.T) {
	for _, c := range []struct {
		name, source string
		args         []string
	}{
		{"c", filepath.Join(freezeDir, "mixed.c"), []string{"5000", "8"}},
		{"go", filepath.Join(benchDir, "main.go"), []string{"words", "60"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tk := newTask(t, "handover", built(t, c.source, nil, false))
			tk.Args = c.args
			pools := [2]*sandbox.Pool{hostPool(t), hostPool(t)}
			want := undisturbed(t, pools[0], tk)
			part := want.Fuel / 4
			got := wander(t, pools, tk, []uint64{part, 2 * part, 3 * part})
			if got.Outcome != want.Outcome || got.Fuel != want.Fuel || got.StateHash != want.StateHash {
				t.Errorf("%v, fuel %d, state %x; want %v, %d, %x", got.Outcome, got.Fuel, got.StateHash[:4],
					want.Outcome, want.Fuel, want.StateHash[:4])
			}
			if !slices.EqualFunc(got.Outputs, want.Outputs,
				func(a, b sandbox.File) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }) {
				t.Errorf("outputs %s, want %s", list(got), list(want))
			}
		})
	}
}

// BenchmarkHandOver measures from the order to freeze a guest, of whose memory
// 1 % changes all the time, until it runs in another process that has the rest:
// until it stands still, until its state is here, until it goes on.
func BenchmarkHandOver(b *testing.B) {
	for _, mib := range []int64{64, 512} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			tk := newTask(b, "memory", built(b, filepath.Join(benchDir, "memory.c"), nil, false))
			store := &sandbox.MemoryStore{}
			tk.Args, tk.StateHash, tk.Pages, tk.Limits.Memory = []string{fmt.Sprint(mib), "10", "2000000000"}, false, store,
				2*mib<<20
			pool := warmPool(b)
			y := moveIn(b, pool, tk, false)
			<-y.began
			for full := false; !full; { // with noise
				next := moveIn(b, pool, tk, true)
				full = y.round(next) && store.Bytes() >= mib<<20
				close(next.stages)
				<-next.ended
			}
			var all [4][]time.Duration
			for b.Loop() {
				next := moveIn(b, pool, tk, true)
				<-next.standby
				for range 2 {
					y.round(next)
				}
				close(y.freeze)
				m, rep, left := y.leave(next)
				if !left {
					b.Fatalf("%v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
				}
				for k, d := range []time.Duration{m.stop, m.delta, m.thaw, m.whole} {
					all[k] = append(all[k], d)
				}
				y = next
			}
			close(y.freeze)
			<-y.ended
			for k, name := range []string{"ms-stop", "ms-delta", "ms-thaw"} {
				slices.Sort(all[k])
				b.ReportMetric(milliseconds(all[k][len(all[k])/2]), name)
			}
			reportQuantiles(b, all[3])
		})
	}
}
