package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
)

// A conn is one stream of a session.
type conn struct {
	Stream
	number int
	queue  chan func() error
	hung   atomic.Bool   // by this side: what is not begun of a state is not sent
	gone   chan struct{} // closed when it is at its end
	close  func()        // closes gone
	bytes  int64         // that had moved when last looked at

	sent   map[[32]byte]bool // blocks; of the writer's goroutine alone, as what follows
	early  handover.Sent     // of them, those sent ahead of the state that names them
	aheads chan struct{}     // has a token for each that waits
}

// connQueue bounds what waits to be written; a machine sends no more than a few
// frames before it waits for an answer. connAhead bounds what of it are blocks sent
// ahead, 2 MiB of them: the machine's own frames must always find room, or it could
// not even give up.
const (
	connQueue = 64
	connAhead = connQueue / 2
)

func newConn(number int, s Stream) *conn {
	c := &conn{
		Stream: s, number: number, queue: make(chan func() error, connQueue), gone: make(chan struct{}),
		aheads: make(chan struct{}, connAhead), sent: map[[32]byte]bool{},
	}
	c.close = sync.OnceFunc(func() { close(c.gone) })
	return c
}

// writeAll writes what is queued until the stream is at its end, or an error, which it
// returns.
func (c *conn) writeAll() error {
	for {
		select {
		case <-c.gone:
			return nil
		case f := <-c.queue:
			if err := f(); err != nil {
				return err
			}
		}
	}
}

// write queues a write. What follows the end of the stream is dropped.
func (c *conn) write(f func() error) {
	select {
	case c.queue <- f:
	case <-c.gone:
	}
}

// moved returns how many bytes have moved since it was last called.
func (c *conn) moved() int64 {
	out, in := c.Moved()
	since := out + in - c.bytes
	c.bytes = out + in
	return since
}

// hang queues the end of the stream.
func (c *conn) hang(reason string) {
	c.hung.Store(true)
	c.write(func() error {
		c.Hang(reason)
		c.close()
		return nil
	})
}

// awaitEnd waits until what is queued for a stream that was hung is written, at most
// for handover.HangTime.
func (c *conn) awaitEnd() {
	t := time.NewTimer(handover.HangTime)
	defer t.Stop()
	select {
	case <-c.gone:
	case <-t.C:
		c.Hang("")
		c.close()
	}
}
