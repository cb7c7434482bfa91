package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/owner/sensor"
	"godwit/scheduler/message"
	"godwit/task"
)

// keepBytes stores so many bytes that no other call keeps.
func (p *peer) keepBytes(seed string, size int) task.CID {
	p.s.t.Helper()
	c, err := p.Blocks().ImportBytes(context.Background(), noise(seed, size))
	if err != nil {
		p.s.t.Fatal(err)
	}
	return c
}

func noise(seed string, size int) []byte {
	sum := sha256.Sum256([]byte(seed))
	return bytes.Repeat(sum[:], size/len(sum))
}

// holds says whether a block is at the node, and leaves its age as it is.
func holds(t *testing.T, n *Node, c task.CID) bool {
	t.Helper()
	_, err := n.Blocks().Get(context.Background(), c)
	if err != nil && !errors.Is(err, blocks.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// What nobody needs goes in time: uploads that no job came for, the content of
// jobs that are over, outputs that their submitter holds, and at the submitter
// what it is told to forget. What a job under way needs stays, and what is new.
func TestCollect(t *testing.T) {
	if raceEnabled {
		t.Skip("hours of three nodes take minutes, and nothing here runs at once that other tests don't run")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 3)
		const big = 4 * task.MaxInline // does not travel in the result
		for i, p := range s.peers {
			p.runner.output = big
			if i > 0 {
				p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
			}
			p.start()
		}
		s.gather(s.peers...)
		leader := s.leading(s.peers[0])
		others := s.others(leader)
		submitter, worker := others[0], others[1]
		upload := submitter.keepBytes("never submitted", big)
		old := submitter.keepBytes("module of a job that ends", big)
		stays := submitter.keepBytes("module of a job that runs", big)
		done := submitter.submitModule(old, 6, time.Second)
		runs := submitter.submitModule(stays, 1, 10*time.Hour)
		var outputs []task.CID
		for _, r := range submitter.finish(done, 6) {
			outputs = append(outputs, r.Results[0].Outputs[0].CID)
		}
		if !holds(t, leader.Node, old) || !holds(t, leader.Node, stays) {
			t.Fatal("the leader does not hold what it accepted")
		}
		time.Sleep(4*time.Hour + collectAge + 15*time.Minute) // workers keep what they gave for so long; grain on top
		fresh := submitter.keepBytes("new", big)
		for _, p := range s.peers {
			if err := collect(t.Context(), p.Node, collectAge); err != nil {
				t.Error(err)
			}
		}
		for _, c := range []struct {
			what string
			at   *peer
			cid  task.CID
			want bool
		}{
			{"an upload", submitter, upload, false},
			{"a new upload", submitter, fresh, true},
			{"the module of an ended job at its submitter", submitter, old, false},
			{"the module of an ended job at the leader", leader, old, false},
			{"the module of a job that runs at its submitter", submitter, stays, true},
			{"the module of a job that runs at the leader", leader, stays, true},
			{"the record of a job that runs at the leader", leader, task.CID(runs), true},
		} {
			if got := holds(t, c.at.Node, c.cid); got != c.want {
				t.Errorf("%s is there: %v", c.what, got)
			}
		}
		for _, c := range outputs {
			if !holds(t, submitter.Node, c) {
				t.Error("a result's output is not at its submitter")
			}
			if holds(t, worker.Node, c) || holds(t, leader.Node, c) {
				t.Error("a delivered result's output is still elsewhere")
			}
		}
		if err := submitter.Forget(t.Context(), runs); !errors.Is(err, ErrRunning) {
			t.Errorf("forgetting a job that runs: %v", err)
		}
		if err := submitter.Forget(t.Context(), done); err != nil {
			t.Error(err)
		}
		if _, err := submitter.Results(t.Context(), done, 0, 1); !errors.Is(err, ErrUnknownJob) {
			t.Errorf("results of a forgotten job: %v", err)
		}
		time.Sleep(10 * time.Second)
		if err := collect(t.Context(), submitter.Node, collectAge); err != nil {
			t.Error(err)
		}
		for _, c := range outputs {
			if holds(t, submitter.Node, c) {
				t.Error("the output of a forgotten result is still there")
			}
		}
	})
}

