package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
	"godwit/p2p"
)

// A hand-over has one machine at each side, which a goroutine of its own steps: the
// loop waits for the disk, and a guest that stands still must not wait for it. What
// came of it is posted to the loop, which alone knows what runs here.

// A passenger is a machine of package migrate/handover.
type passenger interface {
	Step(now time.Time, ev handover.Event) []handover.Effect
	NextWake() (time.Time, bool)
}

// A passage drives one hand-over's machine at this side.
type passage struct {
	n       *Node
	m       passenger
	do      func(e handover.Effect) // carries out one that is not of every passage
	heard   chan heard
	done    chan struct{} // closed when the machine has finished
	strands map[int]*strand
	own     []handover.Event // answers of its own, for after the effects at hand
	over    bool
}

// heard is what a passage is told: an event, or something to do in its goroutine.
// taken, if not nil, is closed when that is done.
type heard struct {
	ev    handover.Event
	call  func()
	taken chan struct{}
}

const (
	// heardSize bounds what waits for a passage; whoever tells more waits.
	heardSize = 16
	// movedEvery is how often a passage looks whether bytes move: a few times a
	// second, as its machine wants.
	movedEvery = 400 * time.Millisecond
)

func (n *Node) newPassage(m passenger, do func(handover.Effect)) *passage {
	return &passage{n: n, m: m, do: do, heard: make(chan heard, heardSize), done: make(chan struct{}), strands: map[int]*strand{}}
}

// tell gives the machine an event, from any goroutine but the passage's own, and
// says whether the passage still takes any.
func (p *passage) tell(ev handover.Event) bool { return p.hear(heard{ev: ev}) }

func (p *passage) hear(h heard) bool {
	select {
	case <-p.done:
		return false
	default:
	}
	select {
	case p.heard <- h:
		return true
	case <-p.done:
		return false
	}
}

// run steps the machine from its first event until it has finished. The end of
// ctx cancels it.
func (p *passage) run(ctx context.Context, first handover.Event) {
	defer close(p.done)
	wake, look := time.NewTimer(time.Hour), time.NewTicker(movedEvery)
	defer wake.Stop()
	defer look.Stop()
	defer p.hangAll()
	ended := ctx.Done()
	p.step(first)
	for !p.over {
		if at, ok := p.m.NextWake(); ok {
			wake.Reset(max(0, at.Sub(p.n.now())))
		}
		select {
		case h := <-p.heard:
			switch {
			case h.call != nil:
				h.call()
			default:
				p.step(h.ev)
			}
			if h.taken != nil {
				close(h.taken)
			}
		case <-wake.C:
			p.step(handover.Wake{})
		case <-look.C:
			p.lookAtStrands()
		case <-ended:
			ended = nil
			p.step(handover.Cancel{Reason: "the node stops"})
		}
	}
}

// answer gives the machine an event when the effects of the Step at hand are
// carried out, on the passage's goroutine.
func (p *passage) answer(ev handover.Event) { p.own = append(p.own, ev) }

func (p *passage) step(ev handover.Event) {
	for p.own = append(p.own, ev); len(p.own) > 0 && !p.over; {
		ev, p.own = p.own[0], p.own[1:]
		p.carryOut(p.m.Step(p.n.now(), ev))
	}
}

func (p *passage) carryOut(effects []handover.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case handover.Send:
			if s := p.strands[e.Stream]; s != nil {
				s.write(func() error {
					err := s.Send(e.Frame)
					p.n.reached(steps[fmt.Sprintf("%T", e.Frame)])
					return err
				})
			}
		case handover.Hang:
			p.hang(e.Stream, e.Reason)
		case handover.Finish:
			p.over = true
			p.do(e)
		default:
			p.do(e)
		}
	}
}

func (p *passage) lookAtStrands() {
	for _, s := range p.strands {
		if b := s.moved(); b > 0 {
			p.step(handover.Moved{Bytes: b})
		}
	}
}

