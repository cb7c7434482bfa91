package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"godwit/sandbox/wall"
	"godwit/task"
)

// Parent and child speak in frames over the child's standard input and output:
//
//	4 bytes   length of the header, little endian, at most maxHeader
//	8 bytes   length of the body, little endian, at most what the reader allows
//	header    JSON, but for those of each task: see packed
//	body      bytes that the header describes
//
// The parent sends any number of put frames and then one run frame; the child
// answers a run with any number of events, of which the last is its end. While
// the task runs the parent may send orders, and answers each wish for blocks.
// A header may gain fields: unknown ones are passed over, and both ends are
// the same program anyway.

// maxHeader bounds a header: the arguments, environment and file names of a
// task, or the names of its outputs.
const maxHeader = 8 << 20

// A request is a header from the parent. Exactly one field is set.
type request struct {
	Setup *setup    `json:"setup,omitempty"` // first frame of all
	Put   *put      `json:"put,omitempty"`   // the body is content to keep under a key
	Drop  *drop     `json:"drop,omitempty"`  // forget contents
	Check *checkReq `json:"check,omitempty"` // validate the module under checkKey
	Run   *runReq   `json:"run,omitempty"`   // the body is the manifest to go on from, or empty
	Order *order    `json:"order,omitempty"` // about the task that runs
	// Place are pages for a task whose state comes in stages; Stage ends a stage,
	// and the body is its manifest.
	Place *placeReq `json:"place,omitempty"`
	Stage *stageReq `json:"stage,omitempty"`
	// Blocks are the sizes of the blocks wished for, in that order; the body is
	// their contents.
	Blocks []int `json:"blocks,omitempty"`
}

// An order is for the task that runs. One that comes after its end is void.
type order struct {
	Freeze     bool `json:"freeze,omitempty"`
	Checkpoint bool `json:"checkpoint,omitempty"`
	Save       bool `json:"save,omitempty"` // as Checkpoint, and one more if one is on its way
	// Share is the share of the time that the task runs from now on; 0 changes nothing.
	Share float64 `json:"share,omitempty"`
	// Enough says that no more states at boundaries are wanted.
	Enough bool `json:"enough,omitempty"`
}

// A placeReq says what is in its body: for each block its hash, then the block.
// Those of pages come first.
type placeReq struct {
	Pages []uint32 `json:"pages"` // numbers
	Sizes []int    `json:"sizes"` // of all blocks; those beyond Pages are of files
}

type stageReq struct {
	Last bool `json:"last,omitempty"`
}

type setup struct {
	Interpret bool          `json:"interpret,omitempty"` // modules are not compiled
	LoadFor   time.Duration `json:"load_for_ns"`         // of processor time, that a module may take to compile
}

type put struct {
	Key string `json:"key"`
	// Lent is the size of a file that is lent instead of sent; 0 for content in the body.
	Lent int64 `json:"lent,omitempty"`
}

type drop struct {
	Keys []string `json:"keys"`
}

type runReq struct {
	// Ready has the module made ready, and nothing run.
	Ready     bool `json:"ready,omitempty"`
	Compilers int  `json:"compilers,omitempty"` // goroutines that compile the module

	Name    string        `json:"name"`
	Module  string        `json:"module"` // key
	Sum     []byte        `json:"sum"`    // SHA-256 of the module, where it comes with this run
	Args    []string      `json:"args"`
	Env     []task.EnvVar `json:"env"`
	Files   []fileReq     `json:"files"`
	Stdin   string        `json:"stdin"` // key; "" for none
	Outputs []string      `json:"outputs"`
	Limits  Limits        `json:"limits"`

	Off       bool   `json:"off,omitempty"`
	Saves     bool   `json:"saves,omitempty"` // checkpoints may be made
	FreezeAt  uint64 `json:"freeze_at,omitempty"`
	Staged    bool   `json:"staged,omitempty"` // the state to go on from comes in stages
	ThawEvery uint64 `json:"thaw_every,omitempty"`
	Spacing   uint64 `json:"spacing,omitempty"` // of boundaries, at first; 0 for none
	Meets     bool   `json:"meets,omitempty"`   // checkpoints that are not wanted at once are made at boundaries
	Hash      bool   `json:"hash,omitempty"`
	Keeps     bool   `json:"keeps,omitempty"`  // the states at boundaries are wanted
	Unkept    bool   `json:"unkept,omitempty"` // of the state to stop with the manifest alone is
	Tell      bool   `json:"tell,omitempty"`   // when the guest begins
	// FuelEvery is how often to tell the fuel used; 0 never.
	FuelEvery time.Duration `json:"fuel_every,omitempty"`
}

