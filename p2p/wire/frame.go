// Package wire is what goes over a stream between two nodes: bytes after their
// length ([ReadFrame], [WriteFrame]), whose memory is counted while it is held
// ([Intake]) and whose rate is the owner's ([Pace]). A [Stream] has all three.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// MaxBlock is the most bytes of a block: what IPFS implementations accept.
	MaxBlock = 2 << 20
	// MessageTime is how long a message that has begun may stand still, in or out.
	MessageTime = 30 * time.Second

	readStep = 256 << 10 // bytes allocated on a peer's mere word
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

// readN reads n bytes, which count from before they are allocated, into memory that is there
// where they fit. Beyond readStep, new memory follows what has arrived, not what was announced.
func readN(r io.Reader, spare []byte, n int, count *Intake) ([]byte, error) {
	if n <= cap(spare) {
		if err := count.Grow(n); err != nil {
			return nil, err
		}
		_, err := io.ReadFull(r, spare[:n])
		return spare[:n], NoEOF(err)
	}
	if err := count.Grow(min(n, readStep)); err != nil {
		return nil, err
	}
	b := make([]byte, min(n, readStep))
	for have := 0; ; {
		m, err := io.ReadFull(r, b[have:])
		have += m
		if err != nil {
			return nil, NoEOF(err)
		}
		if have == n {
			return b, nil
		}
		if err := count.Grow(min(n, 2*have) - have); err != nil {
			return nil, err
		}
		grown := make([]byte, min(n, 2*have))
		copy(grown, b)
		b = grown
	}
}

// ReadFrame reads a length and as many bytes, which count until they are released.
// It returns io.EOF only when the stream ends before the length.
func ReadFrame(r *bufio.Reader, limit int, count *Intake) ([]byte, error) {
	return ReadFrameInto(r, nil, limit, count)
}

// ReadFrameInto is ReadFrame into memory that nobody uses any more, where the frame fits into its
// capacity.
func ReadFrameInto(r *bufio.Reader, spare []byte, limit int, count *Intake) ([]byte, error) {
	n, err := readLen(r, limit)
	if err != nil {
		return nil, err
	}
	return readN(r, spare, n, count)
}

// WriteFrame writes what ReadFrame reads.
func WriteFrame(w *bufio.Writer, b []byte) error {
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(b)))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// NoEOF makes the end of a stream inside a message an error of its own.
func NoEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
