package handover

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A pair is a source and a destination with a stream between, on a clock of its
// own. It checks at every instant that the guest runs at one side at most.
type pair struct {
	tb     failer
	now    time.Time
	giver  *Giver
	taker  *Taker
	queue  []due
	seq    int
	delay  func() time.Duration // of a frame, or of what the sandbox does
	silent map[string]bool      // what is asked for and never answered, by its type

	sourceRuns bool // a guest runs at the source
	frozen     bool
	finalSent  bool
	destRuns   bool
	dead       [2]bool // giver, taker
	stream     int
	cut        bool // the stream carries nothing more
	dials      int
	finished   [2]*Finish
	log        []entry
	hook       func(side int, e Effect) // before each effect
	whole      int                      // the newest round that came whole to the destination
	dirty      func(n int) int64        // bytes of round n
}

type failer interface {
	Fatalf(string, ...any)
	Helper()
}

// An entry is what went into a machine or came out of it, told when a test fails.
type entry struct {
	at   time.Duration
	side int
	way  string
	what any
}

type due struct {
	at   time.Time
	seq  int
	side int
	ev   Event
}

const (
	atGiver = 0
	atTaker = 1
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var (
	someOrder = Order{Overlay: "o", Task: someTask, From: Attempt{1, 2}, As: Attempt{1, 3}}
	someOffer = Offered{Overlay: "o", Task: someTask, Worker: "source", From: Attempt{1, 2}, As: Attempt{1, 3}}
)

func newPair(tb failer, o Order) *pair {
	return &pair{
		tb: tb, now: start, giver: NewGiver(Default(), o), taker: NewTaker(Default()), sourceRuns: true,
		delay: func() time.Duration { return 10 * time.Millisecond }, silent: map[string]bool{},
		dirty: func(n int) int64 { return 64 << 20 >> (3 * n) },
	}
}

// post has an event arrive after a while.
func (p *pair) post(side int, after time.Duration, ev Event) {
	p.seq++
	p.queue = append(p.queue, due{p.now.Add(after), p.seq, side, ev})
}

func (p *pair) die(side int) {
	p.dead[side] = true
	if side == atGiver {
		p.sourceRuns = false
	} else {
		p.destRuns = false
	}
	p.cutNow()
}

// cutNow breaks the stream; both sides notice.
func (p *pair) cutNow() {
	if p.cut || p.stream == 0 {
		return
	}
	p.cut = true
	p.queue = slices.DeleteFunc(p.queue, func(d due) bool {
		switch d.ev.(type) {
		case Received, Opened, Sent:
			return true
		}
		return false
	})
	p.post(atGiver, p.delay(), Broken{p.stream, "cut"})
	p.post(atTaker, p.delay(), Broken{p.stream, "cut"})
}

// run steps until nothing is left to happen, or until the machines' bounds are
// long over.
func (p *pair) run() {
	for range 100000 {
		next, at := -1, time.Time{}
		for i, d := range p.queue {
			if next < 0 || d.at.Before(at) || d.at.Equal(at) && d.seq < p.queue[next].seq {
				next, at = i, d.at
			}
		}
		for side, wake := range []func() (time.Time, bool){p.giver.NextWake, p.taker.NextWake} {
			if w, ok := wake(); ok && !p.dead[side] && (next < 0 || w.Before(at)) {
				p.post(side, max(w.Sub(p.now), 0), Wake{})
				next, at = len(p.queue)-1, p.queue[len(p.queue)-1].at
			}
		}
		if next < 0 {
			return
		}
		d := p.queue[next]
		p.queue = slices.Delete(p.queue, next, next+1)
		p.now = d.at
		p.step(d.side, d.ev)
	}
	p.tb.Fatalf("it never ends:\n%s", p.history())
}

func (p *pair) step(side int, ev Event) {
	if p.dead[side] {
		return
	}
	p.log = append(p.log, entry{p.now.Sub(start), side, "<-", ev})
	var out []Effect
	if side == atGiver {
		out = p.giver.Step(p.now, ev)
	} else {
		if i, ok := ev.(Inspected); ok && i.Missing == 0 && i.Problem == "" {
			p.whole = i.N
		}
		out = p.taker.Step(p.now, ev)
	}
	for _, e := range out {
		if p.hook != nil {
			p.hook(side, e)
		}
		if p.dead[side] {
			return
		}
		p.log = append(p.log, entry{p.now.Sub(start), side, "->", e})
		p.carry(side, e)
		p.check()
	}
}

func (p *pair) check() {
	if p.destRuns && p.sourceRuns {
		p.tb.Fatalf("the guest runs at both sides:\n%s", p.history())
	}
	if p.destRuns && !p.frozen {
		p.tb.Fatalf("the guest runs at the destination before the source froze:\n%s", p.history())
	}
}

// tell sends a frame to the other side.
func (p *pair) tell(side, stream int, f Frame, after time.Duration) {
	if p.cut || stream != p.stream || p.silent[fmt.Sprintf("%T", f)] {
		return
	}
	k, b, err := Encode(f)
	if err != nil {
		p.tb.Fatalf("%T: %v", f, err)
	}
	got, err := Decode(k, b)
	if err != nil {
		p.tb.Fatalf("%T: %v", f, err)
	}
	if o, ok := got.(Open); ok {
		p.post(atTaker, after, Opened{stream, "source", o})
		return
	}
	p.post(1-side, after, Received{stream, got})
}

func manifestOf(n int) []byte { return fmt.Appendf(nil, "state %d", n) }

func (p *pair) answer(side int, asked Effect, ev Event) {
	if !p.silent[fmt.Sprintf("%T", asked)] {
		p.post(side, p.delay(), ev)
	}
}

// carry does what a driver does.
func (p *pair) carry(side int, e Effect) {
	switch e := e.(type) {
	case Dial:
		p.dials++
		p.stream, p.cut = e.Stream, false
		p.answer(side, e, Dialled{e.Stream})
	case Send:
		p.tell(side, e.Stream, e.Frame, p.delay())
	case Hang:
		if e.Stream == p.stream && !p.cut {
			d := p.delay()
			if e.Reason != "" {
				p.tell(side, e.Stream, Failed{e.Reason}, d)
			}
			p.post(1-side, d, Broken{e.Stream, "closed"})
			p.stream = -1
		}
	case Finish:
		p.finish(side, e)
	default:
		p.work(side, e)
	}
}

// work does what a sandbox and a sender do.
func (p *pair) work(side int, e Effect) {
	switch e := e.(type) {
	case Checkpoint:
		p.answer(side, e, Saved{p.dirty(p.giver.round + 1)})
	case Freeze:
		if !p.silent["handover.Freeze"] {
			p.sourceRuns, p.frozen = false, true
			p.answer(side, e, Frozen{Hash: sha256.Sum256(manifestOf(p.giver.round + 1))})
		}
	case SendRound:
		p.push(e, e.Stream, e.N, Round{N: e.N, Manifest: manifestOf(e.N)})
	case SendFinal:
		p.finalSent = true
		m := manifestOf(e.N)
		p.push(e, e.Stream, e.N, Final{N: e.N, Hash: sha256.Sum256(m), Manifest: m})
	case Inspect:
		p.answer(side, e, Inspected{N: e.N})
	case Place:
		p.answer(side, e, Placed{e.N})
	case Thaw:
		if string(e.Manifest) != string(manifestOf(p.giver.round+1)) {
			p.tb.Fatalf("thawed %q after round %d", e.Manifest, p.giver.round)
		}
		if p.silent["handover.Thaw"] {
			return
		}
		p.destRuns = true
		p.answer(side, e, Thawed{})
	}
}

// push sends a round's blocks at 16 MiB/s, then its last frame.
func (p *pair) push(e Effect, stream, n int, last Frame) {
	if p.cut || stream != p.stream || p.silent[fmt.Sprintf("%T", e)] {
		return
	}
	bytes := p.dirty(n)
	took := time.Duration(float64(bytes) / (16 << 20) * float64(time.Second))
	for at := time.Duration(0); at < took; at += 5 * time.Second {
		p.post(atGiver, at, Moved{80 << 20})
		p.post(atTaker, at+p.delay(), Moved{80 << 20})
	}
	p.tell(atGiver, stream, Pages{Blocks: []Block{{Data: []byte("x")}}}, took)
	p.tell(atGiver, stream, last, took+p.delay())
	p.post(atGiver, took+p.delay(), Sent{Stream: stream, N: n, Blocks: 1, Bytes: bytes})
}

// finish does what the driver's duties say, and checks the outcome.
func (p *pair) finish(side int, f Finish) {
	if p.finished[side] != nil {
		p.tb.Fatalf("finished twice:\n%s", p.history())
	}
	p.finished[side] = &f
	switch {
	case f.Reason == "":
		p.tb.Fatalf("%v without a reason", f.Outcome)
	case f.Outcome == Handed && !p.destRuns && !p.dead[atTaker]:
		p.tb.Fatalf("handed, and the guest does not run there:\n%s", p.history())
	case (f.Outcome == Stays || f.Outcome == Over) && p.frozen:
		p.tb.Fatalf("it stays, frozen:\n%s", p.history())
	case f.Outcome == Arrived && !p.destRuns:
		p.tb.Fatalf("arrived, and it does not run:\n%s", p.history())
	case f.Outcome == NotArrived:
		p.destRuns = false
		p.checkBest(f)
	case f.Outcome == Stopped:
		p.sourceRuns = false
	}
}

func (p *pair) checkBest(f Finish) {
	switch {
	case f.Best == nil && p.whole > 0:
		p.tb.Fatalf("round %d is whole and was not told:\n%s", p.whole, p.history())
	case f.Best != nil && string(f.Best.Manifest) != string(manifestOf(p.whole)):
		p.tb.Fatalf("the best is %q, round %d is whole:\n%s", f.Best.Manifest, p.whole, p.history())
	}
}

func (p *pair) history() string {
	var b strings.Builder
	for _, e := range p.log[max(0, len(p.log)-80):] {
		fmt.Fprintf(&b, "%8v %d %s %T%.60v\n", e.at, e.side, e.way, e.what, fmt.Sprint(e.what))
	}
	return b.String()
}

// begin has the leader tell both.
func (p *pair) begin(offerAfter, orderAfter time.Duration) {
	p.post(atTaker, offerAfter, someOffer)
	p.post(atGiver, orderAfter, Begin{})
}

// wantOutcomes compares; 0 is a side that is dead.
func (p *pair) wantOutcomes(t *testing.T, giver, taker Outcome) {
	t.Helper()
	for side, want := range []Outcome{giver, taker} {
		got := Outcome(0)
		if p.finished[side] != nil {
			got = p.finished[side].Outcome
		}
		if got != want {
			t.Errorf("side %d: %v, want %v\n%s", side, got, want, p.history())
		}
	}
}
