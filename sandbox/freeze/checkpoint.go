package freeze

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
)

// A checkpoint is a manifest and pages. The manifest holds the state but for the memory, and for each page of the
// memory the SHA-256 of its 64 KiB; a page of zeros is left out. Pages are stored by hash, compressed, so that
// what did not change since an earlier checkpoint is not stored or sent again.

// CheckpointVersion is the version of the format.
const CheckpointVersion = 1

// Limits on what is loaded.
const (
	// MaxManifest bounds an encoded manifest: 65536 pages of 36 bytes, and frames.
	MaxManifest = 64 << 20
	maxPages    = 1 << 16
)

// Hash is a SHA-256: the digest in the raw CID of what it names.
type Hash = [sha256.Size]byte

// Manifest describes a checkpoint. It is encoded as canonical CBOR behind a short header.
type Manifest struct {
	Format int      `cbor:"1,keyasint"`
	Pass   int      `cbor:"2,keyasint"` // PassVersion
	Module Hash     `cbor:"3,keyasint"` // of the original module
	NaNs   bool     `cbor:"4,keyasint"` // Options.KeepNaNs
	State  State    `cbor:"5,keyasint"`
	Pages  PageList `cbor:"6,keyasint"` // ascending; those left out are zero
	System []byte   `cbor:"7,keyasint"` // state of the guest's system interface; opaque here
}

// Page is one page of memory.
type Page struct {
	_      struct{} `cbor:",toarray"`
	Number uint32
	Hash   Hash
}

// ErrCheckpoint is wrapped by errors about checkpoints that are damaged, forged or do not belong to the program.
var ErrCheckpoint = errors.New("checkpoint refused")

var (
	checkpointMagic = []byte("GWCK\x01")
	encMode         = must(cbor.CoreDetEncOptions().EncMode())
	decMode         = must(cbor.DecOptions{MaxArrayElements: 1 << 24, MaxNestedLevels: 8,
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField, IndefLength: cbor.IndefLengthForbidden}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Encode gives the manifest's bytes: the same for the same state on every machine.
func (m *Manifest) Encode() ([]byte, error) {
	body, err := encMode.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	b := binary.BigEndian.AppendUint32(bytes.Clone(checkpointMagic), uint32(len(body)))
	b = append(b, body...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// Hash is the hash of the whole state: memory, globals, tables, stack, fuel and System. It is the same on every
// engine and architecture, and however often the guest moved.
func (m *Manifest) Hash() (Hash, error) {
	b, err := m.Encode()
	return sha256.Sum256(b), err
}

// DecodeManifest reads a manifest and checks all of it that can be checked without the program. Errors wrap
// ErrCheckpoint.
func DecodeManifest(b []byte) (*Manifest, error) {
	m, err := decodeManifest(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return m, nil
}

// errFormat is wrapped by errors about manifests of another format.
var errFormat = errors.New("another format")

// Foreign reports whether a checkpoint may well be a good one for another version of this program.
func Foreign(b []byte) bool {
	m, err := DecodeManifest(b)
	return errors.Is(err, errFormat) || err == nil && m.Pass != PassVersion
}

func decodeManifest(b []byte) (*Manifest, error) {
	head := len(checkpointMagic) + 4
	if len(b) < head+sha256.Size || !bytes.HasPrefix(b, checkpointMagic) {
		return nil, errors.New("not a checkpoint of this format")
	}
	if len(b) > MaxManifest {
		return nil, fmt.Errorf("%d bytes are more than the limit of %d", len(b), MaxManifest)
	}
	n := binary.BigEndian.Uint32(b[len(checkpointMagic):])
	if uint64(n) != uint64(len(b)-head-sha256.Size) {
		return nil, errors.New("it is cut short or has something after its end")
	}
	if sum := sha256.Sum256(b[:len(b)-sha256.Size]); !bytes.Equal(sum[:], b[len(b)-sha256.Size:]) {
		return nil, errors.New("it is damaged: its checksum does not fit")
	}
	var m Manifest
	if err := decMode.Unmarshal(b[head:len(b)-sha256.Size], &m); err != nil {
		return nil, err
	}
	if m.Format != CheckpointVersion {
		return nil, fmt.Errorf("%w: format %d, this program reads format %d", errFormat, m.Format, CheckpointVersion)
	}
	if m.State.Pages > maxPages || len(m.Pages) > int(m.State.Pages) {
		return nil, fmt.Errorf("%d pages stored for a memory of %d", len(m.Pages), m.State.Pages)
	}
	next := uint32(0)
	for _, p := range m.Pages {
		if p.Number < next || p.Number >= m.State.Pages {
			return nil, fmt.Errorf("page %d is out of order or outside the memory of %d", p.Number, m.State.Pages)
		}
		next = p.Number + 1
	}
	return &m, nil
}

// Fits reports why a checkpoint cannot be thawed with a program made from the module with this hash.
func (m *Manifest) Fits(p *Program, module Hash) error {
	switch {
	case m.Pass != PassVersion:
		return fmt.Errorf("%w: made by pass version %d, this is version %d", ErrCheckpoint, m.Pass, PassVersion)
	case m.Module != module:
		return fmt.Errorf("%w: of module %x, not %x", ErrCheckpoint, m.Module[:8], module[:8])
	case m.NaNs != p.Layout.Options.KeepNaNs:
		return fmt.Errorf("%w: made with the other option for NaNs", ErrCheckpoint)
	}
	if err := p.Check(&m.State); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return nil
}

var (
	pageEncoder = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	pageDecoder = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<20),
		zstd.WithDecoderMaxWindow(1<<20)))
)

// Compress makes the block in which a page is stored.
func Compress(page []byte) []byte { return CompressTo(nil, page) }

// CompressTo is Compress that puts the block behind what is in room, and allocates nothing if MaxBlock bytes are free
// there.
func CompressTo(room, page []byte) []byte { return pageEncoder.EncodeAll(page, room) }

// MaxBlock is the size of the largest block that Compress makes.
var MaxBlock = pageEncoder.MaxEncodedSize(pageSize)

// Decompress gives the page in a block, which may be anything: it is checked against the hash.
func Decompress(block []byte, h Hash) ([]byte, error) {
	if len(block) > 2*pageSize {
		return nil, fmt.Errorf("%w: a page of %d bytes compressed", ErrCheckpoint, len(block))
	}
	b, err := pageDecoder.DecodeAll(block, make([]byte, 0, pageSize))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if len(b) != pageSize || sha256.Sum256(b) != h {
		return nil, fmt.Errorf("%w: a page is not what its hash %x says", ErrCheckpoint, h[:8])
	}
	return b, nil
}

// Load gives Restore the memory of a checkpoint: block fetches the compressed page of a hash.
func (m *Manifest) Load(block func(Hash) ([]byte, error)) func(put func(uint64, []byte) error) error {
	return func(put func(uint64, []byte) error) error {
		for _, p := range m.Pages {
			b, err := block(p.Hash)
			if err != nil {
				return fmt.Errorf("page %d: %w", p.Number, err)
			}
			page, err := Decompress(b, p.Hash)
			if err != nil {
				return fmt.Errorf("page %d: %w", p.Number, err)
			}
			if err := put(uint64(p.Number)*pageSize, page); err != nil {
				return err
			}
		}
		return nil
	}
}