// submitModule hands in a job with a module of its own.
func (p *peer) submitModule(module task.CID, tasks int, work time.Duration) task.JobID {
	p.s.t.Helper()
	sub := sleepJob(p.s.t, p.Node, tasks, work)
	sub.Module = module
	id, err := p.Submit(context.Background(), sub)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return id
}

// Content that is being fetched stays, however long that takes, and results that
// wait for room on the disk do.
func TestCollectLeavesWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		put := func(seed string) task.CID {
			c, err := l.Blocks().ImportBytes(t.Context(), noise(seed, 1<<20)) // of several blocks
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		fetched, twice, staged := put("fetched"), put("twice"), put("staged")
		sub := sleepJob(t, l.Node, 1, time.Second)
		sub.Module = staged
		rec := l.record(t, testKey(2), sub)
		asks := func(e message.Effect) {
			t.Helper()
			if err := l.do(t.Context(), func() { l.exec.Do(client{l.members[commons]}, e) }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		release := l.content.Hold([]task.CID{fetched, twice})
		again := l.content.Hold([]task.CID{twice})
		asks(message.Prepare{Job: rec.ID()})
		check := func(a, b, c bool) {
			t.Helper()
			if err := collect(t.Context(), l.Node, time.Minute); err != nil {
				t.Error(err)
			}
			if holds(t, l.Node, fetched) != a || holds(t, l.Node, twice) != b || holds(t, l.Node, staged) != c {
				t.Errorf("fetched: %v, fetched twice: %v, staged: %v; want %v, %v, %v",
					holds(t, l.Node, fetched), holds(t, l.Node, twice), holds(t, l.Node, staged), a, b, c)
			}
		}
		time.Sleep(time.Hour)
		check(true, true, true)
		release()
		check(false, true, true)
		again()
		asks(message.Release{Job: rec.ID()})
		check(false, false, false)
		if len(l.content.pins.list()) != 0 {
			t.Errorf("pins are left: %v", l.content.pins.list())
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// A full disk sets off a collection at once.
func TestFullDiskIsSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		l := startLone(t, d, false)
		old, err := l.Blocks().ImportBytes(t.Context(), []byte("an upload that no job came for"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Minute)
		if !holds(t, l.Node, old) {
			t.Error("an upload went before its time")
		}
		d.setHook(func([]string) error { return disk.ErrFull })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.Submit(ctx, sleepJob(t, l.Node, 1, time.Second)); err == nil {
			t.Error("a job is accepted that the disk has no room for")
		}
		d.setHook(nil)
		time.Sleep(time.Minute)
		if holds(t, l.Node, old) {
			t.Error("the disk is full, and what nobody needs is still there")
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestNearCap(t *testing.T) {
	disk := func(bytes float64) []sensor.Reading {
		return []sensor.Reading{{Kind: sensor.Load, Value: 1e12}, {Kind: sensor.Disk, Value: bytes}}
	}
	for _, tt := range []struct {
		readings []sensor.Reading
		most     int64
		want     bool
	}{
		{nil, 100, false}, {disk(89), 100, false}, {disk(90), 100, true}, {disk(1000), 100, true}, {disk(1000), 0, false},
		{[]sensor.Reading{{Kind: sensor.Disk, Value: 1000, Blind: "no such directory"}}, 100, false},
	} {
		if got := nearCap(tt.readings, tt.most); got != tt.want {
			t.Errorf("%+v of %d: %v", tt.readings, tt.most, got)
		}
	}
}

// What a node that ended had staged is removed, and by no node that cannot have
// the directory.
func TestStagedByAnother(t *testing.T) {
	cfg := realConfig(t.TempDir())
	runBriefly(t, cfg)
	left := filepath.Join(cfg.DataDir, "stage", "left")
	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	write(t, left, "of the node that runs")
	if _, err := New(t.Context(), cfg); !errors.Is(err, ErrInUse) {
		t.Errorf("New beside another: %v", err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a node that does not start removes what is staged: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := n.Run(ctx); err != nil {
		t.Error(err)
	}
	runBriefly(t, cfg)
	if _, err := os.Stat(left); err == nil {
		t.Error("what a node that ended had staged is still there")
	}
}

// collect removes what n needs no more, as it does from time to time.
func collect(ctx context.Context, n *Node, age time.Duration) error {
	return collector{n.driver, n.monitor}.collect(ctx, age)
}
