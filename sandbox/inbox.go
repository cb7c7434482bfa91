package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// An inbox is where a child hears its parent. Between two tasks it is read by whoever serves them, so that a short task
// wakes no other goroutine: that took as long as the task. While a task runs nobody reads at first. One that runs for
// longer than aside is steered: then a goroutine reads what comes for it, up to what is not, which is
// the next to be served.
type inbox struct {
	r    *bufio.Reader
	mail *mailbox // of the run that came last; of whoever reads

	runs  atomic.Uint64 // odd while a task runs that nobody reads for
	wakes chan struct{} // has the watch look again; at most one
	once  sync.Once
	over  chan struct{} // closed when the parent says nothing more between two tasks

	came chan frame // from the goroutine that reads
	busy bool       // there is one; of whoever serves
}

// A frame is a request as it came.
type frame struct {
	request
	body []byte
	mail *mailbox // of a run
}

// aside is after how long a task is steered, at most twice that: an order may come so late. It is some hundred
// times what a task that does nothing takes, and less than an owner who comes back notices.
const aside = 10 * time.Millisecond

func newInbox(r io.Reader) *inbox {
	return &inbox{r: bufio.NewReaderSize(r, 64<<10), wakes: make(chan struct{}, 1), came: make(chan frame),
		over: make(chan struct{})}
}

// next returns the next frame to be served. No task runs. After an error it is not called again.
func (in *inbox) next() (frame, error) {
	if in.busy {
		in.busy = false
		return <-in.came, nil
	}
	f, err := in.read()
	if err != nil {
		close(in.over)
	}
	return f, err
}

// read reads up to the next frame that is to be served, and passes on what is for the task that runs.
func (in *inbox) read() (frame, error) {
	for {
		var f frame
		var err error
		if f.body, err = readFrame(in.r, &f.request, max(MaxModule, MaxInputs)); err != nil {
			return f, err
		}
		switch {
		case in.mail == nil && (f.Order != nil || f.Blocks != nil || f.Place != nil || f.Stage != nil):
		case f.Order != nil:
			in.mail.order(f.Order)
		case f.Blocks != nil:
			in.mail.answered(f)
		case f.Place != nil, f.Stage != nil:
			in.mail.stage(f)
		default:
			if f.Run != nil {
				in.mail = newMailbox()
				f.mail = in.mail
			}
			return f, nil
		}
	}
}

// during has what comes for a run be heard, until the function that it returns is called.
func (in *inbox) during(f frame) (over func()) {
	n := in.runs.Add(1)
	if f.Run.Staged || len(f.body) > 0 || in.r.Buffered() > 0 { // it cannot begin without, or something is there
		in.begin(n)
	} else {
		in.once.Do(func() { go in.watch() })
		select {
		case in.wakes <- struct{}{}:
		default:
		}
	}
	return func() { in.busy = !in.runs.CompareAndSwap(n, n+1) }
}

// begin begins to read for run n, if that goes on and nobody does.
func (in *inbox) begin(n uint64) {
	if in.runs.CompareAndSwap(n, n+1) {
		go in.readAside()
	}
}

// readAside reads while a task runs. A child whose parent is gone meanwhile ends: a running guest cannot be stopped
// from within.
func (in *inbox) readAside() {
	f, err := in.read()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, "sandbox: reading from the parent:", err)
		}
		os.Exit(0)
	}
	in.came <- f
}

// watch looks now and then whether a task goes on that ran when it looked before. Without tasks it sleeps.
func (in *inbox) watch() {
	tick := time.NewTicker(aside)
	defer tick.Stop()
	for last := uint64(0); ; {
		select {
		case <-tick.C:
		case <-in.over:
			return
		}
		n := in.runs.Load()
		switch {
		case n == last && n%2 == 1:
			in.begin(n)
		case n == last:
			tick.Stop()
			select {
			case <-in.wakes:
			case <-in.over:
				return
			}
			tick.Reset(aside)
		}
		last = n
	}
}
