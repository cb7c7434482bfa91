package p2p

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
)

// Protocol IDs. A change of the bytes is a new number; docs/protocol.md
// describes them.
const (
	ProtocolFrame   = "/godwit/frame/1"
	ProtocolRequest = "/godwit/request/1"
	ProtocolHello   = "/godwit/hello/1"
	ProtocolBlocks  = "/godwit/blocks/1"

	ProtocolHandOver = "/godwit/handover/1"
)

var protocols = []protocol.ID{ProtocolFrame, ProtocolRequest, ProtocolHello, ProtocolBlocks, ProtocolHandOver}

// Limits of what travels, checked before anything is allocated.
const (
	MaxFrame   = 4 << 20   // bytes; a ledger delta of some 10,000 rows
	MaxRequest = 4 << 20   // bytes of a request's or an answer's body
	MaxMethod  = 64        // bytes of a method's name
	MaxBlock   = 2 << 20   // bytes; what IPFS implementations accept
	maxWants   = 64 << 10  // bytes of one message of wanted CIDs
	maxErrText = 1 << 10   // bytes of an error's text
	readStep   = 256 << 10 // bytes allocated on a peer's mere word
)

// Deadlines. They cut off a peer that stopped, not one that is slow: each
// covers one message at most.
const (
	openTimeout    = 15 * time.Second // dial and negotiate
	messageTimeout = 30 * time.Second // a message that has begun, in or out
	idleTimeout    = 60 * time.Second // a stream of blocks without a question
)

// ErrTooLarge is returned for a frame, request, block or content over its limit.
var ErrTooLarge = errors.New("p2p: too large")

// readLen reads a length, at most limit.
func readLen(r io.ByteReader, limit int) (int, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, err
	}
	if n > uint64(limit) {
		return 0, fmt.Errorf("%w: %d bytes announced, at most %d", ErrTooLarge, n, limit)
	}
	return int(n), nil
}

// readN reads n bytes, which count from before they are allocated. Beyond
// readStep, memory follows what has arrived, not what was announced.
func readN(r io.Reader, n int, count *intake) ([]byte, error) {
	if err := count.grow(min(n, readStep)); err != nil {
		return nil, err
	}
	b := make([]byte, min(n, readStep))
	for have := 0; ; {
		m, err := io.ReadFull(r, b[have:])
		have += m
		if err != nil {
			return nil, noEOF(err)
		}
		if have == n {
			return b, nil
		}
		if err := count.grow(min(n, 2*have) - have); err != nil {
			return nil, err
		}
		grown := make([]byte, min(n, 2*have))
		copy(grown, b)
		b = grown
	}
}

// readFrame reads a length and as many bytes, which count until they are released.
// It returns io.EOF only when the stream ends before the length.
func readFrame(r *bufio.Reader, limit int, count *intake) ([]byte, error) {
	n, err := readLen(r, limit)
	if err != nil {
		return nil, err
	}
	return readN(r, n, count)
}

// writeFrame writes what readFrame reads.
func writeFrame(w *bufio.Writer, b []byte) error {
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(b)))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// noEOF makes the end of a stream inside a message an error of its own.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
