package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"godwit/task"
)

// keepScratch is the most bytes that a Packer keeps between two uses: a batch of results, and some.
const keepScratch = 2 * BatchBytes

// A Packer makes frames of messages. It keeps the memory that it encodes into, so that a frame
// costs one allocation of its size. The zero value is ready for use, by one goroutine at a time.
type Packer struct {
	body   bytes.Buffer // the messages of the frame under way
	n      int          // how many there are
	before []byte
	frames [][]byte
}

// PackFrames is Packer.Frames, with nothing before the frames.
func PackFrames(messages []Message) ([][]byte, error) { return new(Packer).Frames(nil, messages) }

// Frames encodes messages, in order, into as few frames as it can without one being beyond its
// limits, which do not count the bytes that are put before each. A message that no frame can hold
// is left out and told in the error; the frames have the others, and are the caller's.
func (p *Packer) Frames(before []byte, messages []Message) ([][]byte, error) {
	p.before, p.frames = before, nil
	var errs []error
	for i := range messages {
		if err := p.add(&messages[i]); err != nil {
			errs = append(errs, fmt.Errorf("%w: message %d: %w", ErrFrame, i, err))
		}
	}
	p.flush(p.body.Len())
	if p.body.Cap() > keepScratch {
		p.body = bytes.Buffer{}
	}
	return p.frames, errors.Join(errs...)
}

// EncodeFrame returns a frame of all messages, or an error when it would be
// beyond MaxFrame or MaxMessages. A Packer splits instead.
func EncodeFrame(messages []Message) ([]byte, error) {
	frames, err := new(Packer).Frames(nil, messages)
	switch {
	case err != nil:
		return nil, err
	case len(frames) > 1:
		return nil, fmt.Errorf("%w: %d messages take more than %d bytes", ErrFrame, len(messages), MaxFrame)
	case len(frames) == 0:
		return arrayOf(nil, 0), nil
	}
	return frames[0], nil
}

func (p *Packer) add(m *Message) error {
	begin := p.body.Len()
	if err := task.EncodeTo(&p.body, m); err != nil {
		return err
	}
	if size := p.body.Len() - begin; size+arrayHead > MaxFrame {
		p.body.Truncate(begin)
		return fmt.Errorf("%d bytes, the most is %d", size, MaxFrame-arrayHead)
	}
	if p.body.Len()+arrayHead > MaxFrame || p.n == MaxMessages {
		p.flush(begin) // what was just written begins the next
	}
	p.n++
	return nil
}

// flush makes a frame of the first bytes of the body, which are whole messages.
func (p *Packer) flush(size int) {
	if p.n == 0 {
		return
	}
	var head [arrayHead]byte
	p.frames = append(p.frames, slices.Concat(p.before, arrayOf(head[:0], p.n), p.body.Next(size)))
	rest := p.body.Bytes()
	p.body.Reset()
	p.body.Write(rest) // which lie further on in the same memory
	p.n = 0
}

// arrayOf appends the head of a CBOR array of n items, in the
// shortest form (RFC 8949 section 3).
func arrayOf(out []byte, n int) []byte {
	const array = 4 << 5 // major type 4
	switch {
	case n < 24:
		return append(out, array|byte(n))
	case n <= math.MaxUint8:
		return append(out, array|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(out, array|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(out, array|26), uint32(n))
}
