package exec

import (
	"context"
	"errors"
	"io"
	"time"

	"godwit/migrate/handover"
)

// A hand-over has one machine at each side, which a goroutine of its own steps: the
// loop waits for the disk, and a guest that stands still must not wait for it. What
// came of it is posted to the loop, which alone knows what runs here.

// A machine is one of package migrate/handover.
type machine interface {
	Step(now time.Time, ev handover.Event) []handover.Effect
	NextWake() (time.Time, bool)
}

// A session drives one hand-over's machine at this side.
type session struct {
	*core
	m     machine
	do    func(e handover.Effect) // carries out one that is not of every session
	heard chan heard
	done  chan struct{} // closed when the machine has finished
	conns map[int]*conn
	own   []handover.Event // answers of its own, for after the effects at hand
	over  bool
}

// heard is what a session is told: an event, or something to do in its goroutine.
// taken, if not nil, is closed when that is done.
type heard struct {
	ev    handover.Event
	call  func()
	taken chan struct{}
}

const (
	// heardSize bounds what waits for a session; whoever tells more waits.
	heardSize = 16
	// movedEvery is how often a session looks whether bytes move: a few times a
	// second, as its machine wants.
	movedEvery = 400 * time.Millisecond
)

func (c *core) newSession(m machine, do func(handover.Effect)) *session {
	return &session{
		core: c, m: m, do: do, heard: make(chan heard, heardSize), done: make(chan struct{}), conns: map[int]*conn{},
	}
}

// tell gives the machine an event, from any goroutine but the session's own, and
// reports whether the session still takes any.
func (s *session) tell(ev handover.Event) bool { return s.hear(heard{ev: ev}) }

// call has the session's goroutine do something, and reports whether it still does.
func (s *session) call(do func()) bool { return s.hear(heard{call: do}) }

func (s *session) hear(h heard) bool {
	select {
	case <-s.done:
		return false
	default:
	}
	select {
	case s.heard <- h:
		return true
	case <-s.done:
		return false
	}
}

// run steps the machine from its first event until it has finished. The end of
// ctx cancels it.
func (s *session) run(ctx context.Context, first handover.Event) {
	defer close(s.done)
	wake, look := time.NewTimer(time.Hour), time.NewTicker(movedEvery)
	defer wake.Stop()
	defer look.Stop()
	defer s.hangAll()
	ended := ctx.Done()
	s.step(first)
	for !s.over {
		if at, ok := s.m.NextWake(); ok {
			wake.Reset(max(0, at.Sub(s.Host.Now())))
		}
		select {
		case h := <-s.heard:
			s.take(h)
		case <-wake.C:
			s.step(handover.Wake{})
		case <-look.C:
			s.lookAtConns()
		case <-ended:
			ended = nil
			s.step(handover.Cancel{Reason: "the node stops"})
		}
	}
}

func (s *session) take(h heard) {
	if h.call != nil {
		h.call()
	} else {
		s.step(h.ev)
	}
	if h.taken != nil {
		close(h.taken)
	}
}

// answer gives the machine an event when the effects of the Step at hand are
// carried out, on the session's goroutine.
func (s *session) answer(ev handover.Event) { s.own = append(s.own, ev) }

func (s *session) step(ev handover.Event) {
	for s.own = append(s.own, ev); len(s.own) > 0 && !s.over; {
		ev, s.own = s.own[0], s.own[1:]
		s.carryOut(s.m.Step(s.Host.Now(), ev))
	}
}

func (s *session) carryOut(effects []handover.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case handover.Send:
			if c := s.conns[e.Stream]; c != nil {
				c.write(func() error { return c.Send(e.Frame) })
			}
		case handover.Hang:
			s.hang(e.Stream, e.Reason)
		case handover.Finish:
			s.over = true
			s.do(e)
		default:
			s.do(e)
		}
	}
}

func (s *session) lookAtConns() {
	for _, c := range s.conns {
		if b := c.moved(); b > 0 {
			s.step(handover.Moved{Bytes: b})
		}
	}
}

// attach makes a stream one of the session's and writes what is queued for it, on
// the session's goroutine or before that runs.
func (s *session) attach(number int, stream Stream) *conn {
	c := newConn(number, stream)
	s.conns[number] = c
	s.spawn(func() {
		if err := c.writeAll(); err != nil {
			s.broke(c, err)
			c.close()
		}
	})
	return c
}

// broke tells that a stream is gone, unless this side ended it.
func (s *session) broke(c *conn, err error) {
	if c.hung.Load() {
		return
	}
	why := err.Error()
	if errors.Is(err, io.EOF) {
		why = "the other side closed it"
	}
	s.tell(handover.Broken{Stream: c.number, Reason: why})
}

// read tells the machine each frame, the next when it has dealt with one, until
// the stream ends.
func (s *session) read(c *conn) {
	for {
		f, err := c.Receive()
		if err != nil {
			s.broke(c, err)
			return
		}
		h := heard{ev: handover.Received{Stream: c.number, Frame: f}, taken: make(chan struct{})}
		if !s.hear(h) {
			return
		}
		select {
		case <-h.taken:
		case <-s.done:
			return
		}
	}
}

// hang ends a stream out of the session's way.
func (s *session) hang(number int, reason string) {
	c := s.conns[number]
	if c == nil {
		return
	}
	delete(s.conns, number)
	c.hang(reason)
	s.spawn(c.awaitEnd)
}

// hangAll ends what the machine has left open.
func (s *session) hangAll() {
	for number := range s.conns {
		s.hang(number, "")
	}
}
