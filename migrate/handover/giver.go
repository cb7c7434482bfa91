package handover

import (
	"fmt"
	"time"

	"godwit/task"
)

// An Order is what a Giver is to do.
type Order struct {
	Overlay string
	Task    task.TaskID
	From    Attempt // that runs here
	As      Attempt // what it becomes there
	Urgent  bool    // no pre-copy: the guest stands still already, or must soon
}

// phase says what a Giver waits for.
type phase int

const (
	waiting    phase = iota // for Begin
	dialling                // for Dialled
	pausing                 // until the next Dial
	opening                 // for Welcome or Refuse
	saving                  // for Saved
	sending                 // for Sent of a round
	answering               // for Got
	freezing                // for Frozen
	finishing               // for Sent of the Final
	confirming              // for Resumed
	stopping                // for Frozen, when nothing will be sent any more
	over
)

// A Giver is the source's side of one hand-over.
type Giver struct {
	cfg   Config
	order Order
	phase phase
	out   []Effect  // of the Step under way
	now   time.Time // of it

	begun  time.Time
	until  time.Time // when the phase has taken too long
	late   string    // what is said then
	stream int       // the newest Dial
	pause  time.Duration

	round   int       // the newest that was sent, or is being sent
	got     bool      // it was answered, perhaps before Sent
	saved   time.Time // when its checkpoint was asked for
	asked   time.Time // when the newest checkpoint was asked for
	sent    time.Time // when its sending began
	unsent  int64     // bytes that were new with checkpoints nobody asked for, since the newest round's
	pace    pace
	why     string    // what led to the freeze
	froze   time.Time // when the freeze was asked for
	hash    Hash      // of the frozen state
	resumed bool      // the guest runs there
	failure string    // why it is stopping
	stats   Stats
}

// NewGiver returns a machine that waits for Begin.
func NewGiver(cfg Config, o Order) *Giver {
	return &Giver{cfg: cfg, order: o, pause: cfg.DialFirst, pace: pace{share: 1}}
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (g *Giver) Step(now time.Time, ev Event) []Effect {
	g.now, g.out = now, nil
	if g.phase != over {
		g.take(ev)
	}
	if g.phase != over && g.phase != waiting {
		g.expire()
	}
	out := g.out
	g.out = nil
	return out
}

// NextWake returns when Step wants a Wake; false after Finish and before Begin.
func (g *Giver) NextWake() (time.Time, bool) {
	if g.phase == over || g.phase == waiting {
		return time.Time{}, false
	}
	return earlier(g.until, g.begun.Add(g.cfg.Total)), true
}

// earlier returns the first of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (g *Giver) do(e Effect) { g.out = append(g.out, e) }

// enter begins to wait for something, for at most d.
func (g *Giver) enter(p phase, d time.Duration, late string) {
	g.phase, g.until, g.late = p, g.now.Add(d), late
}

func (g *Giver) take(ev Event) {
	switch ev := ev.(type) {
	case Begin:
		if g.phase == waiting {
			g.begun = g.now
			g.dial()
		}
	case Dialled:
		if g.phase == dialling && ev.Stream == g.stream {
			g.open()
		}
	case Broken:
		if ev.Stream == g.stream {
			g.broke(ev.Reason)
		}
	case Received:
		if ev.Stream == g.stream {
			g.hear(ev.Frame)
		}
	case Moved:
		g.lives()
	case Sent:
		if ev.Stream == g.stream {
			g.wrote(ev)
		}
	case Hurry:
		g.hurry(ev.Reason)
	case Cancel:
		g.fail(ev.Reason)
	default:
		g.guest(ev)
	}
}

// guest takes what the sandbox says.
func (g *Giver) guest(ev Event) {
	switch ev := ev.(type) {
	case Saved:
		g.checkpointed("", ev.Bytes)
	case NotSaved:
		g.checkpointed("it could not be saved while it runs: "+ev.Reason, 0)
	case Frozen:
		g.stands(ev.Hash)
	case NotFrozen:
		if g.phase == freezing || g.phase == stopping {
			g.end(Stays, "it could not be frozen: "+ev.Reason)
		}
	case Ended:
		if g.phase <= freezing || g.phase == stopping {
			g.end(Over, "the task has ended by itself: "+ev.Reason)
		}
	}
}

// hear takes a frame of the destination.
func (g *Giver) hear(f Frame) {
	switch f := f.(type) {
	case Welcome:
		if g.phase == opening {
			g.welcomed()
			return
		}
	case Refuse:
		if g.phase == opening {
			g.refused(f)
			return
		}
	case Got:
		if f.N == g.round && g.round > 0 {
			g.answered()
			return
		}
	case Taking:
		g.lives()
		return
	case Resumed:
		if g.phase == finishing || g.phase == confirming {
			g.confirm(f.Hash)
			return
		}
	case Failed:
		g.fail("the destination gave up: " + f.Reason)
		return
	}
	g.fail(fmt.Sprintf("the destination said something out of turn (%T)", f))
}

// lives notes that bytes move.
func (g *Giver) lives() {
	switch g.phase {
	case saving, freezing:
		g.until = g.now.Add(g.cfg.SaveTime)
	case sending, finishing:
		g.until = g.now.Add(g.cfg.StallTime)
	case answering:
		g.until = g.now.Add(g.cfg.AnswerTime)
	case confirming:
		g.until = g.now.Add(g.cfg.ConfirmTime)
	}
}

// expire looks at the bounds.
func (g *Giver) expire() {
	switch {
	case !g.now.Before(g.begun.Add(g.cfg.Total)):
		g.timedOut(fmt.Sprintf("it was not done after %v", g.cfg.Total))
	case g.now.Before(g.until):
	case g.phase == pausing && g.now.Before(g.begun.Add(g.cfg.DialTime)):
		g.dial()
	default:
		g.timedOut(g.late)
	}
}

// timedOut is fail, without waiting for a sandbox that does not answer either.
func (g *Giver) timedOut(reason string) {
	if g.phase == freezing || g.phase == stopping {
		g.end(Stopped, reason)
		return
	}
	g.fail(reason)
}

// broke takes the loss of the stream: before it was welcome, another is tried.
func (g *Giver) broke(reason string) {
	switch g.phase {
	case dialling, opening:
		g.again("the destination could not be reached: " + reason)
	case pausing, stopping:
	default:
		g.fail("the stream broke: " + reason)
	}
}

// fail gives up. Whether the guest goes on here depends on the freeze alone; one
// that was asked for is waited for, since its state is what remains.
func (g *Giver) fail(reason string) {
	switch {
	case g.phase == stopping:
	case g.phase == freezing:
		g.do(Hang{g.stream, clip(reason)})
		g.failure = reason
		g.phase = stopping // within the same time
	case g.resumed:
		g.handed()
	case g.phase == finishing || g.phase == confirming:
		g.end(Stopped, reason)
	default:
		g.end(Stays, reason)
	}
}

// end is the last thing that happens.
func (g *Giver) end(o Outcome, reason string) {
	if g.stream > 0 && g.phase != pausing && g.phase != stopping {
		said := clip(reason)
		if o == Handed {
			said = ""
		}
		g.do(Hang{g.stream, said})
	}
	if o == Stays && g.pace.share < 1 {
		g.slow(1)
	}
	g.stats.Slowed = g.pace.lost
	g.stats.Total = g.now.Sub(g.begun)
	if g.phase == waiting {
		g.stats.Total = 0
	}
	g.phase = over
	g.do(Finish{Outcome: o, Reason: clip(reason), Stats: g.stats})
}
