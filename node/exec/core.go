package exec

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"sync"
	"sync/atomic"

	"godwit/scheduler/message"
	"godwit/task"
)

// A Config says what an Executor works with. All is required.
type Config struct {
	Key      ed25519.PrivateKey          // signs words of states and of hand-overs
	Sign     func(message []byte) []byte // as ed25519.Sign does with Key, for results of audits; from any goroutine
	Self     task.PeerID
	StageDir string // files of prepared jobs; exists, and is the Executor's own
	Space    Space  // for those files
	Runner   Runner // which the Executor closes
	Content  Content
	Pairs    Pairs // nobody else's
	Host     Host
	Log      *slog.Logger
}

// A core is what every part of an Executor works with.
type core struct {
	Config
	ctx     context.Context // of what is spawned
	halt    context.CancelFunc
	group   sync.WaitGroup
	kept    keeping
	ahead   successors
	hands   chan func() // to goroutines that have run an attempt and wait for another; see hand
	staging *staging    // what sandboxes read
	Ended   Ended       // what ran here so far
	readies atomic.Bool // a program is made ready: see Ready
}

// spawn runs f in a goroutine that Close waits for.
func (c *core) spawn(f func()) { c.group.Go(f) }

// hand runs f in a goroutine that Close waits for: in one that ran an attempt before, if any waits. A new one for each
// short task would grow its stack anew for each.
func (c *core) hand(f func()) {
	select {
	case c.hands <- f:
	default:
		c.spawn(func() {
			for {
				f()
				select {
				case f = <-c.hands:
				case <-c.ctx.Done():
					return
				}
			}
		})
	}
}

// report has the loop report to a client.
func (c *core) report(to Client, ev message.Event) { c.Host.Post(func() { to.Report(ev) }) }
