package handover

import (
	"crypto/sha256"
	"time"

	"godwit/task"
)

// Limits of what travels, checked before anything is allocated.
const (
	// MaxBlock bounds a compressed page: twice the 64 KiB that it holds, as
	// where checkpoints are loaded (package sandbox/freeze).
	MaxBlock = 128 << 10
	// MaxManifest bounds a checkpoint's manifest, as where it is loaded.
	MaxManifest = 64 << 20
	// MaxPages bounds the pages of a memory: 4 GiB of 64 KiB.
	MaxPages = 1 << 16
	// BatchBytes is where a Pages frame is full: large enough that its head
	// counts for nothing, small enough that a cancel is not kept waiting on a
	// slow link.
	BatchBytes = 256 << 10
	// BatchBlocks is where it is full too: blocks of pages with next to nothing in
	// them have some 30 bytes, and the destination places each by itself.
	BatchBlocks = 512
	// MaxRounds bounds the number of a round that is believed.
	MaxRounds = 64
	// MaxReason bounds a reason for people, in bytes.
	MaxReason = 256
	// MaxOverlay bounds the text of an overlay's ID, in bytes.
	MaxOverlay = 64

	// MaxWord bounds the source's word about a state, in bytes: a chain of the most links has
	// forty thousand.
	MaxWord = 64 << 10

	// bytes of a frame that is neither pages nor manifest; an Open has 300
	maxControl   = 4 << 10
	maxPagesBody = BatchBytes + blockHead + MaxBlock // one block beyond the batch
)

// A Hash is a SHA-256: of a page before its compression, or of a whole manifest,
// which is the hash of the state that it describes.
type Hash = [sha256.Size]byte

// An Attempt numbers a placement of a task, as the leader gave it. It converts
// to and from the scheduler's.
type Attempt struct {
	Epoch uint64 `cbor:"1,keyasint"`
	Seq   uint64 `cbor:"2,keyasint"`
}

// A Frame is one message of a hand-over: one of Open, Welcome, Refuse, Pages,
// Round, Got, Taking, Final, Resumed and Failed.
type Frame interface{ kind() Kind }

// Open is the first frame, of the source: which attempt goes where.
type Open struct {
	Overlay string      `cbor:"1,keyasint"`
	Task    task.TaskID `cbor:"2,keyasint"`
	From    Attempt     `cbor:"3,keyasint"` // that runs at the source
	As      Attempt     `cbor:"4,keyasint"` // what it becomes at the destination
	Urgent  bool        `cbor:"5,keyasint,omitempty"`
}

// Welcome answers Open: the leader has offered this very task here, and there
// is room.
type Welcome struct{}

// Refuse answers Open instead, and is the last frame.
type Refuse struct {
	Reason string `cbor:"1,keyasint"`
	// Later says that asking again is worth it: the leader's offer has not come
	// yet, or may still come.
	Later bool `cbor:"2,keyasint,omitempty"`
}

// NoPage is the number of a block that is no page of the memory but a piece of
// a file of the guest.
const NoPage = ^uint32(0)

// A Block is 64 KiB of the guest's state, compressed as package sandbox/freeze
// does. Nothing here checks that it holds what Hash says.
type Block struct {
	Hash Hash
	Page uint32 // where it lies in memory, below MaxPages, or NoPage; a hint: the manifest has all places
	Data []byte // 1 to MaxBlock bytes
}

// Pages carries blocks ahead of the manifest that names them. A block that was
// sent once is not sent again.
type Pages struct{ Blocks []Block }

// Add puts a block into the frame and reports whether it is full, so that it
// should be sent now and another begun.
func (p *Pages) Add(b Block) (full bool) {
	p.Blocks = append(p.Blocks, b)
	n := 0
	for i := range p.Blocks {
		n += blockHead + len(p.Blocks[i].Data)
	}
	return n >= BatchBytes || len(p.Blocks) >= BatchBlocks
}

// A Round ends a round of pre-copy: the manifest of a checkpoint whose blocks
// have all been sent. Round 1 is the first. The guest runs on at the source.
type Round struct {
	N        int
	Fuel     uint64        // used by the task until then
	CPU      time.Duration // that it took, all attempts together
	Word     []byte        // the source's word about the state, at most MaxWord bytes; nothing here reads it
	Manifest []byte
}

// Got answers a Round: all of it is here, in the memory of the process that
// waits.
type Got struct{ N int }

// Taking tells about each second, while bytes come, that they do: the source's
// end of the stream shows only what has left it.
type Taking struct{ Bytes uint64 } // of blocks since Welcome

// Final says that the guest is frozen for good at the source, and that all
// blocks of its state have been sent. From now on it is the destination's.
type Final struct {
	N        int // one above the last Round
	Fuel     uint64
	CPU      time.Duration
	Hash     Hash   // of Manifest: of the whole state
	Word     []byte // as of a Round
	Manifest []byte
}

// Resumed answers Final: the guest runs at the destination, from the state with
// this hash.
type Resumed struct{ Hash Hash }

// Failed is either side's last frame when it gives up.
type Failed struct {
	Reason string `cbor:"1,keyasint"`
}

// A Kind is the first byte of a frame.
type Kind byte

// The kinds of frames.
const (
	KindOpen    Kind = 1
	KindWelcome Kind = 2
	KindRefuse  Kind = 3
	KindPages   Kind = 4
	KindRound   Kind = 5
	KindGot     Kind = 6
	KindTaking  Kind = 7
	KindFinal   Kind = 8
	KindResumed Kind = 9
	KindFailed  Kind = 10
)

func (Open) kind() Kind    { return KindOpen }
func (Welcome) kind() Kind { return KindWelcome }
func (Refuse) kind() Kind  { return KindRefuse }
func (Pages) kind() Kind   { return KindPages }
func (Round) kind() Kind   { return KindRound }
func (Got) kind() Kind     { return KindGot }
func (Taking) kind() Kind  { return KindTaking }
func (Final) kind() Kind   { return KindFinal }
func (Resumed) kind() Kind { return KindResumed }
func (Failed) kind() Kind  { return KindFailed }
