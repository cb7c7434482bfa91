package blocks

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"godwit/p2p/wire"

	"github.com/ipfs/go-cid"
)

// Status bytes of a block's answer.
const (
	blockHere    = 0 // its length and its bytes follow
	blockMissing = 1
)

const (
	blockBuffer = 128 << 10        // a usual block and its header go out in one write
	maxWants    = 64 << 10         // bytes of one message of wanted CIDs
	idleTimeout = 60 * time.Second // a stream without a question
)

// A teller decides what one peer is told of, block by block.
type teller interface {
	// may reports whether the peer may have a block. What it may not have is not here for it.
	may(ctx context.Context, c cid.Cid) bool
	// told is given each block that the peer gets; its bytes are not told's to keep.
	told(c cid.Cid, data []byte)
}

// serve answers one stream of wanted CIDs: a block, or that it is not here, for
// each, in the order asked. It returns when the peer has ended the stream, or ctx ends.
func (b *Store) serve(ctx context.Context, s *wire.Stream, to teller) {
	defer s.Close()
	r := bufio.NewReaderSize(s, 8<<10)
	count := s.Count
	defer count.Release()
	for {
		_ = s.SetReadDeadline(time.Now().Add(idleTimeout))
		wants, err := readWants(r, count)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			s.Reset()
			return
		}
		if err := b.answer(ctx, s, wants, to); err != nil {
			s.Reset()
			return
		}
	}
}

// writers are those of answers: a stream on which nothing is asked holds none.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, blockBuffer) }}

// answer writes what one message wants.
func (b *Store) answer(ctx context.Context, s *wire.Stream, wants []cid.Cid, to teller) error {
	w := writers.Get().(*bufio.Writer)
	w.Reset(s)
	defer func() {
		w.Reset(nil)
		writers.Put(w)
	}()
	for _, c := range wants {
		_ = s.SetWriteDeadline(time.Now().Add(wire.MessageTime))
		n, err := b.writeBlock(ctx, w, c, s.Count, to)
		s.Count.Release()
		if err == nil {
			err = s.Pace.Sent(ctx, w, n)
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeBlock answers one want and returns the block's size, 0 for none. The block
// counts until it is released: a peer need not read it.
func (b *Store) writeBlock(ctx context.Context, w *bufio.Writer, c cid.Cid, count *wire.Intake, to teller) (n int,
	err error) {
	if !to.may(ctx, c) {
		return 0, sendBlock(w, nil, false)
	}
	err = b.view(ctx, c, func(data []byte) error {
		n = len(data)
		if err := count.Grow(n); err != nil {
			return err
		}
		to.told(c, data)
		return sendBlock(w, data, true)
	})
	if errors.Is(err, ErrNotFound) {
		return 0, sendBlock(w, nil, false)
	}
	return n, err
}

// sendBlock writes what readBlock reads.
func sendBlock(w *bufio.Writer, data []byte, have bool) error {
	if !have {
		return w.WriteByte(blockMissing)
	}
	if err := w.WriteByte(blockHere); err != nil {
		return err
	}
	return wire.WriteFrame(w, data)
}

// readWants reads one message: a length, then binary CIDs one after the other.
// It returns io.EOF only between messages.
func readWants(r *bufio.Reader, count *wire.Intake) ([]cid.Cid, error) {
	b, err := wire.ReadFrame(r, maxWants, count)
	if err != nil {
		return nil, err
	}
	var wants []cid.Cid
	for len(b) > 0 {
		n, c, err := cid.CidFromBytes(b)
		if err != nil {
			return nil, fmt.Errorf("blocks: reading wanted CIDs: %w", err)
		}
		if !acceptable(c) {
			return nil, fmt.Errorf("%w: %s", ErrBadCID, c)
		}
		wants = append(wants, c)
		b = b[n:]
	}
	return wants, nil
}

func writeWants(w *bufio.Writer, wants []cid.Cid) error {
	n := 0
	for _, c := range wants {
		n += c.ByteLen()
	}
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(n))); err != nil {
		return err
	}
	for _, c := range wants {
		if _, err := w.Write(c.Bytes()); err != nil {
			return err
		}
	}
	return w.Flush()
}

// readBlock reads the answer to one want: the block's bytes, or nil when the
// holder has no such block. They are read into spare memory where they fit. They are not checked.
func readBlock(r *bufio.Reader, spare []byte, count *wire.Intake) ([]byte, bool, error) {
	status, err := r.ReadByte()
	if err != nil {
		return nil, false, wire.NoEOF(err)
	}
	switch status {
	case blockMissing:
		return nil, false, nil
	case blockHere:
		data, err := wire.ReadFrameInto(r, spare, wire.MaxBlock, count)
		return data, true, wire.NoEOF(err)
	}
	return nil, false, fmt.Errorf("blocks: a holder answered with status %d", status)
}