// An event is a header from the child. Exactly one field is set.
type event struct {
	// Blocks are the sizes of blocks of a checkpoint; the body has for each its
	// hash, then its content.
	Blocks []int `json:"blocks,omitempty"`
	// Want is how many blocks are wished for; the body is their hashes.
	Want  int       `json:"want,omitempty"`
	Saved *saved    `json:"saved,omitempty"` // the body is a manifest
	Not   *notSaved `json:"not,omitempty"`
	Began bool      `json:"began,omitempty"` // the guest runs from here on
	// Standby says that the child waits for stages, Staged that one is done.
	Standby bool   `json:"standby,omitempty"`
	Staged  bool   `json:"staged,omitempty"`
	Fuel    uint64 `json:"fuel,omitempty"` // used so far, more than told before
	// Boundary is one that the task has passed; the body is the hash of its state there, or with
	// Kept the manifest, all of whose blocks have been sent.
	Boundary *boundary `json:"boundary,omitempty"`
	// Made is which entry of the module the body is the next piece of; Loaded says that the module is compiled, and
	// that its entries are complete. Both come before the first guest runs.
	Made   part `json:"made,omitempty"`
	Loaded bool `json:"loaded,omitempty"`
	// Wall is what keeps this process in: it comes first of all.
	Wall *wall.State `json:"wall,omitempty"`
	// Checked answers a check.
	Checked *checked  `json:"checked,omitempty"`
	End     *response `json:"end,omitempty"` // the body is the outputs
}

// notSaved is a checkpoint that could not be made.
type notSaved struct {
	Why    string `json:"why"`
	Freeze bool   `json:"freeze,omitempty"` // the guest was to be frozen, and goes on
}

// boundary is a state on a task's way.
type boundary struct {
	Fuel  uint64        `json:"fuel"`
	Kept  bool          `json:"kept,omitempty"`
	Pause time.Duration `json:"pause_ns"`
}

// saved is a checkpoint all of whose blocks have been sent.
type saved struct {
	Frozen bool          `json:"frozen,omitempty"` // the last, of a task that stops there
	Pause  time.Duration `json:"pause_ns"`
	CPU    time.Duration `json:"cpu_ns"` // that the task has used here, preparation included
}

// The most that goes into one event or request about blocks, so that neither
// end holds much.
const (
	maxBatch      = 64
	maxBatchBytes = 1 << 20
)

type fileReq struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// A response is the child's header; the body is the outputs, one after the
// other.
type response struct {
	Outcome    task.Outcome  `json:"outcome"`
	ExitCode   uint32        `json:"exit_code"`
	Message    string        `json:"message"`
	Outputs    []outputSize  `json:"outputs"`
	CPU        time.Duration `json:"cpu_ns"`
	PeakMemory int64         `json:"peak_memory"`

	Fuel    uint64        `json:"fuel,omitempty"`
	Hash    []byte        `json:"hash,omitempty"`
	Restore time.Duration `json:"restore_ns,omitempty"`
	// Refused is why the checkpoint to go on from was refused, or with TooDeep
	// why the task cannot go on here.
	Refused string `json:"refused,omitempty"`
	TooDeep bool   `json:"too_deep,omitempty"`
}

type outputSize struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// writeFrame sends one frame. Body parts are sent one after the other.
func writeFrame(w io.Writer, header any, body ...[]byte) error {
	n := 0
	for _, b := range body {
		n += len(b)
	}
	head, err := frameHead(header, int64(n))
	if err != nil {
		return err
	}
	if n <= smallBody { // one write, one wake-up of the reader
		for _, b := range body {
			head = append(head, b...)
		}
		body = nil
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, b := range body {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// frameHead is a frame without its body, with room for a small one.
func frameHead(header any, body int64) ([]byte, error) {
	h := packed(header)
	if h == nil {
		var err error
		if h, err = json.Marshal(header); err != nil {
			return nil, fmt.Errorf("encoding a frame: %w", err)
		}
	}
	if len(h) > maxHeader {
		return nil, fmt.Errorf("frame header of %d bytes is over the limit of %d", len(h), maxHeader)
	}
	head := make([]byte, 12, 12+int64(len(h))+min(body, smallBody))
	binary.LittleEndian.PutUint32(head, uint32(len(h)))
	binary.LittleEndian.PutUint64(head[4:], uint64(body))
	return append(head, h...), nil
}

// smallBody is how large a body is copied to travel with its header.
const smallBody = 16 << 10

// readFrame reads a header into v and returns the body, which may have at
// most maxBody bytes. Memory grows with what arrives, not with what is
// announced.
func readFrame(r *bufio.Reader, v any, maxBody int64) ([]byte, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	hn, bn := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint64(head[4:])
	if hn > maxHeader {
		return nil, fmt.Errorf("frame header of %d bytes is over the limit of %d", hn, maxHeader)
	}
	if bn > uint64(maxBody) {
		return nil, fmt.Errorf("frame body of %d bytes is over the limit of %d", bn, maxBody)
	}
	h, err := readN(r, int64(hn))
	if err != nil {
		return nil, fmt.Errorf("reading a frame header: %w", err)
	}
	is, err := unpack(h, v)
	if !is && err == nil {
		err = json.Unmarshal(h, v)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding a frame header: %w", err)
	}
	body, err := readN(r, int64(bn))
	if err != nil {
		return nil, fmt.Errorf("reading a frame body: %w", err)
	}
	return body, nil
}

// trusted is how much is allocated on the word of a frame alone.
const trusted = 1 << 20

func readN(r io.Reader, n int64) ([]byte, error) {
	b := make([]byte, 0, min(n, trusted))
	for int64(len(b)) < n {
		if len(b) == cap(b) {
			bigger := make([]byte, len(b), min(n, 2*int64(cap(b))))
			copy(bigger, b)
			b = bigger
		}
		k, err := io.ReadFull(r, b[len(b):cap(b)])
		b = b[:len(b)+k]
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
	}
	return b, nil
}
