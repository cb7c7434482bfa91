package wire

import "fmt"

// uncounted is how much of a message is not counted: what a stream's own buffers
// take too. Pings, leases and most messages are smaller, so they come through
// when memory is short.
const uncounted = 4 << 10 // bytes

// Memory is a peer's part of what the network may hold: a libp2p scope.
type Memory interface {
	ReserveMemory(bytes int, priority uint8) error
	ReleaseMemory(bytes int)
}

// An Intake counts what is held of one stream's messages against the limits of its
// peer and of all peers, as its windows are. What does not fit is not read. It
// belongs to one goroutine; nil counts nothing.
type Intake struct {
	scope    Memory
	priority func() uint8
	pay      func(bytes int) error // before they are held; nil costs nothing
	bytes    int                   // held
	reserved int                   // of them; 0 while they are few
}

// Counted returns an Intake of a peer's memory, which asks the priority of each
// reservation when it is made.
func Counted(of Memory, priority func() uint8) *Intake { return &Intake{scope: of, priority: priority} }

// Paid has pay called with the bytes that are to be held, before they are: it may wait, and its
// error is Grow's. It returns the Intake.
func (in *Intake) Paid(pay func(bytes int) error) *Intake {
	in.pay = pay
	return in
}

// Grow counts n bytes more, which must be given back by Release, or with the stream.
// The error says that there is no room for them.
func (in *Intake) Grow(n int) error {
	if in == nil {
		return nil
	}
	if in.pay != nil {
		if err := in.pay(n); err != nil {
			return err
		}
	}
	return in.Hold(n)
}

// Hold is Grow of what is paid for elsewhere.
func (in *Intake) Hold(n int) error {
	if in == nil {
		return nil
	}
	if in.bytes+n > uncounted {
		more := in.bytes + n - in.reserved
		if err := in.scope.ReserveMemory(more, in.priority()); err != nil {
			return fmt.Errorf("p2p: no room for %d bytes more: %w", n, err)
		}
		in.reserved += more
	}
	in.bytes += n
	return nil
}

// Release gives back all that was counted.
func (in *Intake) Release() {
	if in == nil {
		return
	}
	if in.reserved > 0 {
		in.scope.ReleaseMemory(in.reserved)
	}
	in.bytes, in.reserved = 0, 0
}
