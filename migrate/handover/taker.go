package handover

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// A Taker is the destination's side of one attempt that is to arrive. It begins
// with Offered or with Opened, whichever is first.
type Taker struct {
	cfg Config
	out []Effect
	now time.Time

	begun   time.Time // zero before the beginning
	done    bool
	offer   *Offered
	claims  []Opened  // streams that wait for the offer
	offerBy time.Time // until when they do
	openBy  time.Time // until when the offer waits for a stream; from Offered on

	stream int       // that was welcomed; 0 none, or none any more
	heard  time.Time // when something last came
	begins bool      // something came after the welcome: another stream is too late
	bytes  int64     // that came
	told   int64     // of them, in Taking
	tellAt time.Time // when the next Taking is due, if bytes exceeds told

	round      int       // the newest that came
	inspecting int       // the round that is being inspected; 0 none
	placing    int       // the round that is being placed; 0 none
	workBy     time.Time // until when inspecting, placing or thawing may take
	final      *Final
	whole      bool // the Final was inspected, and all of it is here
	thawing    bool
	manifest   Round  // of inspecting
	best       *State // the newest that is whole
}

// NewTaker returns a machine that waits for Offered or Opened.
func NewTaker(cfg Config) *Taker { return &Taker{cfg: cfg} }

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice, but for manifests.
func (t *Taker) Step(now time.Time, ev Event) []Effect {
	t.now, t.out = now, nil
	if !t.done {
		t.take(ev)
	}
	if !t.done && !t.begun.IsZero() {
		t.expire()
	}
	if !t.done {
		t.tell()
	}
	out := t.out
	t.out = nil
	return out
}

// NextWake returns when Step wants a Wake; false before the beginning and after
// Finish.
func (t *Taker) NextWake() (time.Time, bool) {
	if t.done || t.begun.IsZero() {
		return time.Time{}, false
	}
	at, _ := t.bound()
	if t.tells() {
		at = earlier(at, t.tellAt)
	}
	return at, true
}

func (t *Taker) do(e Effect) { t.out = append(t.out, e) }

func (t *Taker) take(ev Event) {
	switch ev := ev.(type) {
	case Offered:
		t.offered(ev)
	case Opened:
		t.opened(ev)
	case Broken:
		t.broke(ev)
	case Received:
		if ev.Stream == t.stream && t.stream > 0 {
			t.heard, t.begins = t.now, true
			t.hear(ev.Frame)
		}
	case Moved:
		if t.stream > 0 {
			t.heard = t.now
			t.bytes += ev.Bytes
		}
	case Inspected:
		t.inspected(ev)
	case Placed:
		if ev.N == t.placing && ev.N > 0 {
			t.placing = 0
			t.say(Got{N: ev.N})
			t.maybeThaw()
		}
	case Thawed:
		if t.thawing {
			t.say(Resumed{Hash: t.final.Hash})
			t.end(Arrived, fmt.Sprintf("after %d rounds", t.round))
		}
	case Cancel:
		t.fail(ev.Reason)
	}
}

// say sends a frame, if the stream is still there.
func (t *Taker) say(f Frame) {
	if t.stream > 0 {
		t.do(Send{t.stream, f})
	}
}

// hear takes a frame of the source.
func (t *Taker) hear(f Frame) {
	switch f := f.(type) {
	case Pages:
		if t.final == nil {
			t.do(Store{Blocks: f.Blocks})
			return
		}
	case Round:
		if t.final == nil && t.inspecting == 0 && t.placing == 0 && f.N == t.round+1 {
			t.round, t.manifest = f.N, f
			t.inspect(f)
			return
		}
	case Final:
		if t.final == nil && f.N == t.round+1 {
			t.ends(f)
			return
		}
	case Failed:
		if t.final == nil { // after it the guest is ours, whatever happens there
			t.fail("the source gave up: " + f.Reason)
		}
		return
	}
	t.fail(fmt.Sprintf("the source said something out of turn (%T)", f))
}

func (t *Taker) inspect(f Round) {
	t.inspecting, t.workBy = f.N, t.now.Add(t.cfg.PlaceTime)
	t.do(Inspect{N: f.N, Manifest: f.Manifest, Fuel: f.Fuel, CPU: f.CPU, Word: f.Word})
}

// round is the state of a Final.
func (f *Final) round() Round {
	return Round{N: f.N, Fuel: f.Fuel, CPU: f.CPU, Word: f.Word, Manifest: f.Manifest}
}

