package task

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// Domains keep a voucher's signatures from meaning anything else.
const (
	stateDomain    = "godwit state 2\x00"
	madeDomain     = "godwit state 3\x00" // that says how it was made
	wayDomain      = "godwit state 4\x00" // and by which boundaries
	readsDomain    = "godwit state 5\x00" // of a task that reads others: on which of their files
	badStateDomain = "godwit bad state 1\x00"
)

// A State is what a worker says of a task's frozen state.
type State struct {
	Task TaskID
	CID  CID           // root of its blocks; "" of one that is handed over, and never stored
	Fuel uint64        // work done by then, in the task's units; 0 where Bad
	CPU  time.Duration // that it took, of all attempts; 0 where Bad
	// Bad says that the task cannot go on from it: the lease was to.
	Bad bool
	// Hash is the SHA-256 of the whole state, as a Boundary's; empty where Bad. Prior is the
	// digest of the Link that the worker's own run went on from; empty where it ran the task
	// from its beginning, and where Bad.
	Hash, Prior []byte
	// Engine and Pass say what ran the task, as a Trail does: of another worker's compiler nobody can tell who is
	// wrong. Empty and 0 where the worker does not say, and where Bad.
	Engine string
	Pass   uint32
	// Boundaries is how many the worker's own run came to until then, and Root is their TrailRoot, as a Trail
	// has them: whoever goes on from the state need not run again what lies before it, but for a part. 0 and
	// empty for none, and where Pass is 0.
	Boundaries uint32
	Root       []byte
	// Reads names the files of other tasks that the worker's run read, as Result.Reads does: from a state that was
	// made of other files nobody goes on. Empty where it read none or the job's results are not checked, and
	// where Bad.
	Reads []byte
}

// A Voucher is a worker's signed word about a state of a task that it had the lease of, with
// the lease's receipt. It goes with the state wherever that is told of: nobody goes on from
// a state that no worker vouches for, and none is called bad by who was not to go on from it.
type Voucher struct {
	Worker  PeerID  `cbor:"1,keyasint"`
	Receipt Receipt `cbor:"2,keyasint"`
	// Signature is the worker's over the receipt and what it says of the state.
	Signature []byte `cbor:"3,keyasint"`
	// Hash, Prior, Engine, Pass, Boundaries, Root and Reads are as State has them.
	Hash       []byte `cbor:"4,keyasint,omitempty"`
	Prior      []byte `cbor:"5,keyasint,omitempty"`
	Engine     string `cbor:"6,keyasint,omitempty"`
	Pass       uint32 `cbor:"7,keyasint,omitempty"`
	Boundaries uint32 `cbor:"8,keyasint,omitempty"`
	Root       []byte `cbor:"9,keyasint,omitempty"`
	Reads      []byte `cbor:"10,keyasint,omitempty"`
}

// Vouch signs a worker's word about a state. It refuses one that Verify would refuse.
func Vouch(key ed25519.PrivateKey, receipt *Receipt, s State) (*Voucher, error) {
	v := &Voucher{Worker: PeerIDOf(key.Public().(ed25519.PublicKey)), Receipt: *receipt,
		Hash: s.Hash, Prior: s.Prior, Engine: s.Engine, Pass: s.Pass, Boundaries: s.Boundaries, Root: s.Root,
		Reads: s.Reads}
	b, err := v.body(s)
	if err != nil {
		return nil, fmt.Errorf("vouching for a state: %w", err)
	}
	v.Signature = sign(key, v.domain(s), b)
	return v, nil
}

// Verify checks that Worker said that of a state, of which Hash, Prior and all below are the voucher's own, and
// that Receipt's leader gave it a lease of the task. Whether that peer may lead is for the caller
// to know.
func (v *Voucher) Verify(s State) error {
	key, err := v.Worker.PublicKey()
	if err != nil {
		return fmt.Errorf("verifying who vouches for a state: %w", err)
	}
	b, err := v.body(s)
	if err != nil {
		return fmt.Errorf("verifying who vouches for a state: %w", err)
	}
	if !verify(key, v.domain(s), b, v.Signature) {
		return fmt.Errorf("verifying that %s vouches for a state: %w", v.Worker, ErrSignature)
	}
	return v.Receipt.Verify(s.Task, v.Worker)
}

