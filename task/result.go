package task

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// An Output is one file that a task produced, or its standard output.
type Output struct {
	Name string `cbor:"1,keyasint" json:"name"` // "stdout", "stderr" or a path under the sandbox's root
	CID  CID    `cbor:"2,keyasint" json:"cid"`  // UnixFS, as `ipfs add --cid-version=1` gives
	Size int64  `cbor:"3,keyasint" json:"size"` // bytes, sealed if the job is
	// Inline is the content itself where it is at most MaxInline bytes; then
	// the CID is of these bytes and there is no block to fetch. An output of
	// no bytes has no Inline and no block either.
	Inline []byte `cbor:"4,keyasint,omitempty" json:"-"`
}

// MaxInline is the largest output, in bytes, that travels inside its result.
// Below about this size a block of its own costs more than it saves.
const MaxInline = 1024

// MaxOutputBytes bounds the bytes of all outputs of one result: what a task may write,
// files and streams together (package sandbox), sealed.
const MaxOutputBytes = MaxTaskFiles + MaxTaskOutput + 2*SealedSpare

// MaxOutputs bounds the outputs of one result, so that a result stays well
// below a frame: 1,024 of the longest names with all content inline are 1.7 MB.
const MaxOutputs = 1024

// MaxMessage bounds Result.Message, in bytes.
const MaxMessage = 512

// A Result is what a worker says about one ended attempt. The fields that
// replicas must agree on are Outcome, ExitCode and Outputs: see Digest.
type Result struct {
	Task    TaskID  `cbor:"1,keyasint" json:"task"`
	Worker  PeerID  `cbor:"2,keyasint" json:"worker"`
	Outcome Outcome `cbor:"3,keyasint" json:"outcome"`
	// 0 when Completed, not 0 when ExitFailure
	ExitCode uint32 `cbor:"4,keyasint" json:"exit_code"`
	// for people; Printable, at most MaxMessage bytes
	Message string `cbor:"5,keyasint,omitempty" json:"message,omitempty"`
	// sorted by name, each name once; at most MaxOutputs
	Outputs []Output      `cbor:"6,keyasint" most:"1024" json:"outputs"`
	CPU     time.Duration `cbor:"7,keyasint" json:"cpu_ns"`
	Wall    time.Duration `cbor:"8,keyasint" json:"wall_ns"`
	// Signature is the worker's Ed25519 signature over all other fields, or over the root of the tree in which
	// these are a leaf.
	Signature []byte `cbor:"9,keyasint" json:"-"`
	// Receipt shows that Worker had the lease of the task; nil where none was given.
	Receipt *Receipt `cbor:"10,keyasint,omitempty" json:"-"`
	// Trail says how the task came to its end; nil where that cannot be told: of a program that
	// cannot be frozen, and of a run that was ended from outside.
	Trail *Trail `cbor:"11,keyasint,omitempty" json:"trail,omitempty"`
	// Reads names the files of other tasks that the run read, as NameFiles does: whoever runs the task again can
	// tell whether that is on the same bytes. Empty where it read none, or the worker does not say; else 32 bytes.
	Reads []byte `cbor:"12,keyasint,omitempty" json:"-"`
	// Path are the nodes beside the way from this result's leaf to what was signed, the lowest first, of 24 bytes
	// each, at most 4; empty for a result that was signed alone. At is the leaf's place: see SignTogether.
	Path []byte `cbor:"13,keyasint,omitempty" json:"-"`
	At   uint64 `cbor:"14,keyasint,omitempty" json:"-"`
}

// Sign fills in Worker, where it is empty, and Signature. It refuses a result
// that Verify would refuse, and another node's.
func (r *Result) Sign(key ed25519.PrivateKey) error {
	return r.SignBy(PeerIDOf(key.Public().(ed25519.PublicKey)), func(b []byte) []byte { return ed25519.Sign(key, b) })
}

// SignBy is Sign by a function that signs what it is given as ed25519.Sign does with self's key.
func (r *Result) SignBy(self PeerID, sign func(message []byte) []byte) error {
	if err := r.Signable(self); err != nil {
		return err
	}
	body, err := r.body()
	if err != nil {
		return err
	}
	r.Signature = sign(signed(resultDomain, body))
	return nil
}

// Signable fills in Worker, where it is empty, takes off what it was signed with, and refuses what SignBy would
// refuse.
func (r *Result) Signable(self PeerID) error {
	if r.Worker == "" {
		r.Worker = self
	}
	if r.Worker != self {
		return fmt.Errorf("signing a result: it is %s's, the key is %s's", quote(string(r.Worker)), self)
	}
	r.Signature, r.Path, r.At = nil, nil, 0
	if err := r.validate(); err != nil {
		return fmt.Errorf("signing a result: %w", err)
	}
	return nil
}

// Verify checks every bound of a result that may be hostile, that inline
// content is what its CID says, and that Worker signed it. It cannot know
// whether the task exists, nor whether the outputs are right.
func (r *Result) Verify() error { return r.verify(nil) }

func (r *Result) verify(c *Checked) error {
	key, message, err := r.toCheck()
	if err != nil {
		return err
	}
	if !c.signed(key, message, r.Signature) {
		return fmt.Errorf("verifying a result of %s: %w", r.Worker, ErrSignature)
	}
	return r.verifyChain()
}