// A strand is one stream of a passage.
type strand struct {
	*p2p.HandOverStream
	number int
	queue  chan func() error
	hung   atomic.Bool       // by this side: what is not begun of a state is not sent
	gone   chan struct{}     // closed when it is at its end
	close  func()            // closes gone
	bytes  int64             // that had moved when last looked at
	sent   map[[32]byte]bool // blocks; of the writer's goroutine alone, as what follows
	early  handover.Sent     // of them, those sent ahead of the state that names them
	aheads chan struct{}     // has a token for each that waits
}

// strandQueue bounds what waits to be written; a machine sends no more than a few
// frames before it waits for an answer. strandAhead bounds what of it are blocks sent
// ahead, 2 MiB of them: the machine's own frames must always find room, or it could
// not even give up.
const (
	strandQueue = 64
	strandAhead = strandQueue / 2
)

// attach makes a stream one of the passage's and writes what is queued for it, on
// the passage's goroutine or before that runs.
func (p *passage) attach(number int, stream *p2p.HandOverStream) *strand {
	s := &strand{HandOverStream: stream, number: number, queue: make(chan func() error, strandQueue), gone: make(chan struct{}), aheads: make(chan struct{}, strandAhead), sent: map[[32]byte]bool{}}
	s.close = sync.OnceFunc(func() { close(s.gone) })
	p.strands[number] = s
	p.n.spawn(func() {
		for {
			select {
			case <-s.gone:
				return
			case f := <-s.queue:
				if err := f(); err != nil {
					p.broke(s, err)
					s.close()
					return
				}
			}
		}
	})
	return s
}

// broke tells that a stream is gone, unless this side ended it.
func (p *passage) broke(s *strand, err error) {
	if s.hung.Load() {
		return
	}
	why := err.Error()
	if errors.Is(err, io.EOF) {
		why = "the other side closed it"
	}
	p.tell(handover.Broken{Stream: s.number, Reason: why})
}

// write queues a write. What follows the end of the stream is dropped.
func (s *strand) write(f func() error) {
	select {
	case s.queue <- f:
	case <-s.gone:
	}
}

// moved returns how many bytes have moved since it was last called.
func (s *strand) moved() int64 {
	out, in := s.Moved()
	since := out + in - s.bytes
	s.bytes = out + in
	return since
}

// read tells the machine each frame, the next when it has dealt with one, until
// the stream ends.
func (p *passage) read(s *strand) {
	for {
		f, err := s.Receive()
		if err != nil {
			p.broke(s, err)
			return
		}
		h := heard{ev: handover.Received{Stream: s.number, Frame: f}, taken: make(chan struct{})}
		if !p.hear(h) {
			return
		}
		select {
		case <-h.taken:
		case <-p.done:
			return
		}
	}
}

// hang ends a stream out of the passage's way, once what is queued for it is
// written; after handover.HangTime that is not waited for.
func (p *passage) hang(number int, reason string) {
	s := p.strands[number]
	if s == nil {
		return
	}
	delete(p.strands, number)
	s.hung.Store(true)
	s.write(func() error {
		s.Hang(reason)
		s.close()
		return nil
	})
	p.n.spawn(func() {
		t := time.NewTimer(handover.HangTime)
		defer t.Stop()
		select {
		case <-s.gone:
		case <-t.C:
			s.Hang("")
			s.close()
		}
	})
}

// hangAll ends what the machine has left open.
func (p *passage) hangAll() {
	for number := range p.strands {
		p.hang(number, "")
	}
}

// steps are the names, for tests, of having sent a frame.
var steps = map[string]string{
	fmt.Sprintf("%T", handover.Welcome{}): "taker: welcomed",
	fmt.Sprintf("%T", handover.Got{}):     "taker: round taken",
	fmt.Sprintf("%T", handover.Resumed{}): "taker: resumed sent",
}

// reached tells a test that a hand-over has come to a step.
func (n *Node) reached(step string) {
	if n.cfg.fault != nil && step != "" {
		n.cfg.fault(step)
	}
}
