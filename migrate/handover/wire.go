package handover

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/task"
)

// A frame travels as its kind, one byte, the length of its body as an unsigned
// varint, and the body: see docs/protocol.md. Numbers in bodies are big-endian.

// ErrFrame is wrapped by the errors of Encode and Decode.
var ErrFrame = errors.New("handover: bad frame")

const (
	// blockHead is what goes before a block's bytes: its hash, its page's number
	// and its length.
	blockHead = len(Hash{}) + 4 + 4
	// roundHead is what goes before a word and a manifest: the round's number, fuel and CPU, and the
	// length of the word.
	roundHead = 4 + 8 + 8 + 4
)

// Limit returns the most bytes that the body of a frame may have; 0 for a kind
// that there is not.
func (k Kind) Limit() int {
	switch k {
	case KindOpen, KindWelcome, KindRefuse, KindGot, KindTaking, KindResumed, KindFailed:
		return maxControl
	case KindPages:
		return maxPagesBody
	case KindRound:
		return roundHead + MaxWord + MaxManifest
	case KindFinal:
		return roundHead + len(Hash{}) + MaxWord + MaxManifest
	}
	return 0
}

// Encode returns a frame's kind and body, or an error for one beyond its limits.
func Encode(f Frame) (Kind, []byte, error) {
	if f == nil {
		return 0, nil, fmt.Errorf("%w: none", ErrFrame)
	}
	body, err := encode(f)
	if err == nil && len(body) > f.kind().Limit() {
		err = fmt.Errorf("%d bytes, the most is %d", len(body), f.kind().Limit())
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %T: %w", ErrFrame, f, err)
	}
	return f.kind(), body, nil
}

func encode(f Frame) ([]byte, error) {
	switch f := f.(type) {
	case Open:
		return encodeChecked(f, f.check())
	case Refuse:
		f.Reason = clip(f.Reason)
		return task.Encode(f)
	case Failed:
		f.Reason = clip(f.Reason)
		return task.Encode(f)
	case Welcome:
		return nil, nil
	case Pages:
		return f.encode()
	case Round:
		return encodeRound(f, nil)
	case Got:
		return binary.BigEndian.AppendUint32(nil, uint32(f.N)), checkRound(f.N)
	case Taking:
		return binary.BigEndian.AppendUint64(nil, f.Bytes), nil
	case Final:
		return encodeRound(Round{f.N, f.Fuel, f.CPU, f.Word, f.Manifest}, f.Hash[:])
	case Resumed:
		return f.Hash[:], nil
	}
	return nil, errors.New("not a frame of this version")
}

func encodeChecked(v any, problem error) ([]byte, error) {
	if problem != nil {
		return nil, problem
	}
	return task.Encode(v)
}

// encodeRound writes the body of a Round and, with its hash, of a Final.
func encodeRound(f Round, hash []byte) ([]byte, error) {
	switch {
	case checkRound(f.N) != nil:
		return nil, checkRound(f.N)
	case f.CPU < 0:
		return nil, fmt.Errorf("a processor time of %v", f.CPU)
	case len(f.Word) > MaxWord:
		return nil, fmt.Errorf("a word of %d bytes, the most is %d", len(f.Word), MaxWord)
	case len(f.Manifest) == 0 || len(f.Manifest) > MaxManifest:
		return nil, fmt.Errorf("a manifest of %d bytes, the most is %d", len(f.Manifest), MaxManifest)
	}
	b := make([]byte, 0, roundHead+len(hash)+len(f.Word)+len(f.Manifest))
	b = binary.BigEndian.AppendUint32(b, uint32(f.N))
	b = binary.BigEndian.AppendUint64(b, f.Fuel)
	b = binary.BigEndian.AppendUint64(b, uint64(f.CPU))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Word)))
	b = append(b, hash...)
	return append(append(b, f.Word...), f.Manifest...), nil
}

func (p Pages) encode() ([]byte, error) {
	size := 0
	for i := range p.Blocks {
		if err := p.Blocks[i].check(); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		size += blockHead + len(p.Blocks[i].Data)
	}
	if size == 0 || size > maxPagesBody {
		return nil, fmt.Errorf("%d blocks of %d bytes, the most is %d", len(p.Blocks), size, maxPagesBody)
	}
	b := make([]byte, 0, size)
	for i := range p.Blocks {
		bl := &p.Blocks[i]
		b = append(b, bl.Hash[:]...)
		b = binary.BigEndian.AppendUint32(b, bl.Page)
		b = binary.BigEndian.AppendUint32(b, uint32(len(bl.Data)))
		b = append(b, bl.Data...)
	}
	return b, nil
}

// Decode reads a frame's body, which may be hostile. Blocks and manifests share
// its memory.
func Decode(k Kind, body []byte) (Frame, error) {
	f, err := decode(k, body)
	if err != nil {
		return nil, fmt.Errorf("%w: of kind %d: %w", ErrFrame, k, err)
	}
	return f, nil
}

