package task

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/ipfs/go-cid"
)

// A Record is a signed job: the canonical CBOR of a Job, the submitter's raw
// Ed25519 public key and its signature over the bytes. The record's own
// canonical CBOR, but for Key, is a block whose CID is the JobID.
type Record struct {
	Job       []byte `cbor:"1,keyasint"`
	PublicKey []byte `cbor:"2,keyasint"`
	Signature []byte `cbor:"3,keyasint"`
	// Key is that of a sealed job: see Job.Sealed. It goes with the record to those that keep
	// the job, and is in no block. Empty in a block, and for a job that is not sealed.
	Key []byte `cbor:"4,keyasint,omitempty"`
}

// MaxRecord bounds an encoded record, in bytes: the largest block that other
// IPFS software passes on.
const MaxRecord = 2 << 20

// What is signed begins with its kind, so that no signature can be shown as
// one of another kind.
const (
	jobDomain    = "godwit job 1\x00"
	cancelDomain = "godwit cancel 1\x00"
	resultDomain = "godwit result 1\x00"
)

// Errors that Record.Open and Result.Verify return, wrapped.
var (
	ErrSignature = errors.New("task: the signature does not match")
	ErrCanonical = errors.New("task: not in canonical form")
)

// SignJob validates a job and signs it. The job's Submitted is kept to the
// nanosecond, in UTC.
func SignJob(j *Job, key ed25519.PrivateKey) (Record, error) {
	if err := j.Validate(); err != nil {
		return Record{}, fmt.Errorf("signing a job: %w", err)
	}
	b, err := Encode(j)
	if err != nil {
		return Record{}, err
	}
	r := Record{
		Job:       b,
		PublicKey: bytes.Clone(key.Public().(ed25519.PublicKey)),
		Signature: sign(key, jobDomain, b),
	}
	if n := len(r.Encode()); n > MaxRecord {
		return Record{}, fmt.Errorf("signing a job: its record has %s, the most is %s", FormatSize(int64(n)),
			FormatSize(MaxRecord))
	}
	return r, nil
}

// DecodeRecord reads what Record.Encode wrote, at most MaxRecord bytes, and
// only in that form, so that ID is the CID of b. It checks the shape alone:
// see Open. The record shares no memory with b.
func DecodeRecord(b []byte) (Record, error) {
	r, err := DecodeWhole(b)
	if err == nil && len(r.Key) > 0 {
		return Record{}, fmt.Errorf("job record: a block with a key: %w", ErrCanonical)
	}
	return r, err
}

// DecodeWhole is DecodeRecord of what Record.Whole wrote: it may have the job's key.
func DecodeWhole(b []byte) (Record, error) {
	if len(b) > MaxRecord+keyRoom {
		return Record{}, fmt.Errorf("job record of %d bytes, the most is %d", len(b), MaxRecord)
	}
	var r Record
	if err := Decode(b, &r); err != nil {
		return Record{}, err
	}
	if len(r.PublicKey) != ed25519.PublicKeySize || len(r.Signature) != ed25519.SignatureSize ||
		len(r.Key) != 0 && len(r.Key) != KeySize {
		return Record{}, errors.New("job record: key or signature of a wrong length")
	}
	if !bytes.Equal(r.Whole(), b) {
		return Record{}, fmt.Errorf("job record: %w", ErrCanonical)
	}
	return r, nil
}

// keyRoom is what a key adds to an encoded record at most.
const keyRoom = KeySize + 8

// Encode returns the record's canonical CBOR without the key: the block that ID names.
func (r *Record) Encode() []byte {
	block := *r
	block.Key = nil
	return block.Whole()
}

// Whole returns the record's canonical CBOR, with the key of a sealed job: what those have
// who keep the job, and nobody else.
func (r *Record) Whole() []byte {
	b, err := Encode(r)
	if err != nil {
		panic("task: encoding byte strings: " + err.Error())
	}
	return b
}

// ID returns the record's name. It is computed anew at each call.
func (r *Record) ID() JobID { return JobID(sumCID(cid.DagCBOR, r.Encode())) }

// Submitter returns whose key the record carries, or "" if it carries none.
// Only Open says whether that key signed it.
func (r *Record) Submitter() PeerID {
	if len(r.PublicKey) != ed25519.PublicKeySize {
		return ""
	}
	return PeerIDOf(r.PublicKey)
}

// Open checks the signature, decodes the job and validates every bound of it, but does not
// look at the key: see OpenWhole.
// A record that opens holds a job that every node reads alike.
func (r *Record) Open() (*Job, error) { return r.open(false) }

// open is Open. signed says that the signature is known to be right.
func (r *Record) open(signed bool) (*Job, error) {
	if len(r.Job) > MaxRecord {
		return nil, fmt.Errorf("opening a job record: %d bytes, the most is %d", len(r.Job), MaxRecord)
	}
	if !signed && !verify(r.PublicKey, jobDomain, r.Job, r.Signature) {
		return nil, fmt.Errorf("opening a job record: %w", ErrSignature)
	}
	j := new(Job)
	if err := Decode(r.Job, j); err != nil {
		return nil, fmt.Errorf("opening a job record: %w", err)
	}
	if b, err := Encode(j); err != nil || !bytes.Equal(b, r.Job) {
		return nil, fmt.Errorf("opening a job record: %w", ErrCanonical)
	}
	if err := j.Validate(); err != nil {
		return nil, fmt.Errorf("opening a job record: %w", err)
	}
	return j, nil
}

// OpenWhole is Open of a record as those have it who keep the job: the error is ErrKey for a
// sealed job without its key.
func (r *Record) OpenWhole() (*Job, error) { return r.openKeyed(false) }

// openKeyed is OpenWhole. signed says that the signature is known to be right.
func (r *Record) openKeyed(signed bool) (*Job, error) {
	j, err := r.open(signed)
	if err != nil {
		return nil, err
	}
	if err := j.CheckKey(r.Key); err != nil {
		return nil, fmt.Errorf("opening a job record: %w", err)
	}
	return j, nil
}

// SignCancel signs the wish to end a job, with the key that signed its record.
func SignCancel(id JobID, key ed25519.PrivateKey) []byte {
	return sign(key, cancelDomain, []byte(id))
}

// VerifyCancel reports whether sig is the wish of pub's holder to end the job.
func VerifyCancel(id JobID, pub ed25519.PublicKey, sig []byte) bool {
	return verify(pub, cancelDomain, []byte(id), sig)
}

// sign makes a signature of the given kind.
func sign(key ed25519.PrivateKey, domain string, b []byte) []byte {
	return ed25519.Sign(key, signed(domain, b))
}

// signed is the message that a signature of the given kind covers.
func signed(domain string, b []byte) []byte {
	return append([]byte(domain), b...)
}

// verify is ed25519.Verify for keys and signatures of any length.
func verify(pub []byte, domain string, b, sig []byte) bool {
	return len(pub) == ed25519.PublicKeySize && ed25519.Verify(pub, signed(domain, b), sig)
}
