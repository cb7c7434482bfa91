package task

import (
	"crypto/ed25519"
)

// heldDomain keeps the signature of a Held from meaning anything else.
const heldDomain = "godwit delivered 1\x00"

// Held is a submitter's word about which tasks of a job it holds the ends of. Of two the one
// of the later Delivery counts, of those the one of more tasks: a submitter that lost some
// begins another delivery.
type Held struct {
	Delivery uint64 `cbor:"1,keyasint"` // counts how often it lost some; 0 at first
	Count    uint64 `cbor:"2,keyasint"` // tasks held
	// Digest is the SHA-256 of the canonical CBOR of the set: a list of {1: from, 2: to}, which
	// cover the tasks from..to-1, sorted, neither empty nor touching.
	Digest [32]byte `cbor:"3,keyasint"`
	// Signature is the submitter's over all of this and the job.
	Signature []byte `cbor:"4,keyasint"`
}

// Sign sets Signature, with the key that signed the job's record.
func (h *Held) Sign(id JobID, key ed25519.PrivateKey) {
	h.Signature = sign(key, heldDomain, h.body(id))
}

// Verify reports whether pub's holder signed it, of that job.
func (h *Held) Verify(id JobID, pub ed25519.PublicKey) bool {
	return verify(pub, heldDomain, h.body(id), h.Signature)
}

// body is what the signature covers.
func (h *Held) body(id JobID) []byte {
	b, err := Encode(struct {
		_        struct{} `cbor:",toarray"`
		Job      JobID
		Delivery uint64
		Count    uint64
		Digest   [32]byte
	}{Job: id, Delivery: h.Delivery, Count: h.Count, Digest: h.Digest})
	if err != nil {
		panic("task: encoding a text, two numbers and a hash: " + err.Error())
	}
	return b
}
