package wire

import (
	"io"
	"time"
)

// A Conn is a stream of bytes between two nodes: a libp2p stream.
type Conn interface {
	io.ReadWriteCloser
	Reset() error // ends both directions at once
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// A Stream is a Conn whose messages are counted and whose bytes are paced.
type Stream struct {
	Conn
	Count *Intake // of one goroutine's messages; nil counts nothing
	Pace  Pace
	// Kept says that it was used before, and kept since: the peer may have ended it meanwhile, and what is read first
	// may be of a peer that sends what nobody asked for.
	Kept bool
	// Settled is set by whoever asked on it and has read all answers: it can be kept for the next question.
	Settled bool
}