func (v *Voucher) domain(s State) string {
	switch {
	case s.Bad:
		return badStateDomain
	case len(v.Reads) > 0:
		return readsDomain
	case v.Boundaries > 0:
		return wayDomain
	case v.Pass > 0:
		return madeDomain
	}
	return stateDomain
}

// body is what the signature covers, of a state that can be one.
func (v *Voucher) body(s State) ([]byte, error) {
	switch {
	case s.CID != "" && !s.CID.Valid() || s.CPU < 0:
		return nil, errors.New("it is out of bounds")
	case s.Bad && (s.Fuel != 0 || s.CPU != 0 || s.CID == "" || v.Receipt.From != s.CID || len(v.Hash)+len(v.Prior) > 0 ||
		v.Pass > 0 || v.Boundaries > 0 || len(v.Root)+len(v.Reads) > 0):
		return nil, errors.New("it is called bad by who was not to go on from it")
	case !s.Bad && s.Fuel == 0:
		return nil, errors.New("it is of no work")
	case !s.Bad && (len(v.Hash) != sha256.Size || len(v.Prior) != 0 && len(v.Prior) != sha256.Size):
		return nil, fmt.Errorf("hashes of %d and %d bytes", len(v.Hash), len(v.Prior))
	case !engineNamed(v.Engine) || v.Pass == 0 && v.Engine != "":
		return nil, errors.New("it says of no version, or in no words, how it was made")
	case v.Boundaries > MaxBoundaries || (v.Boundaries > 0) != (len(v.Root) == sha256.Size) || len(v.Root) > sha256.Size ||
		v.Boundaries > 0 && v.Pass == 0:
		return nil, fmt.Errorf("%d boundaries with a root of %d bytes", v.Boundaries, len(v.Root))
	case len(v.Reads) != 0 && len(v.Reads) != len(FilesName{}):
		return nil, fmt.Errorf("what was read has a name of %d bytes, want %d", len(v.Reads), len(FilesName{}))
	}
	b, err := v.said(s)
	if err != nil || len(v.Reads) == 0 {
		return b, err
	}
	return append(b, v.Reads...), nil // of a length of its own, in a domain of its own
}

// said is what the signature covers but for what was read.
func (v *Voucher) said(s State) ([]byte, error) {
	type said struct {
		_       struct{} `cbor:",toarray"`
		Job     JobID
		Index   uint64
		CID     CID
		Fuel    uint64
		CPU     time.Duration
		Receipt Receipt
		Hash    []byte
		Prior   []byte
	}
	of := said{Job: s.Task.Job, Index: s.Task.Index, CID: s.CID, Fuel: s.Fuel, CPU: s.CPU, Receipt: v.Receipt,
		Hash: v.Hash, Prior: v.Prior}
	if v.Pass == 0 {
		return Encode(of)
	}
	type made struct {
		_      struct{} `cbor:",toarray"`
		Said   said
		Engine string
		Pass   uint32
	}
	how := made{Said: of, Engine: v.Engine, Pass: v.Pass}
	if v.Boundaries == 0 {
		return Encode(how)
	}
	return Encode(struct {
		_          struct{} `cbor:",toarray"`
		Made       made
		Boundaries uint32
		Root       []byte
	}{Made: how, Boundaries: v.Boundaries, Root: v.Root})
}

const (
	// fastestFuel is more fuel than any machine uses in a millisecond. A unit is about a
	// machine instruction: programs use 2 to 10 in a nanosecond, the filling of memory 20.
	fastestFuel = 64 * 1_000_000
	// clockSlack is how far the clocks of leaders may be apart, in milliseconds.
	clockSlack = 60_000
)

// Plausible reports whether a task can have done so much work by a time: all of it by the
// run of leases that the receipt's is the last of. Work of less than no time is not.
func (r *Receipt) Plausible(fuel uint64, now time.Time) bool {
	ms := now.UnixMilli() - r.Begun() + clockSlack
	return ms > 0 && fuel/fastestFuel <= uint64(ms)
}

// Begun is when the first lease was given of those that this one goes on with, by way of
// states or handed over, in Unix milliseconds.
func (r *Receipt) Begun() int64 {
	if r.Since > 0 {
		return min(r.Since, r.Issued)
	}
	return r.Issued
}