// ToCheck is Verify but for the signature itself: that is to be key's, of the message.
func (r *Result) ToCheck() (key ed25519.PublicKey, message []byte, err error) {
	if key, message, err = r.toCheck(); err == nil {
		err = r.verifyChain()
	}
	return key, message, err
}

func (r *Result) toCheck() (key ed25519.PublicKey, message []byte, err error) {
	if err := r.validate(); err != nil {
		return nil, nil, fmt.Errorf("verifying a result: %w", err)
	}
	if key, err = r.Worker.PublicKey(); err != nil {
		return nil, nil, fmt.Errorf("verifying a result: %w", err)
	}
	body, err := r.body()
	if err != nil {
		return nil, nil, err
	}
	if len(r.Path) == 0 {
		return key, signed(resultDomain, body), nil
	}
	return key, signed(togetherDomain, resultTree.root(resultTree.leaf(body), r.Path, r.At)), nil
}

func (r *Result) verifyChain() error {
	if r.Trail == nil {
		return nil
	}
	if err := VerifyChain(r.Task, r.Trail.Began); err != nil {
		return fmt.Errorf("verifying a result of %s: %w", r.Worker, err)
	}
	return nil
}

// body is what the signature covers.
func (r *Result) body() ([]byte, error) {
	unsigned := *r
	unsigned.Signature, unsigned.Path, unsigned.At = nil, nil, 0
	return Encode(&unsigned)
}

// validate checks all but the signature.
func (r *Result) validate() error {
	if _, err := ParseJobID(string(r.Task.Job)); err != nil {
		return err
	}
	switch {
	case r.Outcome == OutcomeUnknown || r.Outcome > HostError:
		return fmt.Errorf("outcome %d is none", r.Outcome)
	case r.Outcome == Completed && r.ExitCode != 0, r.Outcome == ExitFailure && r.ExitCode == 0:
		return fmt.Errorf("outcome %v with exit code %d", r.Outcome, r.ExitCode)
	case len(r.Message) > MaxMessage || !isPrintable(r.Message):
		return fmt.Errorf("message of %d bytes: want printable text of at most %d", len(r.Message), MaxMessage)
	case r.CPU < 0 || r.Wall < 0:
		return errors.New("a time is negative")
	case len(r.Reads) != 0 && len(r.Reads) != len(FilesName{}):
		return fmt.Errorf("what was read has a name of %d bytes, want %d", len(r.Reads), len(FilesName{}))
	case !resultTree.fits(r.Path, r.At):
		return errors.New("the way to what was signed is out of bounds")
	case len(r.Outputs) > MaxOutputs:
		return fmt.Errorf("%d outputs, the most is %d", len(r.Outputs), MaxOutputs)
	}
	if err := r.Trail.validate(); err != nil {
		return err
	}
	for i := range r.Outputs {
		if i > 0 && r.Outputs[i-1].Name >= r.Outputs[i].Name {
			return errors.New("outputs are not sorted by name, each name once")
		}
		if err := r.Outputs[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses an output that no result can have; it may be hostile.
func (o *Output) Check() error { return o.validate() }

func (o *Output) validate() error {
	if err := ValidSandboxPath(o.Name); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	n := len(o.Inline)
	switch {
	case o.Size < 0:
		return fmt.Errorf("output %s: negative size", quote(o.Name))
	case !o.CID.Valid():
		return fmt.Errorf("output %s: CID %s is not valid", quote(o.Name), quote(string(o.CID)))
	case n > MaxInline || n > 0 && int64(n) != o.Size:
		return fmt.Errorf("output %s: %d bytes inline, its size is %d", quote(o.Name), n, o.Size)
	case (n > 0 || o.Size == 0) && o.CID != RawCID(o.Inline):
		return fmt.Errorf("output %s: the content inline is not what the CID names", quote(o.Name))
	}
	return nil
}

// ClipMessage makes of s what Result.Message may hold: Printable, of at most MaxMessage
// bytes.
func ClipMessage(s string) string { return Printable(s, MaxMessage) }

// A Digest stands for what replicas of a task must agree on.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText gives JSON the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("task: a digest has %d characters, want %d", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Ending says in words for people how the run ended: its exit code or outcome, and its message.
func (r *Result) Ending() string {
	how := r.Outcome.String()
	if r.Outcome == ExitFailure {
		how = fmt.Sprintf("exit code %d", r.ExitCode)
	}
	switch {
	case r.Message == "":
		return how
	case strings.HasPrefix(r.Message, how): // as a sandbox's does
		return r.Message
	}
	return how + ": " + r.Message
}

// Digest returns the SHA2-256 of the result's Outcome, ExitCode and the names,
// CIDs and sizes of its Outputs. Who ran it, how long it took, what it says to
// people and whether content is inline do not matter, nor does the Trail: those of
// two versions of the pass differ.
func (r *Result) Digest() Digest {
	type output struct {
		_    struct{} `cbor:",toarray"`
		Name string
		CID  CID
		Size int64
	}
	agreed := struct {
		_        struct{} `cbor:",toarray"`
		Outcome  Outcome
		ExitCode uint32
		Outputs  []output
	}{Outcome: r.Outcome, ExitCode: r.ExitCode, Outputs: make([]output, len(r.Outputs))}
	for i, o := range r.Outputs {
		agreed.Outputs[i] = output{Name: o.Name, CID: o.CID, Size: o.Size}
	}
	b, err := Encode(agreed)
	if err != nil {
		panic("task: encoding a digest: " + err.Error()) // strings and numbers only
	}
	return sha256.Sum256(b)
}