func decode(k Kind, b []byte) (Frame, error) {
	if limit := k.Limit(); limit == 0 || len(b) > limit {
		return nil, fmt.Errorf("%d bytes, the most is %d", len(b), limit)
	}
	switch k {
	case KindOpen:
		var f Open
		if err := task.Decode(b, &f); err != nil {
			return nil, err
		}
		return f, f.check()
	case KindRefuse:
		var f Refuse
		err := decodeReason(b, &f, &f.Reason)
		return f, err
	case KindFailed:
		var f Failed
		err := decodeReason(b, &f, &f.Reason)
		return f, err
	case KindPages:
		return decodePages(b)
	case KindRound, KindFinal:
		return decodeRound(k, b)
	}
	return decodeFixed(k, b)
}

// fixed are the lengths of the bodies that have but one.
var fixed = map[Kind]int{KindWelcome: 0, KindGot: 4, KindTaking: 8, KindResumed: len(Hash{})}

func decodeFixed(k Kind, b []byte) (Frame, error) {
	if len(b) != fixed[k] {
		return nil, fmt.Errorf("%d bytes, it has %d", len(b), fixed[k])
	}
	switch k {
	case KindGot:
		n := binary.BigEndian.Uint32(b)
		return Got{N: int(n)}, checkRound(int(n))
	case KindTaking:
		return Taking{Bytes: binary.BigEndian.Uint64(b)}, nil
	case KindResumed:
		return Resumed{Hash: Hash(b)}, nil
	}
	return Welcome{}, nil
}

func decodeReason(b []byte, v any, reason *string) error {
	if err := task.Decode(b, v); err != nil {
		return err
	}
	if len(*reason) > MaxReason {
		return fmt.Errorf("a reason of %d bytes, the most is %d", len(*reason), MaxReason)
	}
	*reason = clip(*reason)
	return nil
}

func decodePages(b []byte) (Frame, error) {
	if len(b) == 0 {
		return nil, errors.New("no blocks")
	}
	var p Pages
	for len(b) > 0 {
		if len(b) < blockHead {
			return nil, errors.New("a block's head is cut short")
		}
		bl := Block{Hash: Hash(b), Page: binary.BigEndian.Uint32(b[len(Hash{}):])}
		n := binary.BigEndian.Uint32(b[blockHead-4:])
		b = b[blockHead:]
		if uint64(n) > uint64(len(b)) {
			return nil, fmt.Errorf("a block of %d bytes, of which %d came", n, len(b))
		}
		bl.Data, b = b[:n:n], b[n:]
		if err := bl.check(); err != nil {
			return nil, err
		}
		p.Blocks = append(p.Blocks, bl)
	}
	return p, nil
}

func decodeRound(k Kind, b []byte) (Frame, error) {
	head := roundHead
	if k == KindFinal {
		head += len(Hash{})
	}
	if len(b) <= head {
		return nil, fmt.Errorf("%d bytes, no manifest among them", len(b))
	}
	f := Round{N: int(binary.BigEndian.Uint32(b)), Fuel: binary.BigEndian.Uint64(b[4:]),
		CPU: time.Duration(binary.BigEndian.Uint64(b[12:]))}
	word := binary.BigEndian.Uint32(b[20:])
	rest := b[head:]
	switch {
	case checkRound(f.N) != nil:
		return nil, checkRound(f.N)
	case f.CPU < 0:
		return nil, fmt.Errorf("a processor time of %v", f.CPU)
	case word > MaxWord:
		return nil, fmt.Errorf("a word of %d bytes, the most is %d", word, MaxWord)
	case uint64(word) >= uint64(len(rest)):
		return nil, fmt.Errorf("a word of %d bytes, and %d bytes with the manifest", word, len(rest))
	}
	if word > 0 {
		f.Word = rest[:word:word]
	}
	f.Manifest = rest[word:]
	if k == KindFinal {
		return Final{N: f.N, Fuel: f.Fuel, CPU: f.CPU, Hash: Hash(b[roundHead:]), Word: f.Word, Manifest: f.Manifest}, nil
	}
	return f, nil
}

func checkRound(n int) error {
	if n < 1 || n > MaxRounds {
		return fmt.Errorf("round %d, they go from 1 to %d", n, MaxRounds)
	}
	return nil
}

func (f Open) check() error {
	if f.Overlay == "" || len(f.Overlay) > MaxOverlay {
		return fmt.Errorf("an overlay's ID of %d bytes, the most is %d", len(f.Overlay), MaxOverlay)
	}
	if _, err := task.ParseTaskID(f.Task.String()); err != nil {
		return err
	}
	return nil
}

func (b *Block) check() error {
	switch {
	case len(b.Data) == 0 || len(b.Data) > MaxBlock:
		return fmt.Errorf("%d bytes, a block has at most %d", len(b.Data), MaxBlock)
	case b.Page >= MaxPages && b.Page != NoPage:
		return fmt.Errorf("page %d, a memory has at most %d", b.Page, MaxPages)
	}
	return nil
}

// clip keeps a reason within its bounds and from playing with a reader's
// terminal.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > MaxReason {
		s = strings.ToValidUTF8(s[:MaxReason], "")
	}
	return s
}
