package sandbox

import (
	"errors"
	"io"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// A parent writes frames to an inbox, one after the other.
type parent struct {
	t  *testing.T
	in *inbox
	w  *io.PipeWriter
	to chan request
}

func newParent(t *testing.T) *parent {
	r, w := io.Pipe()
	p := &parent{t: t, in: newInbox(r), w: w, to: make(chan request, 8)}
	go func() {
		for f := range p.to {
			if err := writeFrame(w, f); err != nil {
				t.Error(err)
			}
		}
		w.Close()
	}()
	return p
}

// run has the inbox's next frame be a run of that name.
func (p *parent) run(name string) frame {
	p.t.Helper()
	f, err := p.in.next()
	if err != nil || f.Run == nil || f.Run.Name != name {
		p.t.Fatalf("got %+v, %v, want a run of %s", f.request, err, name)
	}
	return f
}

// end says nothing more, which the inbox hears.
func (p *parent) end() {
	close(p.to)
	if _, err := p.in.next(); !errors.Is(err, io.EOF) {
		p.t.Errorf("got %v, want the end", err)
	}
}

// A task that goes on is steered; what comes behind the orders is the next task's, and that hears nothing of them.
func TestInboxSteers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		p.to <- request{Run: &runReq{Name: "long"}}
		f := p.run("long")
		over := p.in.during(f)
		p.to <- request{Order: &order{Freeze: true}}
		time.Sleep(aside / 2)
		if f.mail.ordered() {
			t.Error("somebody reads for a task that has just begun")
		}
		time.Sleep(2 * aside)
		if !f.mail.ordered() {
			t.Error("an order is not heard")
		}
		p.to <- request{Order: &order{Enough: true}}
		p.to <- request{Run: &runReq{Name: "next"}}
		synctest.Wait()
		if !f.mail.hasEnough() {
			t.Error("a second order is not heard")
		}
		f.mail.end()
		over()
		g := p.run("next")
		if g.mail == f.mail || g.mail.ordered() || g.mail.hasEnough() {
			t.Error("the next task heard an order of the one before")
		}
		p.in.during(g)()
		p.end()
	})
}

// Short tasks are served without anybody beside, however many there are; an order that comes after its task's end is
// for nobody, and neither is an answer.
func TestInboxOfShortTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		for range 50 {
			p.to <- request{Run: &runReq{Name: "short"}}
			f := p.run("short")
			over := p.in.during(f)
			time.Sleep(aside / 4)
			f.mail.end()
			if over(); p.in.busy {
				t.Fatal("somebody read beside a short task")
			}
			p.to <- request{Order: &order{Freeze: true}}
			p.to <- request{Blocks: []int{1}}
			p.to <- request{Blocks: []int{1}}
		}
		p.to <- request{Run: &runReq{Name: "last"}}
		f := p.run("last")
		if f.mail.ordered() {
			t.Error("a task heard an order of the one before")
		}
		p.in.during(f)()
		time.Sleep(10 * aside) // the watch sleeps, and is woken
		p.to <- request{Run: &runReq{Name: "late"}}
		g := p.run("late")
		over := p.in.during(g)
		p.to <- request{Order: &order{Freeze: true}}
		time.Sleep(3 * aside)
		if !g.mail.ordered() {
			t.Error("an order is not heard after a rest")
		}
		p.to <- request{Run: &runReq{Name: "end"}}
		g.mail.end()
		over()
		p.in.during(p.run("end"))()
		p.end()
	})
}

// A task that cannot begin without its state has somebody read at once.
func TestInboxOfStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		p.to <- request{Run: &runReq{Name: "staged", Staged: true}}
		f := p.run("staged")
		over := p.in.during(f)
		p.to <- request{Stage: &stageReq{Last: true}}
		if s := <-f.mail.stages; s.Stage == nil || !s.Stage.Last {
			t.Errorf("got %+v, want the last stage", s.request)
		}
		p.to <- request{Run: &runReq{Name: "next"}}
		f.mail.end()
		over()
		p.in.during(p.run("next"))()
		p.end()
	})
}

// TestGarbageLies: collections are turned off once, and on again as they were.
func TestGarbageLies(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	var g garbage
	g.collect(0) // nothing lies
	g.letLie(true)
	g.letLie(true)
	if now := debug.SetGCPercent(-1); now != -1 {
		t.Errorf("collections are at %d, want none", now)
	}
	if g.collect(0); g.live == 0 {
		t.Error("nothing was collected")
	}
	g.letLie(false)
	g.letLie(false)
	if now := debug.SetGCPercent(77); now != 77 {
		t.Errorf("collections are at %d, want 77", now)
	}
}