// ends takes the Final: from now on the guest runs nowhere else.
func (t *Taker) ends(f Final) {
	if sha256.Sum256(f.Manifest) != f.Hash {
		t.fail("the last state is not what its hash says")
		return
	}
	t.final = &f
	if t.inspecting == 0 { // a hurried source does not wait for Got
		t.inspect(f.round())
	}
}

func (t *Taker) inspected(ev Inspected) {
	switch {
	case ev.N != t.inspecting || ev.N == 0:
		return
	case ev.Problem != "":
		t.fail(fmt.Sprintf("the state of round %d cannot be used: %s", ev.N, ev.Problem))
		return
	case ev.Missing > 0:
		t.fail(fmt.Sprintf("the state of round %d names %d blocks that did not come", ev.N, ev.Missing))
		return
	}
	t.inspecting = 0
	if t.final != nil && ev.N == t.final.N {
		t.best = &State{Manifest: t.final.Manifest, Fuel: t.final.Fuel, CPU: t.final.CPU,
			Word: t.final.Word, Frozen: true}
		t.whole = true
		t.maybeThaw()
		return
	}
	r := t.manifest
	t.best, t.manifest = &State{Manifest: r.Manifest, Fuel: r.Fuel, CPU: r.CPU, Word: r.Word}, Round{}
	if t.final != nil {
		t.inspect(t.final.round())
		return
	}
	t.placing, t.workBy = r.N, t.now.Add(t.cfg.PlaceTime)
	t.do(Place{N: r.N, Manifest: r.Manifest})
}

// maybeThaw thaws once the Final is whole and the round before it is in place.
func (t *Taker) maybeThaw() {
	if !t.whole || t.placing > 0 || t.thawing {
		return
	}
	t.thawing, t.workBy = true, t.now.Add(t.cfg.PlaceTime)
	t.do(Thaw{Manifest: t.final.Manifest, Fuel: t.final.Fuel, CPU: t.final.CPU, Word: t.final.Word})
}

// works says that this side is at work, so that the other may be silent.
func (t *Taker) works() bool { return t.inspecting > 0 || t.placing > 0 || t.thawing }

// bound returns when the machine loses patience, and with what.
func (t *Taker) bound() (time.Time, string) {
	at, why := t.begun.Add(t.cfg.Total), fmt.Sprintf("it was not done after %v", t.cfg.Total)
	sooner := func(b time.Time, reason string) {
		if b.Before(at) {
			at, why = b, reason
		}
	}
	switch {
	case t.offer == nil:
		sooner(t.offerBy, "the leader has not offered this task here")
	case t.works():
		sooner(t.workBy, fmt.Sprintf("the state was not loaded within %v", t.cfg.PlaceTime))
	case t.stream > 0:
		sooner(t.heard.Add(t.cfg.SilenceTime), fmt.Sprintf("nothing came for %v", t.cfg.SilenceTime))
	default:
		sooner(t.openBy, fmt.Sprintf("the source did not come within %v", t.cfg.OpenWait))
	}
	return at, why
}

func (t *Taker) expire() {
	at, why := t.bound()
	switch {
	case t.now.Before(at):
	case t.offer == nil:
		t.decline(why, true)
	default:
		t.fail(why)
	}
}

// tells says that a Taking is due, now or at tellAt.
func (t *Taker) tells() bool { return t.stream > 0 && t.bytes > t.told && !t.thawing }

// tell says that bytes come.
func (t *Taker) tell() {
	if t.tells() && !t.now.Before(t.tellAt) {
		t.say(Taking{Bytes: uint64(t.bytes)})
		t.told, t.tellAt = t.bytes, t.now.Add(t.cfg.TakingEvery)
	}
}

// fail gives up.
func (t *Taker) fail(reason string) {
	if t.offer == nil {
		t.decline(reason, false)
		return
	}
	t.end(NotArrived, reason)
}

func (t *Taker) end(o Outcome, reason string) {
	if t.stream > 0 {
		said := clip(reason)
		if o == Arrived {
			said = ""
		}
		t.do(Hang{t.stream, said})
	}
	f := Finish{Outcome: o, Reason: clip(reason), Stats: Stats{Bytes: t.bytes}}
	if !t.begun.IsZero() {
		f.Stats.Total = t.now.Sub(t.begun)
	}
	if o == NotArrived {
		f.Best = t.best
	}
	t.done = true
	t.do(f)
}
